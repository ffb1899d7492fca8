"""The canonical form of an index expression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.canonical import extrema, functions, index_conditions, indicators, powers, prefix_products, sums
from shaped.spec.canonical.assumptions import Undecided, Undefined
from shaped.spec.canonical.atoms import InfinityAtom, PiAtom
from shaped.spec.canonical.number_signs import NONNEGATIVE, Signs
from shaped.spec.canonical.polynomials import Context, Polynomial, total_of
from shaped.spec.canonical.products import product_of
from shaped.spec.canonical.ranges import greatest_size, is_index_free
from shaped.spec.canonical.substitution import entry, number, renamed
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
    Infinity,
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
from shaped.spec.index import Index, fresh_index

if TYPE_CHECKING:
    from fractions import Fraction

    from shaped.spec.dims import Dim


def read(context: Context, node: Expr) -> Polynomial:
    """The canonical form of an expression.

    Raises:
        Undefined: the expression has no value for any input.
        Undecided: a construct is not followed.
    """
    form = context.read.get(node)
    if form is None:
        form = context.read[node] = _read(context, node)
    return form


def read_condition(context: Context, node: Condition) -> Polynomial:
    """The condition as a form of value 1 where it holds and 0 elsewhere."""
    form = context.read.get(node)
    if form is None:
        form = context.read[node] = _read_condition(context, node)
    return form


def _read(context: Context, node: Expr) -> Polynomial:
    match node:
        case Constant(value):
            return context.constant(value)
        case Pi():
            return context.power_of(context.atom(PiAtom))
        case Infinity():
            return context.power_of(context.atom(InfinityAtom))
        case Whole(dim):
            return number(context, dim)
        case Entry(variable, at):
            if context.expands_definitions and variable.definition is not None:
                indices, body = variable.definition
                return renamed(read(context, body), dict(zip(indices, at, strict=True)))
            return entry(context, variable, at)
        case Add(terms):
            if sum(map(is_infinite, terms)) > 1:
                raise Undecided("a sum of several infinite terms")
            return total_of(context, (read(context, term) for term in terms))
        case Multiply(factors):
            if any(map(is_infinite, factors)) and not _scales_infinity(factors):
                raise Undecided("a product with infinity")
            return product_of(context, (read(context, factor) for factor in factors))
        case Power(base, exponent):
            if is_infinite(base):
                raise Undecided("a power of infinity")
            return _power(context, base, exponent)
        case Apply(function, argument):
            if function != "exp" and is_infinite(argument):
                raise Undecided(f"{function} of infinity")
            return functions.apply(function, read(context, argument))
        case Sum(index, body):
            if is_infinite(body):
                raise Undecided("a sum of infinite terms")
            place, guard = _place(context, index)
            form = _body(context, body, index, place)
            return sums.sum_over((place,), form if guard is None else guard * form)
        case Product(index, body):
            if is_infinite(body):
                raise Undecided("a product of infinite factors")
            place, guard = _place(context, index)
            form = _body(context, body, index, place)
            return prefix_products.product_over(place, form if guard is None else guard * form + 1 - guard)
        case Greatest(index, body):
            if not is_index_free(index.size):
                raise Undecided("the greatest value over a range that depends on an index")
            return extrema.greatest(index, read(context, body))
        case Where(condition, then, otherwise):
            holds = read_condition(context, condition)
            return holds * _branch(context, then) + (1 - holds) * _branch(context, otherwise)
    raise Undecided(f"{type(node).__name__} is not followed")


def _power(context: Context, base: Expr, exponent: Fraction) -> Polynomial:
    """A power; one of a power is a single power, before the inner one is expanded: (u^2)^(1/2) is |u|."""
    if isinstance(base, Power):
        inner, first = base.base, base.exponent
        is_plain = exponent.denominator == 1 or first.denominator != 1 or first.numerator % 2 == 1
        if is_plain or NONNEGATIVE in Signs(context).of(inner):
            return _power(context, inner, first * exponent)
        return powers.power(functions.absolute(read(context, inner)), first * exponent)
    return powers.power(read(context, base), exponent)


def _branch(context: Context, node: Expr) -> Polynomial:
    """A branch of a case distinction; one that is never defined must not be taken, and counts 0."""
    try:
        return read(context, node)
    except Undefined:
        return context.constant(0)


def _read_condition(context: Context, node: Condition) -> Polynomial:
    match node:
        case Truth(value):
            return context.constant(int(value))
        case Flag(variable, at):
            return index_conditions.flag(context, variable, at)
        case Positive(argument):
            _check_compared(argument)
            return indicators.positive(read(context, argument))
        case Zero(argument):
            _check_compared(argument)
            return indicators.zero(read(context, argument))
        case IndexNonnegative(dim):
            return index_conditions.index_nonnegative(context, dim)
        case IndexZero(dim):
            return index_conditions.index_zero(context, dim)
        case Not(condition):
            return 1 - read_condition(context, condition)
        case Both(left, right):
            return read_condition(context, left) * read_condition(context, right)
        case Exists(index, condition):
            place, guard = _place(context, index)
            form = read_condition(context, condition)
            if place != index:
                form = renamed(form, {index: place.dim})
            return indicators.positive(sums.sum_over((place,), form if guard is None else guard * form))
    raise Undecided(f"{type(node).__name__} is not followed")


def _check_compared(argument: Expr) -> None:
    """Infinity may be compared alone, not in a sum with what is not read as finite.

    Raises:
        Undecided: the sign of an infinite expression is asked for.
    """
    if is_infinite(argument):
        raise Undecided("a comparison with infinity")


def _place(context: Context, index: Index) -> tuple[Index, Polynomial | None]:
    """An index whose range depends on no other, and the condition that it is in the range meant."""
    if is_index_free(index.size):
        return index, None
    size: Dim | None = greatest_size(index.size)
    if size is None:
        raise Undecided(f"a range up to {index.size}")
    place = fresh_index(size, index.name)
    return place, index_conditions.index_nonnegative(context, index.size - 1 - place.dim)


def _body(context: Context, body: Expr, index: Index, place: Index) -> Polynomial:
    form = read(context, body)
    return form if place == index else renamed(form, {index: place.dim})


def is_infinite(node: Expr) -> bool:
    """Whether infinity may be a value: it stands in the expression, not under exp or max."""
    match node:
        case Infinity():
            return True
        case Add(terms) | Multiply(terms):
            return any(map(is_infinite, terms))
        case Where(_, then, otherwise):
            return is_infinite(then) or is_infinite(otherwise)
        case Apply(function, argument):
            return function != "exp" and is_infinite(argument)
        case Power(base, _):
            return is_infinite(base)
        case Sum(_, body) | Product(_, body):
            return is_infinite(body)
    return False


def _scales_infinity(factors: tuple[Expr, ...]) -> bool:
    """Whether all factors but one are constants other than 0."""
    constants = [factor for factor in factors if isinstance(factor, Constant) and factor.value]
    return len(constants) == len(factors) - 1
