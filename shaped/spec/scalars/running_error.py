"""Numbers with a bound on the error that any sound kernel of a float format makes when it computes them.

Each number is the exact value, in a ball, and a bound on `|computed - exact|`. The bounds are derived, not chosen, from
the model of IEEE 754: an operation gives `(x op y)(1 + d)` with `|d| <= u`, where u is half the format's epsilon
(N. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., sections 2.2, 3.1 and 3.3). What a kernel may do
differently from the expression, and still be right, is covered:

- Sums in any order: n terms, each with its error, give `e_1 + ... + e_n + g(n-1) (|x_1| + ... + |x_n|)` with
  `g(k) = ku / (1 - ku)` (eq. 4.4 there; it holds for every order of the additions). A number keeps the count and the
  sum of magnitudes of its terms, so that nested sums count as one.
- Products of sums may be multiplied out or not, and a common factor taken out or not: the rounding of a product is
  `2u` times the product of the sums of magnitudes.
- A piece of a function that needs no rounding (`x` for x > 3, of hardswish) may come out of the formula of another
  piece: where one branch of `where` is computed and the chosen one is not, it counts as a function's value.
- An `exp(x)` may be `exp(x - m)` times a constant, as in a softmax that is shifted by its greatest score: the rounding
  of the shifted argument is taken for `2u|x|`; where `m` is larger, its own `exp` has that error.
- A division may be a product with a rounded reciprocal: `1/x` adds `u` relative, the product one more `u`.
- Fused multiply-add, and sums held in a wider format, only leave roundings out.
- A condition on a number that rounding may bring to the other side of 0 has no value, so what it chooses is not held
  to any bound.
- Results below the least normal number may be flushed to 0: each product and function adds that number.

Every second-order term is kept, so the bound is rigorous; it is computed in floats of 64 bits, each result widened by
the factor `_WIDER`, which is far more than these roundings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from flint import arb

from shaped.spec.scalars import balls
from shaped.spec.scalars.balls import ball_of
from shaped.spec.scalars.system import Array, ObjectScalars, Reason, Reasons, Undefined

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

_WIDER = 1 + 2.0**-40


class Format(NamedTuple):
    """A float format: its unit roundoff and its least positive normal number."""

    unit: float
    least_normal: float
    bits: int

    def holds(self, value: Fraction) -> bool:
        """Whether a rational number of moderate size needs no rounding."""
        denominator = value.denominator
        return denominator & (denominator - 1) == 0 and abs(value.numerator).bit_length() <= self.bits


FLOAT64 = Format(2.0**-53, 2.0**-1022, 53)
FLOAT32 = Format(2.0**-24, 2.0**-126, 24)
FLOAT16 = Format(2.0**-11, 2.0**-14, 11)
BFLOAT16 = Format(2.0**-8, 2.0**-126, 8)

# The error of an elementary function in units of u, beside what its argument's error makes. Sleef's `u10` functions,
# which torch uses on CPUs, are right within 1 ulp, at most 2u; CUDA documents at most 2 ulp for these, 4u.
LIBRARY_ERROR = 4.0
_LIBRARY_ERRORS = {
    "tan": 8.0,  # CUDA documents 4 ulp
    "lgamma": 12.0,  # CUDA documents 6 ulp
    "digamma": 16.0,  # of the terms: up to ten reciprocals and five terms of a series, see `_digamma_error`
    "sigmoid": 7.0,  # an exp, an addition and a reciprocal
    "erfinv": 10.0,  # a rational function of degree 3 and two steps of Newton's method, which end in an erf and an exp
    # Exact: the value is one of the format's.
    "abs": 0.0,
    "sign": 0.0,
    "floor": 0.0,
    "round": 0.0,
}

_SLOPES: dict[str, Callable[[arb], arb]] = {
    "exp": arb.exp,
    "log": lambda x: 1 / x,
    "sin": arb.cos,
    "cos": arb.sin,
    "tan": lambda x: 1 + x.tan() ** 2,
    "asin": lambda x: (1 - x * x).rsqrt(),
    "acos": lambda x: (1 - x * x).rsqrt(),
    "atan": lambda x: 1 / (1 + x * x),
    "sinh": arb.cosh,
    "cosh": arb.sinh,
    "tanh": lambda x: 1 - x.tanh() ** 2,
    "asinh": lambda x: (1 + x * x).rsqrt(),
    "acosh": lambda x: (x * x - 1).rsqrt(),
    "atanh": lambda x: 1 / (1 - x * x),
    "sigmoid": lambda x: 1 / (2 + x.exp() + (-x).exp()),
    "erf": lambda x: 2 * (-x * x).exp() / arb.pi().sqrt(),
    "erfinv": lambda x: (x.erfinv() ** 2).exp() * arb.pi().sqrt() / 2,
    "lgamma": arb.digamma,
    "digamma": lambda x: arb(2).zeta(x),
    "abs": lambda x: arb(1),
}


def _upper(ball: arb) -> float:
    """The greatest magnitude in a ball, infinite where it is not finite."""
    value = float(ball.abs_upper())
    return math.inf if math.isnan(value) else value * _WIDER


def growth(count: float, unit: float) -> float:
    """`g(k) = ku / (1 - ku)`: the relative error of k roundings in a row; infinite where it is no longer small."""
    total = count * unit
    return total / (1 - total) if total < 1 else math.inf


@dataclass(frozen=True, slots=True)
class Rounded:
    """A number as a kernel computes it.

    Args:
        exact: the ball with its true value.
        count: how many terms it is a sum of.
        magnitude: the sum of the magnitudes of these terms as computed.
        error: the sum of the errors of these terms, without that of adding them.
        format: the float format.
    """

    exact: arb
    count: int
    magnitude: float
    error: float
    format: Format

    @property
    def bound(self) -> float:
        """A bound on the difference of what is computed from the exact value."""
        if self.count == 1:
            return self.error
        # One more than the additions, as `g + g w` may be `g (1 + w)`: a product of the whole sum.
        roundings = self.count if self.error else self.count - 1
        return (self.error + growth(roundings, self.format.unit) * self.magnitude) * _WIDER

    @property
    def _is_exactly_zero(self) -> bool:
        return self.bound == 0 and self.exact.is_zero()

    def __add__(self, other: Rounded) -> Rounded:
        # Adding 0 rounds nothing, so terms that a bracket takes away do not count.
        if self._is_exactly_zero:
            return other
        if other._is_exactly_zero:
            return self
        return Rounded(
            self.exact + other.exact,
            self.count + other.count,
            (self.magnitude + other.magnitude) * _WIDER,
            (self.error + other.error) * _WIDER,
            self.format,
        )

    def __mul__(self, other: Rounded) -> Rounded:
        for one, rest in ((self, other), (other, self)):
            if one.error == 0 and one.count == 1 and abs(one.exact) == 1:
                return Rounded(one.exact * rest.exact, rest.count, rest.magnitude, rest.error, self.format)
        if self._is_exactly_zero or other._is_exactly_zero:
            return self if self._is_exactly_zero else other
        left, right = _upper(self.exact), _upper(other.exact)
        error = left * other.bound + right * self.bound + self.bound * other.bound
        is_sum = self.count > 1 or other.count > 1
        magnitude = self._reached * other._reached
        error += growth(2 if is_sum else 1, self.format.unit) * magnitude + self.format.least_normal
        return _single(self.exact * other.exact, error * _WIDER, self.format)

    @property
    def _reached(self) -> float:
        """The greatest magnitude that intermediate results reach."""
        return (self.magnitude + self.bound) * _WIDER


def _single(exact: arb, error: float, of: Format) -> Rounded:
    """A number that is no sum; an error that is no number, as 0 times no limit, is no limit."""
    error = math.inf if math.isnan(error) else error
    return Rounded(exact, 1, (_upper(exact) + error) * _WIDER, error, of)


class RunningErrors(ObjectScalars):
    """Exact values with a bound on what a kernel in a float format may differ from them.

    Args:
        float_format: the float format of the kernel.
        precision: the bits of the balls with the exact values.
    """

    name = "running errors"

    def __init__(self, float_format: Format, precision: int = 128) -> None:
        self.format = float_format
        self.balls = balls.Balls(precision)

    def computing(self) -> AbstractContextManager[None]:
        return self.balls.computing()

    def constant(self, value: Fraction) -> Rounded:
        exact = ball_of(value)
        error = 0.0 if self.format.holds(value) else self.format.unit * _upper(exact)
        return _single(exact, error, self.format)

    def pi(self) -> Rounded:
        return _single(arb.pi(), self.format.unit * math.pi * _WIDER, self.format)

    def given(self, value: Any) -> Rounded:
        """What is given is a number of the format, so exact."""
        return value if isinstance(value, Rounded) else _single(ball_of(value), 0.0, self.format)

    def power_of(self, base: Any, exponent: Fraction) -> Rounded:
        exact = balls.power_of(base.exact, exponent)
        slope = self._slope(lambda x: balls.power_of(x, exponent - 1) * ball_of(exponent), base)
        steps = abs(exponent.numerator) - 1  # multiplications, or fewer; pow itself is no worse than LIBRARY_ERROR
        roundings = max(steps, LIBRARY_ERROR) if steps else 0
        roundings += 2 if exponent < 0 else 0  # the reciprocal, and the product that it makes of a division
        # MKL's square root, which torch uses, is right within 1 ulp, not within half of one.
        roundings += 2 if exponent.denominator == 2 else LIBRARY_ERROR if exponent.denominator > 2 else 0
        return self._computed(exact, slope * base.bound, roundings)

    def function_of(self, function: str, argument: Any) -> Rounded:
        exact = balls.function_of(function, argument.exact)
        if function in ("sign", "floor", "round"):
            return self._step(function, exact, argument)
        slope = self._slope(_SLOPES[function], argument)
        if function == "digamma":
            return self._computed(exact, slope * argument.bound + self._digamma_error(argument.exact), 1)
        roundings = _LIBRARY_ERRORS.get(function, LIBRARY_ERROR)
        if function == "exp":
            roundings += 2 * _upper(argument.exact)
        return self._computed(exact, slope * argument.bound, roundings)

    def sign_of(self, value: Any) -> int:
        """The sign, where rounding cannot change it; the difference of two numbers is compared without error."""
        sign = balls.sign_of(value.exact)
        margin = value.error + growth(max(value.count - 2, 0), self.format.unit) * value.magnitude
        if margin and not float(value.exact.abs_lower()) > margin * _WIDER:
            raise Undefined(Reason.UNDECIDED)
        return sign

    def greatest(self, left: Array, right: Array) -> tuple[Array, Reasons]:
        def greater(a: Rounded, b: Rounded) -> Rounded:
            return _single(a.exact.max(b.exact), max(a.bound, b.bound), self.format)

        return np.asarray(np.frompyfunc(greater, 2, 1)(left, right), dtype=object), None

    def choose(self, condition: Array, then: Array, otherwise: Array) -> Array:
        def pick(holds: bool, first: Rounded, second: Rounded) -> Rounded:
            chosen, other = (first, second) if holds else (second, first)
            if chosen.bound or not other.bound:
                return chosen
            return self._computed(chosen.exact, 0.0, 0 if chosen.exact.is_zero() else LIBRARY_ERROR)

        return np.asarray(np.frompyfunc(pick, 3, 1)(condition, then, otherwise), dtype=object)

    def rounded(self, values: Array, times: int) -> Array:
        def more(value: Rounded) -> Rounded:
            return self._computed(value.exact, value.bound, times)

        return np.asarray(np.frompyfunc(more, 1, 1)(values), dtype=object)

    def _digamma_error(self, x: arb) -> float:
        """What a digamma by recurrence makes: it is a sum of terms that cancel near the roots.

        Above 0 it is `log(x + k) - 1/x - ... - 1/(x + k - 1)` and a short series, k at most 10; below, the reflection
        `digamma(1 - x) - pi / tan(pi x)` adds the rounding of `pi x`, an error of 2u in x.
        """
        reflected = 1 - x if x < 0 else x
        terms = sum((1 / (reflected + k) for k in range(10)), (reflected + 10).log())
        moved = 0.0 if x > 0 else 2 * _upper(x) * _upper(arb(2).zeta(x)) + _upper(x.digamma())
        return self.format.unit * (_LIBRARY_ERRORS["digamma"] * _upper(terms) + moved) * _WIDER

    def _computed(self, exact: arb, error: float, roundings: float) -> Rounded:
        """A value with the error that its argument makes, and the roundings of its own."""
        if math.isnan(error):  # an unbounded slope, by no error
            error = 0.0
        error += growth(roundings, self.format.unit) * (_upper(exact) + error)
        return _single(exact, (error + (self.format.least_normal if roundings else 0.0)) * _WIDER, self.format)

    def _slope(self, slope: Callable[[arb], arb], argument: Rounded) -> float:
        """The steepest slope between the exact argument and any that may be computed."""
        if argument.bound == 0:
            return 0.0
        around = argument.exact + arb(0, argument.bound) if math.isfinite(argument.bound) else None
        if around is None:
            return math.inf
        try:
            return _upper(slope(around))
        except Undefined as error:
            if error.reason is not Reason.UNDECIDED:
                raise
            return math.inf

    def _step(self, function: str, exact: arb, argument: Rounded) -> Rounded:
        """A function of constant pieces: right, unless the argument's error may lead to another piece."""
        if argument.bound and math.isfinite(argument.bound):
            try:
                balls.function_of(function, argument.exact + arb(0, argument.bound))
            except Undefined:
                return _single(exact, math.inf, self.format)
        return _single(exact, math.inf if math.isinf(argument.bound) else 0.0, self.format)
