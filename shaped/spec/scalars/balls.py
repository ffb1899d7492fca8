"""Enclosures: each number is a ball that the true real number lies in, whatever was rounded (Arb, by python-flint).

F. Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval arithmetic", IEEE Trans. Computers 66 (2017).
"""

from __future__ import annotations

import contextlib
from fractions import Fraction
from typing import TYPE_CHECKING, Any

try:
    from flint import arb, ctx, fmpq
except ImportError as error:  # the package is an extra
    raise ImportError("enclosures need python-flint: pip install 'shaped[verify]'") from error

from shaped.spec.scalars.system import Array, ObjectScalars, Reason, Reasons, Undefined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def ball_of(value: int | float | Fraction | arb) -> arb:
    """A number as a ball; an int or a float is one exactly."""
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    return value if isinstance(value, arb) else arb(value)


def sign_of(ball: arb) -> int:
    """The sign of the number in a ball.

    Raises:
        Undefined: UNDECIDED if the ball has numbers on both sides of 0.
    """
    if ball > 0:
        return 1
    if ball < 0:
        return -1
    if ball.is_zero():
        return 0
    raise Undefined(Reason.UNDECIDED)


def power_of(base: arb, exponent: Fraction) -> arb:
    """A rational power.

    Raises:
        Undefined: there is none, or the base may be 0 or negative where it must not.
    """
    if base.is_zero():
        if exponent < 0:
            raise Undefined(Reason.DIVISION)
        return arb(0)
    if exponent < 0 and base.contains(0):
        raise Undefined(Reason.UNDECIDED)
    if exponent.denominator == 1:
        return base**exponent.numerator
    if base < 0:
        raise Undefined(Reason.ROOT)
    if not base > 0:
        raise Undefined(Reason.UNDECIDED)
    root = base.sqrt() if exponent.denominator == 2 else base.root(exponent.denominator)
    return root**exponent.numerator


def _sigmoid(x: arb) -> arb:
    return 1 / (1 + (-x).exp())


def _lgamma(x: arb) -> arb:
    return x.lgamma() if x > 0 else abs(x.gamma()).log()


def _floor(x: arb) -> arb:
    whole = x.floor().unique_fmpz()
    if whole is None:
        raise Undefined(Reason.UNDECIDED)
    return arb(whole)


def _round(x: arb) -> arb:
    """To the nearest int, to the even one at halves."""
    twice = 2 * x
    if twice.is_integer() and not x.is_integer():
        return 2 * _floor((x + arb(0.5)) / 2)
    return _floor(x + arb(0.5))


_FUNCTIONS: dict[str, Callable[[arb], arb]] = {
    "exp": arb.exp,
    "log": arb.log,
    "sin": arb.sin,
    "cos": arb.cos,
    "tan": arb.tan,
    "asin": arb.asin,
    "acos": arb.acos,
    "atan": arb.atan,
    "sinh": arb.sinh,
    "cosh": arb.cosh,
    "tanh": arb.tanh,
    "asinh": arb.asinh,
    "acosh": arb.acosh,
    "atanh": arb.atanh,
    "sigmoid": _sigmoid,
    "erf": arb.erf,
    "erfinv": arb.erfinv,
    "lgamma": _lgamma,
    "digamma": arb.digamma,
    "abs": abs,
    "sign": lambda x: arb(sign_of(x)),
    "floor": _floor,
    "round": _round,
}
# Whether all numbers of a ball are outside the domain of a function.
_OUTSIDE: dict[str, Callable[[arb], bool]] = {
    "log": lambda x: x <= 0,
    "asin": lambda x: abs(x) > 1,
    "acos": lambda x: abs(x) > 1,
    "atanh": lambda x: abs(x) >= 1,
    "erfinv": lambda x: abs(x) >= 1,
    "acosh": lambda x: x < 1,
    "lgamma": lambda x: x <= 0 and x.is_integer(),
    "digamma": lambda x: x <= 0 and x.is_integer(),
}


def function_of(function: str, argument: arb) -> arb:
    """The ball of an elementary function's values on a ball.

    Raises:
        Undefined: the ball lies outside the domain, or is too wide to tell.
    """
    if function in _OUTSIDE and _OUTSIDE[function](argument):
        raise Undefined(Reason.DOMAIN)
    value = _FUNCTIONS[function](argument)
    if not value.is_finite():
        raise Undefined(Reason.UNDECIDED)
    return value


class Balls(ObjectScalars):
    """Balls of a working precision in bits. A comparison of numbers whose balls overlap is undecided."""

    name = "balls"

    def __init__(self, precision: int = 128) -> None:
        self.precision = precision

    @contextlib.contextmanager
    def computing(self) -> Iterator[None]:
        with ctx.workprec(self.precision):
            yield

    def constant(self, value: Fraction) -> arb:
        return ball_of(value)

    def pi(self) -> arb:
        return arb.pi()

    def given(self, value: Any) -> arb:
        return ball_of(value)

    def power_of(self, base: Any, exponent: Fraction) -> arb:
        return power_of(base, exponent)

    def function_of(self, function: str, argument: Any) -> arb:
        return function_of(function, argument)

    def sign_of(self, value: Any) -> int:
        return sign_of(value)

    def greatest(self, left: Array, right: Array) -> tuple[Array, Reasons]:
        """The greater of numbers, which has a ball also where it is undecided which one it is."""
        import numpy as np

        greater = np.frompyfunc(lambda a, b: a.max(b), 2, 1)
        return np.asarray(greater(left, right), dtype=object), None
