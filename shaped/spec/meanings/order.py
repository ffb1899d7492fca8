"""Comparing entries: conditions on numbers, on index expressions, and on the infinities that masks fill in."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from shaped.spec.expr import (
    FALSE,
    INFINITY,
    TRUE,
    ZERO,
    Add,
    Apply,
    Condition,
    Constant,
    Exists,
    Expr,
    Greatest,
    Multiply,
    Node,
    Where,
    both,
    index_nonnegative,
    index_zero,
    negation,
    positive,
    zero,
)
from shaped.spec.meanings.kinds import dim_of
from shaped.spec.tensor import NotExpressible

if TYPE_CHECKING:
    from collections.abc import Callable

_LEAST = -INFINITY


def is_greater(x: Expr, y: Expr) -> Condition:
    """x > y."""
    chosen = _by_branch(is_greater, x, y)
    if chosen is not None:
        return chosen
    left, right = dim_of(x), dim_of(y)
    if left is not None and right is not None:
        return index_nonnegative(left - right - 1)
    if y in (INFINITY, _LEAST):
        return FALSE if y is INFINITY else negation(is_infinite(x, -1))
    if x in (INFINITY, _LEAST):
        return negation(is_infinite(y, 1)) if x is INFINITY else FALSE
    if holds_infinity(x) or holds_infinity(y):
        above = is_infinite(x, 1) & ~is_infinite(y, 1) | ~is_infinite(x, -1) & is_infinite(y, -1)
        return above | both(_is_finite(x) & _is_finite(y), positive(x - y))
    return positive(x - y)


def _is_finite(x: Expr) -> Condition:
    return ~is_infinite(x, 1) & ~is_infinite(x, -1)


def is_equal(x: Expr, y: Expr) -> Condition:
    """x = y."""
    chosen = _by_branch(is_equal, x, y)
    if chosen is not None:
        return chosen
    left, right = dim_of(x), dim_of(y)
    if left is not None and right is not None:
        return index_zero(left - right)
    for number, other in ((x, y), (y, x)):
        if number in (INFINITY, _LEAST):
            return is_infinite(other, 1 if number is INFINITY else -1)
    if holds_infinity(x) or holds_infinity(y):
        same = is_infinite(x, 1) & is_infinite(y, 1) | is_infinite(x, -1) & is_infinite(y, -1)
        return same | both(_is_finite(x) & _is_finite(y), zero(x - y))
    return zero(x - y)


def is_true(x: Expr | Condition) -> Condition:
    """What an entry means as a bool: that it is not 0."""
    return x if isinstance(x, Condition) else negation(is_equal(x, ZERO))


def _by_branch(compare: Callable[[Expr, Expr], Condition], x: Expr, y: Expr) -> Condition | None:
    """The comparison made for each branch of a choice between numbers (a mask as 1 and 0), or with an infinity."""
    if isinstance(x, Where) and (holds_infinity(x) or _are_numbers(x.then, x.otherwise, y)):
        return choice(x.condition, compare(x.then, y), compare(x.otherwise, y))
    if isinstance(y, Where) and (holds_infinity(y) or _are_numbers(x, y.then, y.otherwise)):
        return choice(y.condition, compare(x, y.then), compare(x, y.otherwise))
    return None


def _are_numbers(*entries: Expr) -> bool:
    """Whether each is a number or chosen between numbers."""
    return all(_is_number(x) or (isinstance(x, Where) and _are_numbers(x.then, x.otherwise)) for x in entries)


def _is_number(x: Expr) -> bool:
    return isinstance(x, Constant) or x in (INFINITY, _LEAST)


def choice(condition: Condition, then: Condition, otherwise: Condition) -> Condition:
    """One of two conditions, by a third."""
    return both(condition, then) | both(negation(condition), otherwise)


def is_infinite(x: Expr, sign: int) -> Condition:
    """Whether an entry is infinity (sign 1) or its negative (-1).

    Raises:
        NotExpressible: infinities take part in it in another way than masks use them.
    """
    if not holds_infinity(x):
        return FALSE
    match x:
        case Add(terms):
            found: Condition = FALSE
            for term in terms:
                found = found | is_infinite(term, sign)
            return found
        case Multiply((Constant(value), factor)):
            return is_infinite(factor, sign if value > 0 else -sign)
        case Where(condition, then, otherwise):
            return choice(condition, is_infinite(then, sign), is_infinite(otherwise, sign))
        case Greatest(index, body):
            some = Exists(index, is_infinite(body, 1) if sign > 0 else negation(is_infinite(body, -1)))
            return some if sign > 0 else negation(some)
        case Apply("exp", argument):
            return is_infinite(argument, 1) if sign > 0 else FALSE
    if x is INFINITY:
        return TRUE if sign > 0 else FALSE
    raise NotExpressible(f"whether {x} is infinite")


@cache
def holds_infinity(node: Node) -> bool:
    """Whether an infinity takes part in an expression."""
    return node is INFINITY or any(holds_infinity(part) for part in node.parts() if isinstance(part, Node))
