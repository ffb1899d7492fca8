"""Normal elements have the specification's bits, whatever library torch computes with."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest
import torch
from torch import Tensor

from shaped.init import vectorised_normal
from shaped.init.rounding import rounded
from shaped.init.sampling import sample_at
from shaped.init.schemes import Normal, NormalMode
from shaped.init.vectorised_normal import normal_sampler
from shaped.init.vectorised_rounding import BITS, FORMATS

CPU = torch.device("cpu")
NARROW = [torch.float32, torch.float16, torch.bfloat16]
# A library whose functions are off by up to this, so that many an element rounds the wrong way, and the error to match.
LIBRARY_ERROR = 2.0**-30
COUNT = 3000


def drawn(scheme: Normal, dtype: torch.dtype, seed: int = 5, first: int = 0, count: int = COUNT) -> Tensor:
    """What the sampler of a dtype writes."""
    out = torch.empty(count, dtype=dtype)
    normal_sampler(scheme, seed, dtype, count, CPU).draw_into(out, first)
    return out


def specified(scheme: Normal, dtype: torch.dtype, seed: int = 5, first: int = 0, count: int = COUNT) -> Tensor:
    """What the specification says."""
    values = [rounded(sample_at(scheme, seed, first + i), FORMATS[dtype]) for i in range(count)]
    return torch.tensor(values, dtype=torch.float64).to(dtype)


def bits(values: Tensor) -> list[int]:
    """The bits of each element, so that zeros of different sign differ."""
    return values.view(BITS[values.dtype]).tolist()


def off_by(function: Callable[[Tensor], Tensor], absolute: bool = False) -> Callable[[Tensor], Tensor]:
    """A function of torch that is off by up to `LIBRARY_ERROR` one way or the other, of its value or absolutely."""

    def wrong(x: Tensor) -> Tensor:
        function(x)
        errors = torch.empty_like(x).uniform_(-1, 1, generator=torch.Generator().manual_seed(0)) * LIBRARY_ERROR
        return x.add_(errors if absolute else errors * x)

    return wrong


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("name", ["log_", "cos_", "sqrt_"])
def test_a_library_that_is_less_exact_changes_no_bit(
    monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, name: str
) -> None:
    scheme = Normal(0.1, 0.7)
    expected = bits(specified(scheme, dtype))
    monkeypatch.setattr(Tensor, name, off_by(getattr(Tensor, name), absolute=name == "cos_"))
    monkeypatch.setattr(vectorised_normal, "ERROR_OF_RADIUS", 4 * LIBRARY_ERROR)
    monkeypatch.setattr(vectorised_normal, "MOST_UNCERTAIN", COUNT)
    assert bits(drawn(scheme, dtype)) == expected


@pytest.mark.parametrize("name", ["log_", "cos_", "sqrt_"])
def test_bits_would_change_if_uncertain_elements_were_not_computed_again(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    # Else the test above could not fail.
    expected = bits(specified(Normal(0.1, 0.7), torch.float32))
    monkeypatch.setattr(Tensor, name, off_by(getattr(Tensor, name), absolute=name == "cos_"))
    monkeypatch.setattr(vectorised_normal, "ERROR_OF_RADIUS", 4 * LIBRARY_ERROR)
    monkeypatch.setattr(vectorised_normal, "MOST_UNCERTAIN", COUNT)
    monkeypatch.setattr(vectorised_normal, "redo", lambda *_: None)
    assert bits(drawn(Normal(0.1, 0.7), torch.float32)) != expected


@pytest.mark.parametrize(
    "scheme, dtype",
    [
        *((Normal(0.1, 0.7, mode), torch.float64) for mode in get_args(NormalMode)),
        # Its products are subnormal, where a relative error bounds nothing.
        (Normal(0, 1e-310), torch.float32),
    ],
)
def test_exact_elements_need_no_library(monkeypatch: pytest.MonkeyPatch, scheme: Normal, dtype: torch.dtype) -> None:
    for name in ("log", "log_", "cos", "cos_"):
        monkeypatch.setattr(Tensor, name, None)
        monkeypatch.setattr(torch, name, None)
    sqrt = Tensor.sqrt
    monkeypatch.setattr(Tensor, "sqrt", lambda a: sqrt(a) * (1 + 2.0**-51))
    assert bits(drawn(scheme, dtype, count=500)) == bits(specified(scheme, dtype, count=500))


@pytest.mark.parametrize("dtype", NARROW)
def test_many_uncertain_elements_are_computed_in_float64_together(
    monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype
) -> None:
    monkeypatch.setattr(vectorised_normal, "ERROR_OF_RADIUS", 2.0**-10)
    monkeypatch.delattr(vectorised_normal, "redo")
    assert bits(drawn(Normal(0.1, 0.7), dtype)) == bits(specified(Normal(0.1, 0.7), dtype))


@pytest.mark.parametrize("dtype", [*NARROW, torch.float64])
@pytest.mark.parametrize(
    "scheme",
    [
        Normal(1 + 2.0**-24, 1e-12),  # around a number half way between two float32
        Normal(2.0**-150, 1e-60),  # and between 0 and the least float32
        Normal(0, 1e-44),
        Normal(0, 1e-310),  # subnormal in float64
        Normal(1e-310, 1e-310),
        Normal(-0.0, 0),
        Normal(0.1, 0),
        Normal(1e308, 1e307),  # some are infinite in float64
        Normal(0, 1e38),  # some are infinite in float32
        Normal(65500, 30),  # and in float16
    ],
    ids=str,
)
def test_extreme_schemes_have_the_same_bits(scheme: Normal, dtype: torch.dtype) -> None:
    assert bits(drawn(scheme, dtype, count=200)) == bits(specified(scheme, dtype, count=200))


@pytest.mark.parametrize("mode", get_args(NormalMode))
@pytest.mark.parametrize("dtype", [*NARROW, torch.float64])
def test_the_most_extreme_numbers_of_a_stream_have_the_same_bits(mode: NormalMode, dtype: torch.dtype) -> None:
    # Seed 0 has at these elements: the least and the greatest u1, one next to 1e-6, cosines next to 0 and next to -1.
    for element in (
        4599282455718648606,
        5659834097528200730,
        4161723730847675871,
        653825967893281794,
        8378649987181876739,
        4243231967133507287,
    ):
        expected = specified(Normal(mode=mode), dtype, 0, element - 3, 7)
        assert bits(drawn(Normal(mode=mode), dtype, 0, element - 3, 7)) == bits(expected)


def test_torchs_functions_are_as_exact_as_is_assumed() -> None:
    # Against the correctly rounded ones, which are themselves off by 2^-53.
    generator = torch.Generator().manual_seed(0)
    u = torch.rand(10**5, dtype=torch.float64, generator=generator).clamp(min=2.0**-40)
    angles = u * 6.283185307179586
    assert (u.log() / vectorised_normal.ln(u) - 1).abs().max() < 2.0**-50
    assert (angles.cos() - vectorised_normal.cos(angles)).abs().max() < 2.0**-50
    assert (u.sqrt() / vectorised_normal.sqrt(u) - 1).abs().max() < 2.0**-51


@pytest.mark.slow
def test_a_hundred_thousand_float64_elements_are_those_of_the_specification() -> None:
    for mode in get_args(NormalMode):
        scheme = Normal(0.1, 0.7, mode)
        assert bits(drawn(scheme, torch.float64, 1, 0, 10**5)) == bits(specified(scheme, torch.float64, 1, 0, 10**5))
