"""Index expressions as people write them: `sum over i < n of g[i]*x[i]`."""

from __future__ import annotations

from shaped.spec.dims import Dim
from shaped.spec.expr import (
    Add,
    Apply,
    Both,
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
    Node,
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
    power,
)

_SUM, _PRODUCT, _POWER, _ATOM = range(4)  # how tightly a text holds together
_WORDS = {Sum: "sum", Product: "product", Greatest: "max"}


def show(node: Node) -> str:
    """The expression as text."""
    return _text(node)[0]


def _within(node: Node, level: int) -> str:
    """The text of a part, in parentheses where it holds together less tightly than `level`."""
    text, own = _text(node)
    return text if own >= level else f"({text})"


def _text(node: Node) -> tuple[str, int]:
    match node:
        case Constant(value):
            return str(value), _ATOM if value.denominator == 1 and value >= 0 else _PRODUCT if value >= 0 else _SUM
        case Pi():
            return "pi", _ATOM
        case Infinity():
            return "inf", _ATOM
        case Truth(value):
            return str(value).lower(), _ATOM
        case Whole(dim):
            return str(dim), _SUM if len(dim.terms) > 1 else _ATOM if dim.symbol is not None else _PRODUCT
        case Entry(variable, at) | Flag(variable, at):
            return f"{variable.name}[{', '.join(map(str, at))}]" if at else variable.name, _ATOM
        case Add(terms):
            text = _within(terms[0], _SUM)
            for term in terms[1:]:
                each = _within(term, _SUM)
                text += f" - {each[1:]}" if each.startswith("-") else f" + {each}"
            return text, _SUM
        case Multiply(factors):
            if isinstance(factors[0], Constant) and factors[0].value == -1:
                return f"-{_quotient(factors[1:])}", _SUM
            return _quotient(factors), _PRODUCT
        case Power(base, exponent):
            if exponent < 0:
                return _quotient((node,)), _PRODUCT
            return f"{_within(base, _ATOM)}^{exponent if exponent.denominator == 1 else f'({exponent})'}", _POWER
        case Apply(function, argument):
            return f"{function}({show(argument)})", _ATOM
        case Sum(index, body) | Product(index, body) | Greatest(index, body):
            return f"({_WORDS[type(node)]} over {index} < {_size(index.size)} of {_within(body, _PRODUCT)})", _ATOM
        case Where(condition, then, otherwise):
            if isinstance(then, Constant) and then.value == 1 and otherwise is Constant(then.value - 1):
                return f"[{show(condition)}]", _ATOM
            return f"({show(then)} if {show(condition)} else {show(otherwise)})", _ATOM
        case Positive(argument):
            return f"{show(argument)} > 0", _SUM
        case Zero(argument):
            return f"{show(argument)} = 0", _SUM
        case IndexNonnegative(dim):
            return f"{dim} >= 0", _SUM
        case IndexZero(dim):
            return f"{dim} = 0", _SUM
        case Not(condition):
            return f"not ({show(condition)})", _PRODUCT
        case Both(left, right):
            return f"{show(left)} and {show(right)}", _SUM
        case Exists(index, condition):
            return f"some {index} < {_size(index.size)} has {show(condition)}", _SUM
    raise TypeError(f"{type(node).__name__} is no index expression")


def _quotient(factors: tuple[Expr, ...]) -> str:
    """A product as text, negative powers below the stroke."""
    above = [each for each in factors if not (isinstance(each, Power) and each.exponent < 0)]
    below = [power(each.base, -each.exponent) for each in factors if isinstance(each, Power) and each.exponent < 0]
    text = "*".join(_within(factor, _POWER) for factor in above) or "1"
    return text + "".join(f"/{_within(factor, _POWER)}" for factor in below)


def _size(size: Dim) -> str:
    return str(size) if len(size.terms) < 2 else f"({size})"
