"""Rules of Fourier transforms: linear kernels whose coefficients are measured.

The coefficients are cosines and sines, of which nothing is used but that the backward's are the same numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from shaped.verify.exact import field
from shaped.verify.exact.arithmetic import add, subtract
from shaped.verify.exact.aten.complex_numbers import COMPLEX_RULES
from shaped.verify.exact.aten.kernel import fractions_near
from shaped.verify.exact.aten.registry import UnsupportedError, rule
from shaped.verify.exact.complex_value import ComplexValue
from shaped.verify.exact.value import Value

if TYPE_CHECKING:
    from collections.abc import Callable

aten = torch.ops.aten

_MOST_ENTRIES = 1 << 22  # of a measured matrix


class _Transform:
    """A linear kernel on some dims of a tensor, as two matrices: of real and of imaginary results.

    Args:
        kernel: takes a tensor whose first dim counts examples, gives one that does too.
        sizes: of the dims of an example that the kernel transforms, in the order of `dims`.
        unit: 1 or 1j: the entry of the examples that measure it.
    """

    def __init__(self, kernel: Callable[[Tensor], Tensor], sizes: torch.Size, unit: complex) -> None:
        count = sizes.numel()
        if count * count > _MOST_ENTRIES:
            raise UnsupportedError(f"a Fourier transform of {count} entries")
        units = torch.eye(count, dtype=torch.float64).reshape(count, *sizes)
        result = kernel(units * unit if unit != 1 else units)
        self.result_sizes = result.shape[1:]
        flat = result.reshape(count, -1)
        self.real = fractions_near(flat.real if flat.is_complex() else flat)
        self.imaginary = fractions_near(flat.imag) if flat.is_complex() else None


def _apply(value: Value, dims: list[int], matrix: Tensor, sizes: torch.Size) -> Value:
    """A matrix applied to some dims, which keep their places and get other sizes; without a shadow."""

    def apply(residue: Tensor) -> Tensor:
        last = residue.movedim(dims, list(range(-len(dims), 0)))
        leading = last.shape[: last.dim() - len(dims)]
        product = field.matrix_product(last.reshape(leading.numel(), matrix.shape[0]), matrix)
        return product.reshape(*leading, *sizes).movedim(list(range(-len(dims), 0)), dims)

    residue = apply(value.residue)
    tangent = None if value.tangent is None else apply(value.tangent)
    return Value(torch.zeros(residue.shape, dtype=torch.float64), residue, tangent)


def _with_shadow(value: Value, shadow: Tensor) -> Value:
    return Value(shadow.double(), value.residue, value.tangent)


def _sizes(value: Value, dims: list[int]) -> torch.Size:
    return torch.Size(value.shape[dim] for dim in dims)


def _example_dims(dims: list[int]) -> list[int]:
    return list(range(1, len(dims) + 1))


def _complex_to_complex(value: ComplexValue, dim: Any, normalization: int, forward: bool) -> ComplexValue:
    dims = [one % value.ndim for one in dim]
    transform = _Transform(
        lambda one: aten._fft_c2c(one.to(torch.complex128), _example_dims(dims), normalization, forward),
        _sizes(value.real, dims),
        1,
    )
    assert transform.imaginary is not None
    sizes = transform.result_sizes
    real = subtract(
        _apply(value.real, dims, transform.real, sizes), _apply(value.imaginary, dims, transform.imaginary, sizes)
    )
    imaginary = add(
        _apply(value.real, dims, transform.imaginary, sizes), _apply(value.imaginary, dims, transform.real, sizes)
    )
    shadow = aten._fft_c2c(torch.complex(value.real.shadow, value.imaginary.shadow), dims, normalization, forward)
    return ComplexValue(_with_shadow(real, shadow.real), _with_shadow(imaginary, shadow.imag))


def _complex_to_real(value: ComplexValue, dim: Any, normalization: int, last_size: int) -> Value:
    dims = [one % value.ndim for one in dim]

    def kernel(one: Tensor) -> Tensor:
        result: Tensor = aten._fft_c2r(one.to(torch.complex128), _example_dims(dims), normalization, last_size)
        return result

    sizes = _sizes(value.real, dims)
    of_real, of_imaginary = _Transform(kernel, sizes, 1), _Transform(kernel, sizes, 1j)
    result = add(
        _apply(value.real, dims, of_real.real, of_real.result_sizes),
        _apply(value.imaginary, dims, of_imaginary.real, of_imaginary.result_sizes),
    )
    shadow = aten._fft_c2r(torch.complex(value.real.shadow, value.imaginary.shadow), dims, normalization, last_size)
    return _with_shadow(result, shadow)


@rule("_fft_r2c")
def _real_to_complex(value: Value, dim: Any, normalization: int, onesided: bool) -> ComplexValue:
    dims = [one % value.ndim for one in dim]
    transform = _Transform(
        lambda one: aten._fft_r2c(one, _example_dims(dims), normalization, onesided), _sizes(value, dims), 1
    )
    assert transform.imaginary is not None
    sizes = transform.result_sizes
    shadow = aten._fft_r2c(value.shadow, dims, normalization, onesided)
    return ComplexValue(
        _with_shadow(_apply(value, dims, transform.real, sizes), shadow.real),
        _with_shadow(_apply(value, dims, transform.imaginary, sizes), shadow.imag),
    )


COMPLEX_RULES["_fft_c2c"] = _complex_to_complex
COMPLEX_RULES["_fft_c2r"] = _complex_to_real
