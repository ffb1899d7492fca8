"""Norms against torch, and their messages."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.spec.dims import Dim
from shaped.spec.values import TensorType
from tests.spec.ops.modules import (
    B,
    check_function,
    message,
    nearly,
    several,
    sizes,
)


@several
@given(st.data(), sizes, st.booleans())
def test_batch_norm_checks_each_statistic(data, channels, training):
    input = torch.zeros(2, channels, 3)
    named = ("running_mean", "running_var", "weight", "bias")
    given_tensors = {name: torch.zeros(data.draw(nearly((channels,)))) for name in named}
    check_function("torch.nn.functional.batch_norm", input, **given_tensors, training=training)


def test_one_value_for_each_channel_has_no_variance_in_training():
    mean = torch.zeros(3)
    check_function("torch.nn.functional.batch_norm", torch.zeros(1, 3, 1), mean, mean, training=True)
    check_function("torch.nn.functional.batch_norm", torch.zeros(1, 3, 1), mean, mean, training=False)
    check_function("torch.nn.functional.instance_norm", torch.zeros(2, 3, 1))


@several
@given(st.data(), sizes, sizes)
def test_layer_norm_checks_its_parameters(data, length, features):
    shape = data.draw(st.sampled_from([[features], [length, features]]))
    weight, bias = torch.zeros(data.draw(nearly(tuple(shape)))), torch.zeros(shape)
    check_function("torch.nn.functional.layer_norm", torch.zeros(2, length, features), shape, weight, bias)
    check_function("torch.nn.functional.rms_norm", torch.zeros(2, length, features), shape, weight)


@several
@given(st.data(), st.integers(1, 3), st.integers(1, 3))
def test_group_norm_divides_its_channels(data, groups, each):
    input = torch.zeros(data.draw(nearly((2, groups * each, 3))))
    weight = torch.zeros(data.draw(nearly((groups * each,))))
    check_function("torch.nn.functional.group_norm", input, groups, weight)


def test_the_message_names_the_axis_and_the_sizes():
    sizes_given = (Dim.of(64),)
    assert message("torch.nn.functional.layer_norm", TensorType.of(B, 64, 49), sizes_given) == (
        "layer_norm: (b, 64, 49) with normalized shape (64,): axis -1 is 49, 64 expected",
        ".transpose(1, 2)?",
    )
