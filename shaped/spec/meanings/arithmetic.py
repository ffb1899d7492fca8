"""The arithmetic operators, entry by entry. Integers are those of mathematics: nothing overflows."""

from __future__ import annotations

from typing import TypeAlias

from shaped.spec.dims import Dim
from shaped.spec.expr import Expr, apply, both, negation
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.comparison import exclusive
from shaped.spec.meanings.complex_numbers import product, quotient
from shaped.spec.meanings.kinds import elementwise, promoted
from shaped.spec.meanings.unbroadcast import conjugate, unbroadcast
from shaped.spec.tensor import NotExpressible, Number, Tensor, TensorLike, pointwise, tensor

Gradients: TypeAlias = tuple[Tensor | None, Tensor | None]


@meaning("add")
def add(input: TensorLike, other: TensorLike, alpha: Number = 1) -> Tensor:
    if promoted(input, other) == "bool":
        return pointwise(lambda x, y: x | y, input, other, kind="bool")
    return elementwise(
        lambda x, y: x + y,
        input,
        _scaled(other, alpha),
        on_dims=lambda x, y: x + y,
        on_complex=lambda x, y: (x[0] + y[0], x[1] + y[1]),
    )


@meaning("sub", "subtract")
def sub(input: TensorLike, other: TensorLike, alpha: Number = 1) -> Tensor:
    return elementwise(
        lambda x, y: x - y,
        input,
        _scaled(other, alpha),
        on_dims=lambda x, y: x - y,
        on_complex=lambda x, y: (x[0] - y[0], x[1] - y[1]),
    )


@meaning("rsub")
def rsub(input: TensorLike, other: TensorLike, alpha: Number = 1) -> Tensor:
    return sub(other, input, alpha)


def _scaled(operand: TensorLike, alpha: Number) -> TensorLike:
    return operand if alpha == 1 else mul(operand, alpha)


@meaning("mul", "multiply")
def mul(input: TensorLike, other: TensorLike) -> Tensor:
    if promoted(input, other) == "bool":
        return pointwise(both, input, other, kind="bool")
    return elementwise(lambda x, y: x * y, input, other, on_dims=lambda x, y: x * y, on_complex=product)


@meaning("div", "divide", domain="y != 0")
def div(input: TensorLike, other: TensorLike, rounding_mode: str | None = None) -> Tensor:
    if rounding_mode == "floor":
        return floor_divide(input, other)
    if rounding_mode == "trunc":
        kind = max(promoted(input, other), "int", key=("bool", "int", "float", "complex").index)
        return elementwise(lambda x, y: truncated(x / y), input, other, kind=kind)
    if rounding_mode is not None:
        raise ValueError(f"div: rounding_mode is {rounding_mode!r}, None, 'floor' or 'trunc' expected")
    return true_divide(input, other)


@meaning("true_divide", domain="y != 0")
def true_divide(input: TensorLike, other: TensorLike) -> Tensor:
    return elementwise(lambda x, y: x / y, input, other, kind="float", on_complex=quotient)


@meaning("floor_divide", domain="y != 0", kinks="x/y an integer: 0")
def floor_divide(input: TensorLike, other: TensorLike) -> Tensor:
    return elementwise(lambda x, y: apply("floor", x / y), input, other, on_dims=_floor_quotient)


def _floor_quotient(x: Dim, y: Dim) -> Dim:
    return x // y


@meaning("remainder", domain="y != 0", kinks="x/y an integer: 1 for x, -x/y for y")
def remainder(input: TensorLike, other: TensorLike) -> Tensor:
    return elementwise(lambda x, y: x - y * apply("floor", x / y), input, other, on_dims=lambda x, y: x % y)


@meaning("fmod", domain="y != 0", kinks="x/y an integer: 1 for x, -x/y for y")
def fmod(input: TensorLike, other: TensorLike) -> Tensor:
    return elementwise(lambda x, y: x - y * truncated(x / y), input, other)


def truncated(x: Expr) -> Expr:
    """A number rounded to zero."""
    return apply("sign", x) * apply("floor", apply("abs", x))


@meaning("bitwise_and")
def bitwise_and(input: TensorLike, other: TensorLike) -> Tensor:
    return pointwise(both, *_bools("&", input, other), kind="bool")


@meaning("bitwise_or")
def bitwise_or(input: TensorLike, other: TensorLike) -> Tensor:
    return pointwise(lambda x, y: x | y, *_bools("|", input, other), kind="bool")


@meaning("bitwise_xor")
def bitwise_xor(input: TensorLike, other: TensorLike) -> Tensor:
    return pointwise(exclusive, *_bools("^", input, other), kind="bool")


@meaning("bitwise_not")
def bitwise_not(input: Tensor) -> Tensor:
    if input.kind == "bool":
        return pointwise(negation, input, kind="bool")
    return -1 - input


def _bools(symbol: str, *operands: TensorLike) -> list[Tensor]:
    tensors = [tensor(operand) for operand in operands]
    if any(each.kind != "bool" for each in tensors):
        raise NotExpressible(f"{symbol} of the bits of integers")
    return tensors


@backward("add")
def add_backward(grad: Tensor, input: TensorLike, other: TensorLike, alpha: Number = 1) -> Gradients:
    return unbroadcast(grad, input), unbroadcast(grad * alpha, other)


@backward("sub", "subtract")
def sub_backward(grad: Tensor, input: TensorLike, other: TensorLike, alpha: Number = 1) -> Gradients:
    return unbroadcast(grad, input), unbroadcast(-grad * alpha, other)


@backward("rsub")
def rsub_backward(grad: Tensor, input: TensorLike, other: TensorLike, alpha: Number = 1) -> Gradients:
    return unbroadcast(-grad * alpha, input), unbroadcast(grad, other)


@backward("mul", "multiply")
def mul_backward(grad: Tensor, input: TensorLike, other: TensorLike) -> Gradients:
    return unbroadcast(grad * conjugate(other), input), unbroadcast(grad * conjugate(input), other)


@backward("true_divide")
def true_divide_backward(grad: Tensor, input: TensorLike, other: TensorLike) -> Gradients:
    divisor = conjugate(other)
    return unbroadcast(grad / divisor, input), unbroadcast(-grad * conjugate(input) / divisor / divisor, other)


@backward("div", "divide")
def div_backward(grad: Tensor, input: TensorLike, other: TensorLike, rounding_mode: str | None = None) -> Gradients:
    if rounding_mode is not None:
        return unbroadcast(grad * 0, input), unbroadcast(grad * 0, other)
    return true_divide_backward(grad, input, other)


@backward("remainder")
def remainder_backward(grad: Tensor, input: TensorLike, other: TensorLike) -> Gradients:
    return unbroadcast(grad, input), unbroadcast(-grad * floor_divide(input, other), other)


@backward("fmod")
def fmod_backward(grad: Tensor, input: TensorLike, other: TensorLike) -> Gradients:
    return unbroadcast(grad, input), unbroadcast(-grad * div(input, other, rounding_mode="trunc"), other)
