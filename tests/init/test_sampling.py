"""The specification of an element: the golden values, and what follows from its formula."""

from __future__ import annotations

import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaped.init.correctly_rounded import cos, ln
from shaped.init.fans import with_fans
from shaped.init.sampling import LEAST_CLAMPED, TWO_PI, radial_number, sample_at
from shaped.init.schemes import KaimingUniform, Normal, NormalMode, Ones, SchemeError, Uniform, XavierUniform, Zeros
from shaped.init.splitmix64 import low_bits, rand01
from tests.init.golden import KAIMING_WEIGHT, NORMAL, XAVIER_WEIGHT

MODES: tuple[NormalMode, ...] = get_args(NormalMode)
SEEDS = st.integers(-(2**65), 2**65)
INDICES = st.integers(0, 2**66)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", [0, 1, 42])
def test_normal_elements_are_those_of_the_reference(mode: NormalMode, seed: int) -> None:
    assert [sample_at(Normal(mode=mode), seed, index) for index in range(4)] == NORMAL[mode][seed]


def test_weights_are_those_of_the_reference() -> None:
    assert [sample_at(with_fans(XavierUniform(), [2, 3]), 0, index) for index in range(6)] == XAVIER_WEIGHT
    assert [sample_at(with_fans(KaimingUniform(), [2, 3]), 0, index) for index in range(6)] == KAIMING_WEIGHT


@given(SEEDS, INDICES)
def test_constants_are_constant(seed: int, index: int) -> None:
    assert sample_at(Zeros(), seed, index) == 0
    assert sample_at(Ones(), seed, index) == 1


@given(SEEDS, INDICES, st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_a_uniform_element_is_in_its_interval(seed: int, index: int, a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert low <= sample_at(Uniform(low, high), seed, index) <= high


@given(SEEDS, INDICES)
def test_a_uniform_element_is_computed_from_left_to_right(seed: int, index: int) -> None:
    assert sample_at(Uniform(-0.3, 0.7), seed, index) == -0.3 + rand01(seed, index) * (0.7 - -0.3)
    limit = math.sqrt(6 / 10)
    assert sample_at(XavierUniform(3, 7), seed, index) == -limit + rand01(seed, index) * (2 * limit)


@given(SEEDS, INDICES, st.sampled_from(MODES))
def test_a_normal_element_is_computed_from_left_to_right(seed: int, index: int, mode: NormalMode) -> None:
    radius = math.sqrt(-2 * ln(radial_number(mode, seed, index)))
    cosine = cos(TWO_PI * rand01(seed, 2 * index + 1))
    assert sample_at(Normal(0.3, 0.02, mode), seed, index) == (0.02 * radius) * cosine + 0.3


@given(SEEDS, INDICES, st.sampled_from(MODES))
def test_the_radial_number_is_inside_0_1(seed: int, index: int, mode: NormalMode) -> None:
    assert 0 < radial_number(mode, seed, index) < 1


@given(SEEDS, INDICES)
def test_the_modes_differ_in_the_radial_number_only(seed: int, index: int) -> None:
    bits = low_bits(seed, 2 * index)
    assert radial_number("mixed", seed, index) == (bits + 1) / (2**32 + 1)
    assert radial_number("clamped", seed, index) == max(bits / 2**32, 1e-6)
    assert radial_number("unmixed", seed, 0) == radial_number("mixed", seed, 0)


@given(SEEDS, st.integers(0, 2**32))
def test_unmixed_radial_numbers_are_neighbours(seed: int, index: int) -> None:
    step = (radial_number("unmixed", seed, index + 1) - radial_number("unmixed", seed, index)) * (2**32 + 1)
    assert round(step) in (2, 2 - 2**32)


def test_no_clamped_element_is_further_than_5_257_deviations_from_the_mean() -> None:
    assert math.sqrt(-2 * ln(LEAST_CLAMPED)) < 5.257
    assert max(abs(sample_at(Normal(mode="clamped"), seed, 0)) for seed in range(2000)) < 5.257


def test_neighbouring_seeds_and_positions_share_no_element() -> None:
    elements = [sample_at(Normal(), seed, index) for seed in range(-10, 30) for index in range(20)]
    assert len(set(elements)) == len(elements)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("normal", 0, 0), r"scheme is 'normal': one of Zeros\(\)"),
        ((Normal, 0, 0), r"scheme is the class Normal: Normal\(\) is needed"),
        ((Zeros(), 0.5, 0), "seed is 0.5: an int is needed"),
        ((Normal(), 0, None), "index is None: an int is needed"),
        ((Normal(), 0, True), "index is True: an int is needed"),
    ],
)
def test_what_no_element_can_be_drawn_of_is_an_error(arguments, message: str) -> None:
    with pytest.raises(SchemeError, match=message):
        sample_at(*arguments)


def test_a_fan_that_is_missing_is_an_error() -> None:
    with pytest.raises(SchemeError, match="a fan is missing"):
        sample_at(KaimingUniform(), 0, 0)
