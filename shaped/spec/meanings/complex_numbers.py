"""Complex numbers as pairs of a real and an imaginary part."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from shaped.spec.dims import Dim
from shaped.spec.expr import Expr, apply, both, index_zero, power, real, where, zero
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.kinds import elementwise
from shaped.spec.meanings.unbroadcast import unbroadcast
from shaped.spec.tensor import Body, Tensor, build, pointwise

if TYPE_CHECKING:
    from collections.abc import Callable

Pair: TypeAlias = tuple[Expr, Expr]  # real and imaginary part


def product(x: Pair, y: Pair) -> Pair:
    """The product of two complex numbers."""
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def quotient(x: Pair, y: Pair) -> Pair:
    """The quotient of two complex numbers."""
    square = y[0] ** 2 + y[1] ** 2
    return (x[0] * y[0] + x[1] * y[1]) / square, (x[1] * y[0] - x[0] * y[1]) / square


def modulus(x: Pair) -> Expr:
    """The absolute value; its gradient at 0 is 0, as torch's."""
    root = power(x[0] ** 2 + x[1] ** 2, Fraction(1, 2))
    return where(both(zero(x[0]), zero(x[1])), 0, root)


def exponential(x: Pair) -> Pair:
    """e to a complex power."""
    return apply("exp", x[0]) * apply("cos", x[1]), apply("exp", x[0]) * apply("sin", x[1])


def _cosh(x: Expr) -> Expr:
    return apply("cosh", x)


def _sinh(x: Expr) -> Expr:
    return apply("sinh", x)


def _sine(x: Pair) -> Pair:
    return apply("sin", x[0]) * _cosh(x[1]), apply("cos", x[0]) * _sinh(x[1])


def _cosine(x: Pair) -> Pair:
    return apply("cos", x[0]) * _cosh(x[1]), -(apply("sin", x[0]) * _sinh(x[1]))


def _conjugate(x: Pair) -> Pair:
    return x[0], -x[1]


def _reciprocal(x: Pair) -> Pair:
    square = x[0] ** 2 + x[1] ** 2
    return x[0] / square, -x[1] / square


# What the functions of one number do with complex ones.
COMPLEX_FUNCTIONS: dict[str, Callable[[Pair], Body]] = {
    "exp": exponential,
    "sin": _sine,
    "cos": _cosine,
    "neg": lambda x: (-x[0], -x[1]),
    "square": lambda x: product(x, x),
    "reciprocal": _reciprocal,
    "abs": modulus,
    "positive": lambda x: x,
}


@meaning("resolve_conj", "resolve_neg")
def resolve(input: Tensor) -> Tensor:
    return input


@meaning("conj", "conj_physical")
def conj(input: Tensor) -> Tensor:
    return input if input.imaginary is None else pointwise(_conjugate, input, complex_parts=True)


@backward("conj", "conj_physical")
def conj_backward(grad: Tensor, input: Tensor) -> Tensor:
    return conj(grad)


@meaning("real")
def real_part(input: Tensor) -> Tensor:
    return input if input.imaginary is None else pointwise(lambda x: x[0], input, complex_parts=True)


@meaning("imag")
def imaginary_part(input: Tensor) -> Tensor:
    return pointwise(lambda x: x[1], input, complex_parts=True)


@backward("real")
def real_part_backward(grad: Tensor, input: Tensor) -> Tensor:
    return grad if input.imaginary is None else pointwise(lambda g: (g, real(0)), grad)


@backward("imag")
def imaginary_part_backward(grad: Tensor, input: Tensor) -> Tensor:
    return pointwise(lambda g: (real(0), g), grad)


@meaning("complex")
def complex_(real: Tensor, imag: Tensor) -> Tensor:
    return pointwise(lambda x, y: (x, y), real, imag)


@backward("complex")
def complex_backward(grad: Tensor, real: Tensor, imag: Tensor) -> tuple[Tensor, Tensor]:
    return unbroadcast(real_part(grad), real), unbroadcast(imaginary_part(grad), imag)


@meaning("polar")
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    return pointwise(lambda r, phi: (r * apply("cos", phi), r * apply("sin", phi)), abs, angle)


@meaning("sgn", kinks="x = 0: 0")
def sgn(input: Tensor) -> Tensor:
    def unit(x: Pair) -> Pair:
        at_0, size = both(zero(x[0]), zero(x[1])), modulus(x)
        return where(at_0, 0, x[0] / size), where(at_0, 0, x[1] / size)

    return elementwise(lambda x: apply("sign", x), input, on_complex=unit)


@meaning("view_as_real")
def view_as_real(input: Tensor) -> Tensor:
    def part(*places: Dim) -> Expr:
        *place, number = places
        body = input.body_at(*place)
        assert isinstance(body, Expr)
        return where(index_zero(number), body, input.imaginary_at(*place))

    return build((*input.sizes, 2), part)
