"""`ln`, `cos` and `sqrt` on tensors are correctly rounded, and as exact before as they state."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from shaped.init import correctly_rounded as exactly
from shaped.init import double_double_cos, double_double_ln, double_double_sqrt
from shaped.init.double_double import DoubleDouble, correctly_rounded, fast_two_sum, leading_bits, two_sum
from shaped.init.sampling import DIVISOR, TWO_PI

FLOATS = st.floats(-1e100, 1e100)
# What a stream draws, and its ends.
BITS = torch.cat(
    [
        torch.randint(0, 2**32, (3000,), generator=torch.Generator().manual_seed(0)),
        torch.arange(500),
        2**32 - 1 - torch.arange(500),
        2**32 - 1 - torch.logspace(0, 31.9, 500, base=2).long(),
    ]
).double()
RADIAL = (BITS + 1) / DIVISOR
# Next to the zeros and to the other multiples of an eighth of a turn.
EIGHTHS = torch.cat([eighth * 2.0**29 + torch.arange(-100.0, 101.0) for eighth in range(9)]).clamp(0, 2**32 - 1)
# Within two of the 1024 steps of a half turn from a zero.
QUARTERS = torch.cat([2.0**30 + torch.linspace(-4e6, 4e6, 200), 3 * 2.0**30 + torch.linspace(-4e6, 4e6, 200)]).round()
ANGLES = TWO_PI * (torch.cat([BITS, EIGHTHS.double(), QUARTERS.double()]) / 2**32)


def column(*numbers: float) -> Tensor:
    """A tensor of float64."""
    return torch.tensor(numbers, dtype=torch.float64)


def relative_errors(approximation: DoubleDouble, expected: list[mpmath.mpf]) -> list[float]:
    """By how much of the expected values the sums differ from them."""
    pairs = zip(approximation.high.tolist(), approximation.low.tolist(), expected)
    return [float(abs((mpmath.mpf(high) + mpmath.mpf(low) - value) / value)) for high, low, value in pairs]


@given(FLOATS, FLOATS)
def test_a_sum_of_two_is_exact(a: float, b: float) -> None:
    total = two_sum(column(a), column(b))
    assert total.high.item() == a + b
    assert Fraction(total.high.item()) + Fraction(total.low.item()) == Fraction(a) + Fraction(b)


@given(FLOATS, FLOATS)
def test_a_fast_sum_of_a_larger_and_a_smaller_number_is_exact(a: float, b: float) -> None:
    larger, smaller = (a, b) if abs(a) >= abs(b) else (b, a)
    assert fast_two_sum(column(larger), column(smaller)) == two_sum(column(larger), column(smaller))


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 52))
def test_leading_bits_are_few_and_leave_the_rest_exact(x: float, bits: int) -> None:
    head = leading_bits(column(x), bits).item()
    assert abs(head) <= abs(x)
    if abs(x) >= 2.0**-1022:
        numerator, _ = head.as_integer_ratio()
        assert (numerator // (numerator & -numerator) if numerator else 0).bit_length() <= bits
        assert abs(x - head) < abs(x) * 2.0 ** (1 - bits)


def test_the_logarithm_is_approximated_to_within_a_quarter_of_its_error() -> None:
    with mpmath.workprec(200):
        expected = [mpmath.log(mpmath.mpf(u)) for u in RADIAL.tolist()]
        errors = relative_errors(double_double_ln.approximate_ln(RADIAL), expected)
    assert max(errors) < double_double_ln.RELATIVE_ERROR / 4


def test_the_cosine_is_approximated_to_within_half_its_error() -> None:
    with mpmath.workprec(200):
        expected = [mpmath.cos(mpmath.mpf(y)) for y in ANGLES.tolist()]
        errors = relative_errors(double_double_cos.approximate_cos(ANGLES), expected)
    assert max(errors) < double_double_cos.RELATIVE_ERROR / 2


def test_the_square_root_is_approximated_to_within_its_error() -> None:
    with mpmath.workprec(300):
        expected = [mpmath.sqrt(mpmath.mpf(a)) for a in (-2 * RADIAL.log()).tolist()]
        errors = relative_errors(double_double_sqrt.approximate_sqrt(-2 * RADIAL.log()), expected)
    assert max(errors) < double_double_sqrt.RELATIVE_ERROR


def test_logarithms_are_correctly_rounded() -> None:
    assert double_double_ln.ln(RADIAL).tolist() == [exactly.ln(u) for u in RADIAL.tolist()]


def test_cosines_are_correctly_rounded() -> None:
    assert double_double_cos.cos(ANGLES).tolist() == [exactly.cos(y) for y in ANGLES.tolist()]
    assert double_double_cos.cos(column(0.0, math.pi / 2)).tolist() == [1.0, 6.123233995736766e-17]


def test_square_roots_are_correctly_rounded_whatever_torchs_are() -> None:
    # Squares of numbers half way between two float64, rounded, have the roots that are hardest to round.
    generator = torch.Generator().manual_seed(0)
    numbers = (torch.rand(20000, dtype=torch.float64, generator=generator) * 6 + 0.01).tolist()
    hard = [float((Fraction(x) + Fraction(math.ulp(x)) / 2) ** 2) for x in numbers]
    edges = [1.0, math.nextafter(1, 0), math.nextafter(4, 0), math.nextafter(4, 5), 2.0**-31, 44.3]
    arguments = column(*numbers, *hard, *edges)
    assert double_double_sqrt.sqrt(arguments).tolist() == [math.sqrt(a) for a in arguments.tolist()]


@pytest.mark.parametrize(
    "module, function, exact, arguments",
    [
        (double_double_ln, "ln", exactly.ln, RADIAL),
        (double_double_cos, "cos", exactly.cos, ANGLES),
        (double_double_sqrt, "sqrt", math.sqrt, RADIAL),
    ],
    ids=["ln", "cos", "sqrt"],
)
def test_what_is_uncertain_is_computed_exactly(monkeypatch, module, function, exact, arguments) -> None:
    # An approximation that is wrong by a little, with an error to match: nearly nothing is certain.
    approximate = getattr(module, f"approximate_{function}")

    def loose(x: Tensor) -> DoubleDouble:
        high, low = approximate(x)
        return DoubleDouble(high * (1 + 2.0**-50), low)

    monkeypatch.setattr(module, f"approximate_{function}", loose)
    monkeypatch.setattr(module, "RELATIVE_ERROR", 2.0**-49)
    few = arguments[:400]
    assert getattr(module, function)(few).tolist() == [exact(x) for x in few.tolist()]


def test_what_is_certain_is_not_computed_again() -> None:
    def never(x: float) -> float:
        raise AssertionError(x)

    approximation = DoubleDouble(column(1.0, -2.0), column(2.0**-60, -(2.0**-55)))
    assert correctly_rounded(approximation, 2.0**-68, column(5.0, 6.0), never).tolist() == [1.0, -2.0]


def test_few_logarithms_and_cosines_are_uncertain() -> None:
    # Of those between a float64 and the next, 2 in 2^68 out of 2^53: one in 16384.
    u = torch.rand(200_000, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) * 0.99 + 0.005
    for approximation in (double_double_ln.approximate_ln(u), double_double_cos.approximate_cos(u * TWO_PI)):
        asked: list[float] = []
        correctly_rounded(approximation, 2.0**-68, u, lambda x, asked=asked: asked.append(x) or 0.0)
        assert len(asked) < 60
