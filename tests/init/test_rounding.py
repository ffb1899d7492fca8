"""One rounding, to the nearest number of a narrower format, ties to even, on both sides."""

from __future__ import annotations

import math
import struct

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.init.rounding import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, Format, rounded
from shaped.init.vectorised_rounding import BITS, FORMATS, round_into

DTYPES = list(FORMATS)
# Any bits: Hypothesis's floats favour round numbers, whose rounding is trivial.
ANY_FLOAT = st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack("<d", struct.pack("<Q", bits))[0])
# Near the range of each format: subnormal numbers, and what overflows.
NEAR_RANGES = st.builds(
    lambda mantissa, exponent: math.ldexp(mantissa, exponent),
    st.floats(-2, 2),
    st.sampled_from([*range(-152, -120), *range(-28, -10), *range(10, 20), *range(120, 131)]),
)


def number_of_bits(bits: int, dtype: torch.dtype) -> float:
    """The number that a dtype writes with these bits."""
    return torch.tensor([bits], dtype=BITS[dtype]).view(dtype).double().item()


def as_torch_rounds(value: float, dtype: torch.dtype) -> torch.Tensor:
    """`round_into`, of one number."""
    out = torch.empty(1, dtype=dtype)
    round_into(out, torch.tensor([value], dtype=torch.float64))
    return out


@given(st.sampled_from(DTYPES), ANY_FLOAT | NEAR_RANGES)
def test_both_renderings_round_to_the_same_bits(dtype: torch.dtype, value: float) -> None:
    if math.isnan(value):
        return
    expected = torch.tensor([rounded(value, FORMATS[dtype])], dtype=torch.float64).to(dtype)
    assert as_torch_rounds(value, dtype).view(BITS[dtype]).tolist() == expected.view(BITS[dtype]).tolist()


@given(ANY_FLOAT | NEAR_RANGES)
def test_float32_is_what_the_processor_rounds_to(value: float) -> None:
    if math.isnan(value):
        return
    expected = torch.tensor([value], dtype=torch.float64).float().item()
    assert rounded(value, FLOAT32) == expected
    assert math.copysign(1, rounded(value, FLOAT32)) == math.copysign(1, expected)


@given(ANY_FLOAT)
def test_float64_is_left_alone(value: float) -> None:
    assert rounded(value, FLOAT64) == value or math.isnan(value)


@given(st.sampled_from([torch.float32, torch.float16, torch.bfloat16]), st.integers(0, 2**15 - 2), st.booleans())
def test_a_number_half_way_goes_to_the_even_neighbour_and_others_to_the_nearest(
    dtype: torch.dtype, high_bits: int, negative: bool
) -> None:
    # The low bits of a float32 do not matter here.
    bits = high_bits << (16 if dtype == torch.float32 else 0)
    below, above = number_of_bits(bits, dtype), number_of_bits(bits + 1, dtype)
    if not math.isfinite(above):
        return
    sign = -1 if negative else 1
    middle = (below + above) / 2
    for value, expected in [
        (middle, below if bits % 2 == 0 else above),
        (math.nextafter(middle, math.inf), above),
        (math.nextafter(middle, 0), below),
        (below, below),
    ]:
        assert rounded(sign * value, FORMATS[dtype]) == sign * expected
        assert as_torch_rounds(sign * value, dtype).item() == sign * expected


@pytest.mark.parametrize(
    "to, largest, first_too_large",
    [
        (FLOAT32, (2 - 2.0**-23) * 2.0**127, (2 - 2.0**-24) * 2.0**127),
        (FLOAT16, 65504.0, 65520.0),
        (BFLOAT16, (2 - 2.0**-7) * 2.0**127, (2 - 2.0**-8) * 2.0**127),
    ],
)
def test_what_is_too_large_becomes_infinite(to: Format, largest: float, first_too_large: float) -> None:
    assert rounded(largest, to) == largest
    assert rounded(math.nextafter(first_too_large, 0), to) == largest
    assert rounded(first_too_large, to) == math.inf
    assert rounded(-first_too_large, to) == -math.inf


def test_what_is_too_small_becomes_a_zero_of_its_sign() -> None:
    assert str(rounded(-1e-300, FLOAT32)) == "-0.0"
    assert str(rounded(-0.0, BFLOAT16)) == "-0.0"
    assert as_torch_rounds(-1e-300, torch.bfloat16).view(torch.int16).item() == -(2**15)


def test_torch_alone_rounds_twice() -> None:
    # Else rounding to odd would be needless.
    value = 1 + 2.0**-8 + 2.0**-40
    assert torch.tensor(value, dtype=torch.float64).to(torch.bfloat16).item() == 1
    assert as_torch_rounds(value, torch.bfloat16).item() == rounded(value, BFLOAT16) == 1 + 2.0**-7
