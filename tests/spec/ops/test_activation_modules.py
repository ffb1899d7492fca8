"""Modules of one function against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.op import MODULES
from shaped.spec.ops.activation_modules import Elementwise
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.against_torch import Outcome
from tests.spec.ops.modules import B, T, check_module, make, module_message, nearly, several, sizes

shapes = st.lists(sizes, min_size=1, max_size=4).map(tuple)
ELEMENTWISE = sorted(name for name, kind in MODULES.items() if issubclass(kind, Elementwise))


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_modules_keep_the_shape(name):
    assert check_module(name, input=(2, 3, 4)) is Outcome.EXACT


def test_there_are_as_many_elementwise_modules_as_torch_has():
    assert len(ELEMENTWISE) == 27


@several
@given(shapes, st.integers(-4, 4))
def test_functions_along_an_axis_agree_with_torch(shape, axis):
    for name in ("Softmax", "Softmin", "LogSoftmax"):
        check_module(f"torch.nn.{name}", axis, input=shape)


@several
@given(st.data(), st.integers(-3, 3))
def test_glu_halves_its_axis_as_torch_does(data, axis):
    check_module("torch.nn.GLU", axis, input=data.draw(nearly((2, 4, 6))))


@several
@given(st.data(), st.integers(1, 4))
def test_prelu_has_a_slope_for_each_channel(data, count):
    check_module("torch.nn.PReLU", count, input=data.draw(nearly((2, count, 3))))


@several
@given(st.data())
def test_softmax_over_channels_takes_images(data):
    check_module("torch.nn.Softmax2d", input=data.draw(nearly((2, 3, 4, 5))))


def test_the_identity_takes_any_arguments():
    check_module("torch.nn.Identity", 3, x=4, input=(2, 3))
    assert make("torch.nn.Identity", 1).call(Context(), [UNKNOWN], {}) is UNKNOWN
    check_module("torch.nn.Threshold", 0.5, 1.0, input=(2, 3))


def test_the_messages_are_those_of_the_functions():
    made = make("torch.nn.Softmax", 2)
    text, _ = module_message(made, TensorType.of(B, T))
    assert text == "softmax: (b, t): dim 2 is out of range for 2 axes"
    assert (
        module_message(make("torch.nn.Softmax2d"), TensorType.of(B, T))[0]
        == "softmax2d: (b, t): 2 axes, 3 or 4 expected"
    )


def test_slopes_are_a_parameter():
    assert str(make("torch.nn.PReLU", 8).weight) == "(8,)"
    assert tuple(torch.nn.PReLU(8).weight.shape) == (8,)
