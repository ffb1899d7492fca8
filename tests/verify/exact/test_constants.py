"""The exact numbers that float constants stand for."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.verify.exact.constants import of_float, of_fraction, of_tensor
from shaped.verify.exact.field import PRIME


@given(st.fractions(min_value=-1000, max_value=1000, max_denominator=300))
def test_a_rational_that_a_program_computes_is_recovered(value: Fraction) -> None:
    assert of_float(value.numerator / value.denominator) == of_fraction(value)


@pytest.mark.parametrize("text", ["0.1", "1e-5", "1e-12", "0.044715", "0.999", "1e-08", "123.456"])
def test_a_decimal_is_recovered(text: str) -> None:
    assert of_float(float(text)) == of_fraction(Fraction(text))


def test_a_decimal_in_float32_is_the_same_number() -> None:
    assert of_tensor(torch.tensor([0.1, 1e-5])).tolist() == [of_float(0.1), of_float(1e-5)]


@given(st.integers(1, 29), st.integers(1, 29))
def test_roots_of_small_rationals_square_to_them(a: int, b: int) -> None:
    assert of_float(math.sqrt(a / b)) ** 2 % PRIME == of_fraction(Fraction(a, b))
    assert (of_float(math.sqrt(a / b)) + of_float(-math.sqrt(a / b))) % PRIME == 0


def test_the_constants_of_gelu_belong_together() -> None:
    tanh_form, erf_form = of_float(math.sqrt(2 / math.pi)), of_float(2 / math.sqrt(math.pi))
    assert tanh_form**2 * 2 % PRIME == erf_form**2 % PRIME
    assert of_float(0.3989422804014327) * 2 % PRIME == of_float(0.7978845608028654)


def test_pi_and_log_2_keep_their_powers() -> None:
    assert of_float(math.pi) * of_float(1 / math.pi) % PRIME == 1
    assert of_float(math.log(2)) * of_float(1 / math.log(2)) % PRIME == 1


def test_a_constant_off_by_a_millionth_is_another_number() -> None:
    for value in (0.1, 1 / 3, math.sqrt(2), math.pi, math.log(2), 0.044715):
        assert of_float(value * (1 + 1e-6)) != of_float(value)


def test_other_floats_are_dyadic_fractions() -> None:
    value = 0.7364518293746152
    assert of_float(value) == of_fraction(Fraction(value))
    many = torch.rand(5000, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    residues = of_tensor(many)
    assert int(residues[17]) == of_fraction(Fraction(float(many[17])))


def test_the_least_float_stands_for_minus_infinity_in_masks() -> None:
    assert of_float(torch.finfo(torch.float32).min) == of_float(-math.inf)
    assert of_float(math.inf) == PRIME - of_float(-math.inf)
