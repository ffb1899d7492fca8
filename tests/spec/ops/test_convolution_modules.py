"""The modules of convolutions against torch, over symbolic sizes, and their messages."""

from __future__ import annotations

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.shape import Pack
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.against_torch import Outcome
from tests.spec.ops.modules import (
    B,
    H,
    W,
    check_module,
    constructor_message,
    make,
    message,
    module_message,
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


def transposed_sizes(count, input, options, extra):
    """The output sizes of a transposed convolution, by the formula."""
    names = ("kernel_size", "stride", "padding", "dilation")
    columns = [options[name] if isinstance(options[name], tuple) else (options[name],) * count for name in names]
    more = extra if isinstance(extra, tuple) else (extra,) * count
    rows = zip(input[-count:], *columns, more, strict=False)
    return [(h - 1) * s - 2 * p + d * (k - 1) + o + 1 for h, k, s, p, d, o in rows]


@pytest.mark.parametrize("count", [1, 2, 3])
@several
@given(st.data())
def test_convolutions_agree_with_torch(count, data):
    channels, options, input = data.draw(convolutions(count))
    mode = data.draw(st.sampled_from(["zeros", "zeros", "reflect", "circular", "replicate"]))
    check_module(f"torch.nn.Conv{count}d", *channels, **options, padding_mode=mode, input=input)


@pytest.mark.parametrize("count", [1, 2, 3])
@several
@given(st.data())
def test_transposed_convolutions_agree_with_torch(count, data):
    channels, options, input = data.draw(convolutions(count))
    if isinstance(options["padding"], str):
        options["padding"] = 0
    extra = data.draw(per_axis(count, st.integers(0, 2)))
    # Whether an output may be empty depends on torch's kernel.
    assume(0 not in transposed_sizes(count, input, options, extra))
    check_module(f"torch.nn.ConvTranspose{count}d", *channels, **options, output_padding=extra, input=input)


@several
@given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 3), st.integers(0, 2), st.integers(0, 14))
def test_the_output_size_of_a_transposed_convolution_may_be_given(size, kernel, stride, padding, wanted):
    input = (torch.zeros(2, 3, size),)
    call = {"output_size": [wanted]}
    check_module("torch.nn.ConvTranspose1d", 3, 4, kernel, stride, padding, input=input, call=call)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_lazy_convolutions_take_any_channels(count):
    for kind in ("LazyConv", "LazyConvTranspose"):
        shape = (2, 5, *(6,) * count)
        assert check_module(f"torch.nn.{kind}{count}d", 4, 3, input=shape) is Outcome.EXACT


def test_output_sizes_are_formulas_of_the_input_sizes():
    made = make("torch.nn.Conv2d", 3, 16, 3, 2, 1)
    assert str(made.call(Context(), [TensorType.of(B, 3, H, W)], {})) == "(b, 16, ceil(h/2), ceil(w/2))"
    kept = make("torch.nn.Conv2d", 3, 16, 3, padding="same")
    assert str(kept.call(Context(), [TensorType.of(B, 3, H, W)], {})) == "(b, 16, h, w)"
    grown = make("torch.nn.ConvTranspose2d", 3, 16, 2, 2)
    assert str(grown.call(Context(), [TensorType.of(B, 3, H, W)], {})) == "(b, 16, 2*h, 2*w)"


def test_a_kernel_and_padding_that_were_not_followed_leave_the_rank():
    made = make("torch.nn.Conv2d", 3, 16, UNKNOWN, padding=UNKNOWN)
    assert str(made.call(Context(), [TensorType.of(B, 3, 32, 32)], {})) == "(b, 16, _, _)"


def test_an_input_of_unknown_rank_keeps_channels_and_known_sizes():
    made = make("torch.nn.Conv2d", 3, 16, 3)
    assert str(made.call(Context(), [UNKNOWN], {})).startswith("(..., 16, ")
    assert str(made.call(Context(), [TensorType.of(Pack("batch"), 3, 8, 8)], {})) == "(*batch, 16, 6, 6)"


def test_half_the_kernel_as_padding_keeps_an_odd_kernels_input_size():
    k = Dim.quantity("k", low=1)
    made = make("torch.nn.Conv1d", 3, 4, 2 * k + 1, padding=k)
    assert str(made.call(Context(), [TensorType.of(B, 3, W)], {})) == "(b, 4, w)"


def test_the_weight_has_torchs_shape():
    for name, groups in (("torch.nn.Conv2d", 2), ("torch.nn.ConvTranspose2d", 2)):
        real = getattr(torch.nn, name.rpartition(".")[2])(4, 6, (2, 3), groups=groups)
        assert [dim.constant for dim in make(name, 4, 6, (Dim.of(2), Dim.of(3)), groups=2).weight.shape.dims] == list(
            real.weight.shape
        )


def test_the_messages_name_channels_and_sizes():
    image, weight = TensorType.of(1, 4, 45, 64), TensorType.of(16, 3, 3, 3)
    text = "conv2d: (1, 4, 45, 64) with weight (16, 3, 3, 3): 4 channels in, 3 expected"
    assert message("torch.nn.functional.conv2d", image, weight) == (text, "")
    made = make("torch.nn.Conv2d", 3, 16, 3)
    assert module_message(made, TensorType.of(B, 32, 32, 3)) == (
        "conv2d: (b, 32, 32, 3) with weight (16, 3, 3, 3): 32 channels in, 3 expected",
        ".permute(0, 3, 1, 2)?",
    )
    line = make("torch.nn.Conv1d", 3, 16, 3)
    assert module_message(line, TensorType.of(B, 100, 3))[1] == ".transpose(1, 2)?"
    assert module_message(made, TensorType.of(B, 3, 2, 8))[0] == (
        "conv2d: (b, 3, 2, 8) with weight (16, 3, 3, 3): the kernel spans 3, the padded input has 2"
    )
    assert module_message(made, TensorType.of(B, 3))[0] == (
        "conv2d: (b, 3) with weight (16, 3, 3, 3): 2 axes, 3 or 4 expected"
    )
    assert constructor_message("torch.nn.Conv2d", 3, 16, 3, groups=2) == (
        "nn.Conv2d: in_channels 3 is not divisible by groups 2"
    )
    assert constructor_message("torch.nn.Conv2d", 3, 16, 3, stride=2, padding="same") == (
        "nn.Conv2d: padding 'same' needs stride 1"
    )
