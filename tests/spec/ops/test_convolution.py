"""Convolutions against torch, over symbolic sizes, and their messages."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.spec.values import TensorType
from tests.spec.ops.modules import (
    check_function,
    message,
    nearly,
    several,
)

small = st.integers(1, 3)


def per_axis(count, values):
    """One value for all axes, or one for each."""
    return st.one_of(values, st.tuples(*[values] * count))


@st.composite
def convolutions(draw, count):
    """The arguments of a convolution and an input that mostly fits."""
    groups = draw(st.integers(1, 2))
    channels, out = groups * draw(small), groups * draw(small)
    options = {
        "kernel_size": draw(per_axis(count, small)),
        "stride": draw(per_axis(count, small)),
        "padding": draw(st.one_of(per_axis(count, st.integers(0, 2)), st.sampled_from(["same", "valid"]))),
        "dilation": draw(per_axis(count, st.integers(1, 2))),
        "groups": draw(st.sampled_from([groups, groups, groups, 3])),
        "bias": draw(st.booleans()),
    }
    batch = draw(st.sampled_from([(), (2,)]))
    input = draw(nearly((*batch, channels, *(draw(st.integers(1, 7)) for _ in range(count)))))
    return (channels, out), options, input


@pytest.mark.parametrize("count", [1, 2, 3])
@several
@given(st.data())
def test_convolution_functions_agree_with_torch(count, data):
    (channels, out), options, input = data.draw(convolutions(count))
    kernel = options["kernel_size"]
    kernel = kernel if isinstance(kernel, tuple) else (kernel,) * count
    weight = torch.zeros(data.draw(nearly((out, channels // options["groups"], *kernel))))
    bias = torch.zeros(data.draw(st.sampled_from([out, out, out + 1]))) if options["bias"] else None
    rest = [options[name] for name in ("stride", "padding", "dilation", "groups")]
    check_function(f"torch.nn.functional.conv{count}d", torch.zeros(input), weight, bias, *rest)


def test_transposed_functions_have_torchs_shape():
    weight = torch.zeros(4, 3, 3, 3)
    for shape in ((2, 4, 5, 6), (4, 5, 6), (2, 3, 5, 6)):
        args = (torch.zeros(shape), weight, torch.zeros(6), 2, 1, 1, 2)
        check_function("torch.nn.functional.conv_transpose2d", *args)


def test_the_message_names_channels():
    image, weight = TensorType.of(1, 4, 45, 64), TensorType.of(16, 3, 3, 3)
    assert message("torch.nn.functional.conv2d", image, weight) == (
        "conv2d: (1, 4, 45, 64) with weight (16, 3, 3, 3): 4 channels in, 3 expected",
        "",
    )
