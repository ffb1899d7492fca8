"""Powers of real numbers, entry by entry."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from shaped.spec.expr import Condition, Constant, Expr, Whole, apply, both, index_zero, positive, power, where, zero
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.complex_numbers import Pair, product, quotient
from shaped.spec.meanings.kinds import elementwise
from shaped.spec.meanings.unbroadcast import unbroadcast
from shaped.spec.tensor import NotExpressible, Tensor, TensorLike, pointwise

Gradients: TypeAlias = tuple[Tensor | None, Tensor | None]
_DOMAIN = "x >= 0, or a constant integer as exponent; x != 0 where that is negative"
_KINKS = "x = 0: infinite for exponents between 0 and 1"


@meaning("pow", domain=_DOMAIN, kinks=_KINKS)
def pow(input: TensorLike, exponent: TensorLike) -> Tensor:
    return elementwise(_power, input, exponent, on_complex=_complex_power)


@meaning("float_power", domain=_DOMAIN, kinks=_KINKS)
def float_power(input: TensorLike, exponent: TensorLike) -> Tensor:
    return elementwise(_power, input, exponent, kind="float", on_complex=_complex_power)


def _power(x: Expr, y: Expr) -> Expr:
    if isinstance(y, Constant):
        return power(x, y.value)
    if isinstance(y, Whole) and isinstance(x, Constant) and x.value < 0:
        return where(index_zero(y.dim % 2), 1, -1) * _power(-x, y)
    return where(_is_root_of_0(x, y), where(zero(y), 1, where(zero(y - 1), x, 0)), apply("exp", y * apply("log", x)))


def _is_root_of_0(x: Expr, y: Expr) -> Condition:
    """Whether 0 is taken to a power that it has: 0^0 is 1, and 0^y is 0 for y > 0."""
    return both(zero(x), ~positive(-y))


def _complex_power(x: Pair, y: Pair) -> Pair:
    exponent = y[0]
    if y[1] is not Constant(Fraction(0)) or not isinstance(exponent, Constant) or exponent.value.denominator != 1:
        raise NotExpressible("a complex power that is no constant integer")
    one = (Constant(Fraction(1)), Constant(Fraction(0)))
    result: Pair = one
    for _ in range(abs(exponent.value.numerator)):
        result = product(result, x)
    return result if exponent.value >= 0 else quotient(one, result)


@backward("pow", "float_power")
def pow_backward(grad: Tensor, input: TensorLike, exponent: TensorLike) -> Gradients:
    def for_base(g: Expr, x: Expr, y: Expr) -> Expr:
        return g * where(zero(y), 0, y * _power(x, y - 1))

    def for_exponent(g: Expr, x: Expr, y: Expr) -> Expr:
        return g * where(_is_root_of_0(x, y), 0, _power(x, y) * apply("log", x))

    return (
        unbroadcast(pointwise(for_base, grad, input, exponent), input) if isinstance(input, Tensor) else None,
        unbroadcast(pointwise(for_exponent, grad, input, exponent), exponent) if isinstance(exponent, Tensor) else None,
    )


@meaning("hypot", domain="(x, y) != (0, 0)")
def hypot(input: Tensor, other: Tensor) -> Tensor:
    return elementwise(lambda x, y: power(x**2 + y**2, Fraction(1, 2)), input, other)


@backward("hypot")
def hypot_backward(grad: Tensor, input: Tensor, other: Tensor) -> Gradients:
    share = grad / input.hypot(other)
    return unbroadcast(share * input, input), unbroadcast(share * other, other)


@meaning("ldexp")
def ldexp(input: Tensor, other: Tensor) -> Tensor:
    return input * pow(2.0, other)
