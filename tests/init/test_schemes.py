"""A scheme that means nothing is refused when it is made, by the name of what is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from shaped.init.schemes import KaimingUniform, Normal, Ones, Scheme, SchemeError, Uniform, XavierUniform, Zeros

WRONG: list[tuple[Callable[[], Scheme], str]] = [
    (lambda: Uniform(2, 1), "Uniform: low is 2, high is 1: low <= high is needed"),
    (lambda: Uniform(math.nan, 1), "Uniform: low is nan: a finite number is needed"),
    (lambda: Uniform(0, math.inf), "Uniform: high is inf: a finite number is needed"),
    (lambda: Uniform(-1e308, 1e308), "Uniform: high - low overflows, low is -1e+308, high is 1e+308"),
    (lambda: Uniform(0, 10**400), f"Uniform: high is {10**400}: a finite number is needed"),
    (lambda: Uniform("0", 1), "Uniform: low is '0': a finite number is needed"),
    (lambda: Uniform(False, 1), "Uniform: low is False: a finite number is needed"),
    (lambda: Uniform(0, Fraction(1, 2)), "Uniform: high is Fraction(1, 2): a finite number is needed"),
    (lambda: Normal(std=-0.5), "Normal: std is -0.5: 0 or more is needed"),
    (lambda: Normal(std=math.nan), "Normal: std is nan: a finite number is needed"),
    (lambda: Normal(mean=math.inf), "Normal: mean is inf: a finite number is needed"),
    (lambda: Normal(mode="clamp"), "Normal: mode is 'clamp': one of mixed, clamped, unmixed is needed"),
    (lambda: XavierUniform(fan_in=-1), "XavierUniform: fan_in is -1: an int of 0 or more is needed"),
    (lambda: XavierUniform(3, 1.5), "XavierUniform: fan_out is 1.5: an int of 0 or more is needed"),
    (lambda: KaimingUniform(True), "KaimingUniform: fan_in is True: an int of 0 or more is needed"),
]


@pytest.mark.parametrize("make, message", WRONG, ids=[message[:60] for _, message in WRONG])
def test_a_scheme_that_means_nothing_is_refused(make: Callable[[], Scheme], message: str) -> None:
    with pytest.raises(SchemeError) as raised:
        make()
    assert str(raised.value) == message


@pytest.mark.parametrize(
    "scheme", [Zeros(), Ones(), Uniform(1, 1), Uniform(-0.0, 0), Normal(std=0), XavierUniform(0, 0), KaimingUniform()]
)
def test_the_edges_of_what_means_something_are_allowed(scheme: Scheme) -> None:
    assert scheme == eval(repr(scheme))
    assert hash(scheme) == hash(eval(repr(scheme)))


def test_schemes_are_compared_by_what_they_mean() -> None:
    assert Uniform(0, 1) == Uniform()
    assert Uniform() != Normal()
    assert Normal() != Normal(mode="clamped")
