"""Fans of weights and kernels, and the interval of a uniform scheme."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.init.fans import fans, interval, with_fans
from shaped.init.schemes import KaimingUniform, Normal, Scheme, SchemeError, Uniform, XavierUniform, Zeros


@given(st.lists(st.integers(1, 7), min_size=2, max_size=5))
def test_the_fans_of_a_kernel_are_torchs(shape: list[int]) -> None:
    assert fans(shape) == torch.nn.init._calculate_fan_in_and_fan_out(torch.empty(shape))


@pytest.mark.parametrize("shape, axes", [([], r"\(\) has no axes"), ([3], r"\(3,\) has 1 axis")])
@pytest.mark.parametrize("scheme", [XavierUniform(), XavierUniform(2), KaimingUniform()])
def test_a_shape_of_fewer_than_two_axes_has_no_fans(shape: list[int], axes: str, scheme: Scheme) -> None:
    with pytest.raises(SchemeError, match=rf"fans: the shape {axes}: 2 or more \(out, in, ...\) are needed"):
        with_fans(scheme, shape)


@pytest.mark.parametrize("shape", ["32", 3, [3, -2], [3.0, 2.0], None])
def test_what_is_no_shape_has_no_fans(shape) -> None:
    with pytest.raises(SchemeError, match=r"fans: shape is .*: a sequence of ints of 0 or more is needed"):
        fans(shape)


def test_fans_that_are_given_stay_and_need_no_shape() -> None:
    assert with_fans(XavierUniform(fan_in=5), [2, 3, 4]) == XavierUniform(5, 8)
    assert with_fans(XavierUniform(fan_out=5), [2, 3, 4]) == XavierUniform(12, 5)
    assert with_fans(XavierUniform(5, 6), []) == XavierUniform(5, 6)
    assert with_fans(KaimingUniform(5), []) == KaimingUniform(5)


@pytest.mark.parametrize("scheme", [Zeros(), Uniform(), Normal()])
def test_schemes_without_fans_are_left_alone(scheme: Scheme) -> None:
    assert with_fans(scheme, []) is scheme


def test_the_limits_are_those_of_glorot_and_he() -> None:
    assert interval(XavierUniform(3, 2)) == (-math.sqrt(1.2), 2 * math.sqrt(1.2))
    assert interval(KaimingUniform(3)) == (-math.sqrt(2), 2 * math.sqrt(2))
    assert interval(Uniform(-1, 4)) == (-1.0, 5.0)


@pytest.mark.parametrize("scheme", [XavierUniform(0, 0), KaimingUniform(0)])
def test_a_fan_of_zero_gives_the_limit_0(scheme: XavierUniform | KaimingUniform) -> None:
    assert interval(scheme) == (0.0, 0.0)


@pytest.mark.parametrize("scheme", [XavierUniform(), XavierUniform(3), XavierUniform(None, 3), KaimingUniform()])
def test_a_fan_that_is_missing_is_an_error(scheme: XavierUniform | KaimingUniform) -> None:
    with pytest.raises(SchemeError, match="a fan is missing: give it, or a shape to take it from"):
        interval(scheme)
