"""Functions of two real numbers: extremes, angles, and sums of exponentials."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from shaped.spec.expr import PI, Expr, apply, both, negation, positive, where, zero
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.elementwise import LOG_2, exp, log
from shaped.spec.meanings.kinds import elementwise
from shaped.spec.meanings.order import is_greater
from shaped.spec.meanings.unbroadcast import unbroadcast
from shaped.spec.tensor import Tensor, TensorLike, pointwise

Gradients: TypeAlias = tuple[Tensor | None, Tensor | None]
_HALF = Fraction(1, 2)


def greater(x: Expr, y: Expr) -> Expr:
    """The greater of two numbers; of equal ones each has half of the gradient."""
    return where(is_greater(x, y), x, where(is_greater(y, x), y, (x + y) * _HALF))


def less(x: Expr, y: Expr) -> Expr:
    """The lesser of two numbers; of equal ones each has half of the gradient."""
    return where(is_greater(y, x), x, where(is_greater(x, y), y, (x + y) * _HALF))


@meaning("maximum", kinks="x = y: 1/2 for each")
def maximum(input: Tensor, other: Tensor) -> Tensor:
    return input | other if input.kind == other.kind == "bool" else elementwise(greater, input, other)


@meaning("minimum", kinks="x = y: 1/2 for each")
def minimum(input: Tensor, other: Tensor) -> Tensor:
    return input & other if input.kind == other.kind == "bool" else elementwise(less, input, other)


@meaning("fmax", kinks="x = y: 1 for x")
def fmax(input: Tensor, other: Tensor) -> Tensor:
    return elementwise(lambda x, y: where(is_greater(y, x), y, x), input, other)


@meaning("fmin", kinks="x = y: 1 for x")
def fmin(input: Tensor, other: Tensor) -> Tensor:
    return elementwise(lambda x, y: where(is_greater(x, y), y, x), input, other)


@backward("maximum")
def maximum_backward(grad: Tensor, input: Tensor, other: Tensor) -> Gradients:
    return _shared(grad, input, other), _shared(grad, other, input)


@backward("minimum")
def minimum_backward(grad: Tensor, input: Tensor, other: Tensor) -> Gradients:
    return _shared(grad, input, other, -1), _shared(grad, other, input, -1)


def _shared(grad: Tensor, operand: Tensor, rival: Tensor, sign: int = 1) -> Tensor:
    """The gradient where the operand is the greater one (the lesser for sign -1), half of it where both are equal."""

    def share(g: Expr, x: Expr, y: Expr) -> Expr:
        return where(positive((x - y) * sign), g, where(zero(x - y), g * _HALF, 0))

    return unbroadcast(pointwise(share, grad, operand, rival), operand)


@backward("fmax")
def fmax_backward(grad: Tensor, input: Tensor, other: Tensor) -> Gradients:
    return unbroadcast(grad.where(input >= other, 0), input), unbroadcast(grad.where(input < other, 0), other)


@backward("fmin")
def fmin_backward(grad: Tensor, input: Tensor, other: Tensor) -> Gradients:
    return unbroadcast(grad.where(input <= other, 0), input), unbroadcast(grad.where(input > other, 0), other)


def angle(y: Expr, x: Expr) -> Expr:
    """The angle of the point (x, y), through the quotient that is at most 1."""
    upright = where(positive(y), PI * _HALF, PI * -_HALF) - apply("atan", x / y)
    turned = apply("atan", y / x) + where(positive(-y), -PI, PI)
    flat = where(positive(x), apply("atan", y / x), where(zero(x), 0, turned))
    return where(positive(y**2 - x**2), upright, flat)


@meaning("atan2", "arctan2", kinks="x = y = 0: 0; the angle jumps at y = 0, x < 0", domain="")
def atan2(input: Tensor, other: Tensor) -> Tensor:
    return elementwise(angle, input, other, kind="float")


@meaning("angle", kinks="z = 0: 0; the angle of a real number jumps at 0")
def angle_of(input: Tensor) -> Tensor:
    def of_real(x: Expr) -> Expr:
        return where(positive(-x), PI, 0)

    return elementwise(of_real, input, kind="float", on_complex=lambda z: angle(z[1], z[0]))


@meaning("logaddexp")
def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    return elementwise(lambda x, y: log(exp(x) + exp(y)), input, other, kind="float")


@backward("logaddexp")
def logaddexp_backward(grad: Tensor, input: Tensor, other: Tensor) -> Gradients:
    share = (input - other).sigmoid()
    return unbroadcast(grad * share, input), unbroadcast(grad * (1 - share), other)


@meaning("logaddexp2")
def logaddexp2(input: Tensor, other: Tensor) -> Tensor:
    return elementwise(lambda x, y: log(exp(x * LOG_2) + exp(y * LOG_2)) / LOG_2, input, other, kind="float")


@meaning("copysign", kinks="x = 0: 0; a zero y counts as positive")
def copysign(input: TensorLike, other: TensorLike) -> Tensor:
    def signed(x: Expr, y: Expr) -> Expr:
        return where(positive(-y), -apply("abs", x), apply("abs", x))

    return elementwise(signed, input, other, kind="float")


@meaning("heaviside", kinks="x = 0: 0")
def heaviside(input: Tensor, values: Tensor) -> Tensor:
    return elementwise(lambda x, y: where(zero(x), y, where(positive(x), 1, 0)), input, values)


_XLOGY_KINKS = "x = y = 0: 0, where torch has nan for y"


@meaning("xlogy", domain="y > 0, or x = 0", kinks=_XLOGY_KINKS)
def xlogy(input: TensorLike, other: TensorLike) -> Tensor:
    return elementwise(x_log_y, input, other, kind="float")


@meaning("special.xlog1py", domain="y > -1, or x = 0", kinks="x = 0, y = -1: 0, where torch has nan for y")
def xlog1py(input: TensorLike, other: TensorLike) -> Tensor:
    return elementwise(lambda x, y: x_log_y(x, 1 + y), input, other, kind="float")


def x_log_y(x: Expr, y: Expr) -> Expr:
    return where(both(zero(x), negation(positive(y))), 0, x * log(y))


@backward("xlogy")
def xlogy_backward(grad: Tensor, input: TensorLike, other: TensorLike) -> Gradients:
    def for_factor(g: Expr, x: Expr, y: Expr) -> Expr:
        return where(both(zero(x), negation(positive(y))), 0, g * log(y))

    def for_argument(g: Expr, x: Expr, y: Expr) -> Expr:
        return where(both(zero(x), negation(positive(y))), 0, g * x / y)

    return (
        unbroadcast(pointwise(for_factor, grad, input, other), input),
        unbroadcast(pointwise(for_argument, grad, input, other), other),
    )
