"""What an index expression is at small sizes, entry by entry, with its slope along one input: no algebra at all.

Numbers are exact fractions as long as they can be, then decimals of 60 digits, of which two count as equal when they
agree to 40: a random identity of small expressions does not hold so far by chance.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from shaped.spec.dims import Dim, Symbol
from shaped.spec.expr import (
    Add,
    Apply,
    Both,
    Condition,
    Constant,
    Entry,
    Exists,
    Expr,
    Flag,
    Greatest,
    IndexNonnegative,
    IndexZero,
    Multiply,
    Not,
    Pi,
    Positive,
    Power,
    Product,
    Sum,
    Truth,
    Where,
    Whole,
    Zero,
)
from shaped.spec.index import Lookup

Number = Fraction | Decimal
CONTEXT = decimal.Context(prec=60, Emin=-(10**6), Emax=10**6)
CLOSE = Decimal(10) ** -40


class OutsideDomain(ArithmeticError):
    """The expression has no value at this point."""


def _decimal(value: Number) -> Decimal:
    if isinstance(value, Decimal):
        return value
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _combined(name: str, left: Number, right: Number) -> Number:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left + right if name == "add" else left * right
    if (isinstance(left, Fraction) and left == 0) or (isinstance(right, Fraction) and right == 0):
        return (right if left == 0 else left) if name == "add" else Fraction(0)
    result: Decimal = getattr(CONTEXT, name)(_decimal(left), _decimal(right))
    return result


def is_zero(value: Number) -> bool:
    return value == 0 if isinstance(value, Fraction) else abs(value) < CLOSE


def agree(left: Number, right: Number) -> bool:
    difference = _combined("add", left, _combined("multiply", Fraction(-1), right))
    return is_zero(difference) or abs(_decimal(difference)) < CLOSE * max(abs(_decimal(left)), abs(_decimal(right)))


def is_positive(value: Number) -> bool:
    return value > 0 and not is_zero(value)


def _exp(value: Number) -> Number:
    if value == 0:
        return Fraction(1)
    if abs(value) > 1000:
        raise OutsideDomain("too large to be worth the time")
    return CONTEXT.exp(_decimal(value))


def _log(value: Number) -> Number:
    if not is_positive(value):
        raise OutsideDomain("log")
    return Fraction(0) if value == 1 else CONTEXT.ln(_decimal(value))


def _power(value: Number, exponent: Fraction) -> Number:
    if exponent == 0:
        return Fraction(1)
    if exponent.denominator == 1:
        if exponent < 0 and is_zero(value):
            raise OutsideDomain("1/0")
        if isinstance(value, Fraction):
            return value**exponent.numerator
        return CONTEXT.power(value, exponent.numerator)
    if is_zero(value):
        if exponent < 0:
            raise OutsideDomain("1/0")
        return Fraction(0)
    if not is_positive(value):
        raise OutsideDomain("a root of a negative number")
    if value == 1:
        return Fraction(1)
    return CONTEXT.power(_decimal(value), _decimal(exponent))


@dataclass(frozen=True)
class Dual:
    """A value and its slope."""

    value: Number
    slope: Number = Fraction(0)

    def __add__(self, other: Dual) -> Dual:
        return Dual(_combined("add", self.value, other.value), _combined("add", self.slope, other.slope))

    def __mul__(self, other: Dual) -> Dual:
        left = _combined("multiply", self.slope, other.value)
        right = _combined("multiply", self.value, other.slope)
        return Dual(_combined("multiply", self.value, other.value), _combined("add", left, right))

    def through(self, value: Number, slope: Callable[[], Number]) -> Dual:
        """The function with this value here, and this slope."""
        return Dual(value, Fraction(0) if is_zero(self.slope) else _combined("multiply", self.slope, slope()))


ONE = Dual(Fraction(1))


@dataclass(frozen=True)
class Point:
    """Values for all that an expression may ask for.

    Args:
        symbols: sizes and indices.
        entries: the entry of a tensor, by the tensor's name and the place; one that does not exist is a KeyError.
    """

    symbols: Mapping[Symbol, int]
    entries: Mapping[tuple[str, tuple[int, ...]], Dual]

    def at(self, index: Symbol, place: int) -> Point:
        return Point({**self.symbols, index: place}, self.entries)

    def place(self, dim: Dim) -> int:
        symbols = dict(self.symbols)
        for symbol in dim.symbols():
            if isinstance(symbol, Lookup):
                key = (symbol.name, tuple(self.place(each) for each in symbol.at))
                symbols[symbol] = int(self.entries[key].value)
        return dim.evaluate(symbols)

    def entry(self, name: str, at: tuple[Dim, ...]) -> Dual:
        return self.entries[name, tuple(self.place(dim) for dim in at)]


def evaluate(node: Expr, point: Point) -> Dual:
    """The value of an expression at a point.

    Raises:
        OutsideDomain: it has none.
    """
    match node:
        case Constant(value):
            return Dual(value)
        case Pi():
            return Dual(Decimal("3.14159265358979323846264338327950288419716939937510582097494459"))
        case Whole(dim):
            return Dual(Fraction(point.place(dim)))
        case Entry(variable, at):
            return point.entry(variable.name, at)
        case Add(terms):
            result = Dual(Fraction(0))
            for term in terms:
                result = result + evaluate(term, point)
            return result
        case Multiply(factors):
            result = ONE
            for factor in factors:
                result = result * evaluate(factor, point)
            return result
        case Power(base, exponent):
            inner = evaluate(base, point)
            return inner.through(
                _power(inner.value, exponent),
                lambda: _combined("multiply", exponent, _power(inner.value, exponent - 1)),
            )
        case Apply(function, argument):
            return _apply(function, evaluate(argument, point))
        case Sum(index, body):
            result = Dual(Fraction(0))
            for place in range(point.place(index.size)):
                result = result + evaluate(body, point.at(index, place))
            return result
        case Product(index, body):
            result = ONE
            for place in range(point.place(index.size)):
                result = result * evaluate(body, point.at(index, place))
            return result
        case Greatest(index, body):
            return _greatest([evaluate(body, point.at(index, place)) for place in range(point.place(index.size))])
        case Where(condition, then, otherwise):
            return evaluate(then if holds(condition, point) else otherwise, point)
    raise NotImplementedError(type(node).__name__)


def _greatest(values: list[Dual]) -> Dual:
    best = max((each.value for each in values), key=_decimal)
    ties = [each for each in values if agree(each.value, best)]
    slope: Number = Fraction(0)
    for each in ties:
        slope = _combined("add", slope, each.slope)
    return Dual(best, _combined("multiply", slope, Fraction(1, len(ties))))


def _apply(function: str, argument: Dual) -> Dual:
    value = argument.value
    sign = Fraction(0 if is_zero(value) else 1 if value > 0 else -1)
    match function:
        case "exp":
            return argument.through(_exp(value), lambda: _exp(value))
        case "log":
            return argument.through(_log(value), lambda: _power(value, Fraction(-1)))
        case "abs":
            if is_zero(value) and not is_zero(argument.slope):
                raise OutsideDomain("a kink")
            return argument.through(_combined("multiply", value, sign), lambda: sign)
        case "sign":
            return Dual(sign)
        case "sigmoid":
            minus = argument * Dual(Fraction(-1))
            return _inverse(ONE + _apply("exp", minus))
        case "tanh":
            double = _apply("exp", argument * Dual(Fraction(2)))
            return ONE + Dual(Fraction(-2)) * _inverse(double + ONE)
    raise NotImplementedError(function)


def _inverse(value: Dual) -> Dual:
    inverse = _power(value.value, Fraction(-1))
    return value.through(inverse, lambda: _combined("multiply", Fraction(-1), _combined("multiply", inverse, inverse)))


def holds(node: Condition, point: Point) -> bool:
    """Whether a condition holds at a point."""
    match node:
        case Truth(value):
            return value
        case Flag(variable, at):
            return not is_zero(point.entry(variable.name, at).value)
        case Positive(argument) | Zero(argument):
            number = evaluate(argument, point)
            if is_zero(number.value) and not is_zero(number.slope):
                raise OutsideDomain("the condition changes here")
            return is_positive(number.value) if isinstance(node, Positive) else is_zero(number.value)
        case IndexNonnegative(dim):
            return point.place(dim) >= 0
        case IndexZero(dim):
            return point.place(dim) == 0
        case Not(condition):
            return not holds(condition, point)
        case Both(left, right):
            return holds(left, point) and holds(right, point)
        case Exists(index, condition):
            return any(holds(condition, point.at(index, place)) for place in range(point.place(index.size)))
    raise NotImplementedError(type(node).__name__)
