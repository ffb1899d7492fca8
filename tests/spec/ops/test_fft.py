"""Fourier transforms."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.errors import DtypeError, ShapeError
from shaped.spec.dtypes import FLOAT32, DType
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.against_torch import check_exact
from tests.spec.ops.shapes import apply, b, of, shape_of, some, t

NAMES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
axes = st.integers(-3, 2)
dtypes = st.sampled_from([torch.float32, torch.float64, torch.complex64, torch.int64])


@pytest.mark.parametrize("name", NAMES)
@given(some(1, 3), dtypes, st.sampled_from([None, 0, 1, 2, 5]), axes, axes)
@settings(max_examples=40)
def test_a_transform_has_the_shape_and_dtype_of_torch(
    name: str, shape: list[int], dtype: torch.dtype, length: int | None, i: int, j: int
) -> None:
    x = torch.ones(shape, dtype=dtype)
    check_exact(f"torch.fft.{name}", x, length, i)
    check_exact(f"torch.fft.{name}2", x)
    check_exact(f"torch.fft.{name}n", x)
    check_exact(f"torch.fft.{name}n", x, dim=(i, j))
    if length:
        check_exact(f"torch.fft.{name}n", x, (length, 3), (i, j))


@given(some(1, 3), axes, st.integers(1, 5))
@settings(max_examples=30)
def test_shifts_and_frequencies_are_those_of_torch(shape: list[int], axis: int, count: int) -> None:
    check_exact("torch.fft.fftshift", torch.ones(shape), axis)
    check_exact("torch.fft.ifftshift", torch.ones(shape))
    check_exact("torch.fft.fftfreq", count)
    check_exact("torch.fft.rfftfreq", count)


def test_a_real_signal_has_half_of_the_frequencies() -> None:
    assert shape_of("torch.fft.rfft", of(b, t)) == "(b, t//2+1)"
    assert shape_of("torch.fft.irfft", of(b, t // 2 + 1), n=t) == "(b, t)"
    assert shape_of("torch.fft.rfft2", TensorType(Shape.of(Pack("x"), 8, 8))) == "(*x, 8, 5)"
    assert shape_of("torch.fft.rfft", of(b, t), UNKNOWN) == "(_, _)"


def test_a_complex_signal_has_no_real_transform() -> None:
    with pytest.raises(DtypeError, match="expects a real tensor, not complex64"):
        apply("torch.fft.rfft", of(b, t).with_dtype(DType.named("complex64")))
    with pytest.raises(ShapeError, match="a tensor without axes"):
        apply("torch.fft.fft", of().with_dtype(FLOAT32))
