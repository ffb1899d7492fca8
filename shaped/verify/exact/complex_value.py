"""Complex values: pairs of a real and an imaginary part, each read exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from shaped.verify.exact.arithmetic import add, divide, negative, subtract, times
from shaped.verify.exact.value import Value, lift

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


class ComplexValue:
    """A tensor of complex numbers.

    Args:
        real: the real part.
        imaginary: the imaginary part, of the same shape.
    """

    __slots__ = ("imaginary", "real")

    def __init__(self, real: Value, imaginary: Value) -> None:
        self.real = real
        self.imaginary = imaginary

    @property
    def shape(self) -> torch.Size:
        """The sizes of its dims."""
        return self.real.shape

    @property
    def ndim(self) -> int:
        """How many dims it has."""
        return self.real.ndim

    @property
    def without_tangent(self) -> ComplexValue:
        """The same value, taken as a constant."""
        return ComplexValue(self.real.without_tangent, self.imaginary.without_tangent)

    @property
    def conjugate(self) -> ComplexValue:
        """The complex conjugate."""
        return ComplexValue(self.real, negative(self.imaginary))

    def each(self, function: Callable[[Value], Value]) -> ComplexValue:
        """A real-linear function of both parts."""
        return ComplexValue(function(self.real), function(self.imaginary))


def complex_lift(number: object) -> ComplexValue:
    """A real or complex value, tensor or number as a complex value."""
    if isinstance(number, ComplexValue):
        return number
    if isinstance(number, complex):
        return ComplexValue(lift(number.real), lift(number.imag))
    if isinstance(number, torch.Tensor) and number.is_complex():
        parts = torch.view_as_real(number.detach().resolve_conj())
        return ComplexValue(lift(parts[..., 0]), lift(parts[..., 1]))
    real = lift(number)
    return ComplexValue(real, times(real.without_tangent, 0))


def product(left: object, right: object, function: Callable[[Value, Value], Value] = times) -> ComplexValue:
    """A product, entry by entry or of matrices.

    Args:
        left: a factor.
        right: a factor.
        function: the product of real values.
    """
    one, other = complex_lift(left), complex_lift(right)
    return ComplexValue(
        subtract(function(one.real, other.real), function(one.imaginary, other.imaginary)),
        add(function(one.real, other.imaginary), function(one.imaginary, other.real)),
    )


def square_of_size(value: ComplexValue) -> Value:
    """|z|^2."""
    return add(times(value.real, value.real), times(value.imaginary, value.imaginary))


def quotient(left: object, right: object) -> ComplexValue:
    """left / right."""
    if not isinstance(right, (ComplexValue, complex)):
        return complex_lift(left).each(lambda part: divide(part, right))
    other = complex_lift(right)
    size = square_of_size(other)
    return product(left, other.conjugate).each(lambda part: divide(part, size))


def shadow(value: ComplexValue) -> Tensor:
    """The complex128 tensor that the shadows make."""
    real, imaginary = torch.broadcast_tensors(value.real.shadow, value.imaginary.shadow)  # type: ignore[no-untyped-call]  # torch does not annotate it
    return torch.complex(real.contiguous(), imaginary.contiguous())
