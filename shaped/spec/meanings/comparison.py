"""Comparisons and logic, whose results are bool tensors, and the choice between two tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.expr import TRUE, ZERO, Condition, Expr, both, negation, where
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.kinds import promoted
from shaped.spec.meanings.order import choice, is_equal, is_greater, is_infinite, is_true
from shaped.spec.meanings.unbroadcast import unbroadcast
from shaped.spec.tensor import Body, NotExpressible, Tensor, TensorLike, pointwise, tensor

if TYPE_CHECKING:
    from collections.abc import Callable


def exclusive(x: Condition, y: Condition) -> Condition:
    """One of two conditions holds, not both."""
    return both(x, negation(y)) | both(negation(x), y)


_COMPARISONS: dict[str, Callable[[Expr, Expr], Condition]] = {
    "eq": is_equal,
    "ne": lambda x, y: negation(is_equal(x, y)),
    "gt": is_greater,
    "ge": lambda x, y: negation(is_greater(y, x)),
    "lt": lambda x, y: is_greater(y, x),
    "le": lambda x, y: negation(is_greater(x, y)),
}
_SECOND_NAMES = {
    "ne": "not_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "lt": "less",
    "le": "less_equal",
}
_LOGIC: dict[str, Callable[[Condition, Condition], Condition]] = {
    "logical_and": both,
    "logical_or": lambda x, y: x | y,
    "logical_xor": exclusive,
}


def _declare_comparison(name: str) -> None:
    compare = _COMPARISONS[name]
    second = (_SECOND_NAMES[name],) if name in _SECOND_NAMES else ()

    @meaning(name, *second)
    def comparison(input: TensorLike, other: TensorLike) -> Tensor:
        # Through numbers, 1 and 0 for bools, which `is_equal` and `is_greater` see through.
        return pointwise(compare, input, other)


def _declare_logic(name: str) -> None:
    @meaning(name)
    def logic(input: TensorLike, other: TensorLike) -> Tensor:
        return pointwise(_LOGIC[name], as_bool(input), as_bool(other), kind="bool")


def as_bool(operand: TensorLike) -> Tensor:
    """A tensor as bools: whether its entries are not 0."""
    given = tensor(operand)
    if given.kind == "bool":
        return given
    if given.imaginary is not None:
        return pointwise(lambda x: is_true(x[0]) | is_true(x[1]), given, complex_parts=True)
    return pointwise(is_true, given)


for _name in _COMPARISONS:
    _declare_comparison(_name)
for _name in _LOGIC:
    _declare_logic(_name)


@meaning("logical_not")
def logical_not(input: Tensor) -> Tensor:
    return pointwise(negation, as_bool(input), kind="bool")


@meaning("isclose")
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    result: Tensor = (input - other).abs() <= atol + rtol * other.abs()
    return result


@meaning("isneginf")
def isneginf(input: Tensor) -> Tensor:
    return pointwise(lambda x: is_infinite(x, -1), input)


@meaning("isposinf")
def isposinf(input: Tensor) -> Tensor:
    return pointwise(lambda x: is_infinite(x, 1), input)


@meaning("isinf")
def isinf(input: Tensor) -> Tensor:
    return pointwise(lambda x: is_infinite(x, 1) | is_infinite(x, -1), input)


@meaning("isfinite")
def isfinite(input: Tensor) -> Tensor:
    return logical_not(isinf(input))


@meaning("signbit")
def signbit(input: Tensor) -> Tensor:
    return input < 0


@meaning("isreal")
def isreal(input: Tensor) -> Tensor:
    if input.imaginary is None:
        return pointwise(lambda x: TRUE, input)
    return pointwise(lambda x: is_equal(x[1], ZERO), input, complex_parts=True)


@meaning("where")
def where_(condition: Tensor, input: TensorLike | None = None, other: TensorLike | None = None) -> Tensor:
    if input is None or other is None:
        raise NotExpressible("the places of true entries, whose number depends on values")
    return chosen(as_bool(condition), input, other)


@meaning("Tensor.where")
def where_method(input: Tensor, condition: Tensor, other: TensorLike) -> Tensor:
    return where_(condition, input, other)


def chosen(condition: Tensor, then: TensorLike, otherwise: TensorLike) -> Tensor:
    """The entry of one of two tensors, by a bool tensor."""
    kind = promoted(then, otherwise)
    if kind == "complex":
        return pointwise(_choose_pair, condition, then, otherwise, complex_parts=True)
    if kind == "bool":
        return pointwise(choice, condition, then, otherwise, kind="bool")
    return pointwise(lambda c, x, y: where(is_true(c), x, y), condition, then, otherwise, kind=kind)


def _choose_pair(c: tuple[Expr, Expr], x: tuple[Expr, Expr], y: tuple[Expr, Expr]) -> Body:
    holds = is_true(c[0])
    return where(holds, x[0], y[0]), where(holds, x[1], y[1])


@backward("where")
def where_backward(
    grad: Tensor, condition: Tensor, input: TensorLike, other: TensorLike
) -> tuple[None, Tensor | None, Tensor | None]:
    return None, unbroadcast(grad.where(condition, 0), input), unbroadcast(grad.where(~condition, 0), other)


@backward("Tensor.where")
def where_method_backward(
    grad: Tensor, input: Tensor, condition: Tensor, other: TensorLike
) -> tuple[Tensor, None, Tensor | None]:
    return unbroadcast(grad.where(condition, 0), input), None, unbroadcast(grad.where(~condition, 0), other)
