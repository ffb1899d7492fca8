"""The modules of norms against torch, and their messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.modules import (
    B,
    C,
    H,
    T,
    W,
    check_module,
    constructor_message,
    make,
    message,
    module_message,
    nearly,
    several,
    sizes,
)

more_than_one = st.integers(2, 4)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("kind", ["BatchNorm", "InstanceNorm", "LazyBatchNorm"])
@several
@given(st.data(), sizes, st.booleans(), st.booleans())
def test_norms_of_channels_agree_with_torch(kind, count, data, channels, affine, tracked):
    batch = data.draw(st.sampled_from([(2,), (3,), ()]))
    input = data.draw(nearly((*batch, channels, *(data.draw(more_than_one) for _ in range(count)))))
    options = () if kind.startswith("Lazy") else (channels,)
    check_module(
        f"torch.nn.{kind}{count}d", *options, affine=affine, track_running_stats=tracked, training=False, input=input
    )


@pytest.mark.parametrize("kind", ["LayerNorm", "RMSNorm"])
@several
@given(st.data(), st.lists(sizes, min_size=1, max_size=4).map(tuple))
def test_norms_of_trailing_axes_agree_with_torch(kind, data, shape):
    first = data.draw(st.integers(0, len(shape) - 1))
    wanted = data.draw(st.sampled_from([shape[first:], shape[-1]]))
    check_module(f"torch.nn.{kind}", wanted, input=data.draw(nearly(shape)))


@several
@given(st.data(), st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_group_norm_agrees_with_torch(data, groups, each, affine):
    channels = data.draw(st.sampled_from([groups * each, groups * each, 5]))
    input = data.draw(nearly((2, groups * each, 3)))
    check_module("torch.nn.GroupNorm", groups, channels, affine=affine, input=input)


@several
@given(st.data())
def test_local_response_norm_agrees_with_torch(data):
    check_module("torch.nn.LocalResponseNorm", 2, input=data.draw(nearly((2, 3, 4))))


def test_norms_keep_symbolic_shapes():
    image = TensorType.of(B, C, H, W)
    for made in (make("torch.nn.BatchNorm2d", C), make("torch.nn.GroupNorm", 1, C), make("torch.nn.LayerNorm", W)):
        assert str(made.call(Context(), [image], {})) == "(b, c, h, w)"


def test_a_norm_tells_the_size_of_an_axis_that_was_not_followed():
    unknown = TensorType.of(B, Context().fresh(), H, W)
    assert str(make("torch.nn.BatchNorm2d", 64).call(Context(), [unknown], {})) == "(b, 64, h, w)"
    known = make("torch.nn.LayerNorm", 64).call(Context(), [UNKNOWN], {})
    assert known.shape.at(-1) == 64


def test_a_caller_may_choose_sizes_that_groups_divide():
    channels = Dim.quantity("channels")
    made = make("torch.nn.GroupNorm", 32, channels)
    assert made.num_channels == channels


def test_the_messages_name_the_axis_and_the_size():
    line = make("torch.nn.BatchNorm1d", 24)
    assert module_message(line, TensorType.of(B, T, 24)) == (
        "batch_norm: (b, t, 24) with 24 features: axis 1 is t, 24 expected",
        ".transpose(1, 2)?",
    )
    image = make("torch.nn.BatchNorm2d", 64)
    assert module_message(image, TensorType.of(B, 32, 32, 64)) == (
        "batch_norm: (b, 32, 32, 64) with 64 features: axis 1 is 32, 64 expected",
        ".permute(0, 3, 1, 2)?",
    )
    assert module_message(image, TensorType.of(B, 64))[0] == "batch_norm: (b, 64): 2 axes, 4 expected"
    layer = make("torch.nn.LayerNorm", 64)
    assert module_message(layer, TensorType.of(B, 64, 49)) == (
        "layer_norm: (b, 64, 49) with normalized shape (64,): axis -1 is 49, 64 expected",
        ".transpose(1, 2)?",
    )
    assert message("torch.nn.functional.group_norm", TensorType.of(B, 6), Dim.of(4))[0] == (
        "group_norm: (b, 6): 6 channels do not divide into 4 groups"
    )
    assert constructor_message("torch.nn.GroupNorm", 4, 6) == "nn.GroupNorm: 6 channels do not divide into 4 groups"
