"""Resizing, grids and pixel shuffles against torch, over symbolic sizes, and their messages."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.ops.vision import scaled_size
from shaped.spec.shape import Pack
from shaped.spec.values import UNKNOWN, Ratio, TensorType
from tests.spec.ops.modules import (
    B,
    C,
    H,
    W,
    check_function,
    check_module,
    make,
    message,
    module_message,
    nearly,
    several,
    sizes,
)

MODES = ["nearest", "linear", "bilinear", "bicubic", "trilinear", "area", "nearest-exact"]
factors = st.sampled_from([1, 2, 3, 0.5, 1.5, 2.0, 0.3, 0.1])


@st.composite
def images(draw):
    """A shape with one to three spatial axes, mostly."""
    return draw(nearly((2, 3, *draw(st.lists(sizes, min_size=1, max_size=3)))))


@several
@given(images(), st.data(), st.sampled_from(MODES))
def test_resizing_to_sizes_agrees_with_torch(shape, data, mode):
    count = max(len(shape) - 2, 1)
    size = data.draw(st.one_of(sizes, st.tuples(*[sizes] * count), st.tuples(sizes, sizes)))
    check_module("torch.nn.Upsample", size, mode=mode, input=shape)


@several
@given(images(), st.data(), st.sampled_from(MODES))
def test_resizing_by_factors_agrees_with_torch(shape, data, mode):
    count = max(len(shape) - 2, 1)
    scale = data.draw(st.one_of(factors, st.tuples(*[factors] * count)))
    check_module("torch.nn.Upsample", scale_factor=scale, mode=mode, input=shape)


@several
@given(st.data())
def test_the_named_resizes_of_images_agree_with_torch(data):
    shape = data.draw(nearly((2, 3, 4, 5)))
    check_module("torch.nn.UpsamplingNearest2d", scale_factor=2, input=shape)
    check_module("torch.nn.UpsamplingBilinear2d", (3, 2), input=shape)


def test_a_size_and_a_factor_exclude_each_other():
    image = torch.zeros(1, 2, 3, 4)
    check_function("torch.nn.functional.interpolate", image, size=4, scale_factor=2)
    check_function("torch.nn.functional.interpolate", image)


@several
@given(st.floats(0.01, 8), st.integers(1, 600))
def test_a_factor_of_a_symbolic_size_is_exact_or_unknown(factor, size):
    scaled = scaled_size(Context(), H, factor)
    if not scaled.has_unknown:
        assert scaled.evaluate({H.symbol: size}) == int(float(size * factor))
    assert scaled_size(Context(), Dim.of(size), factor) == int(float(size * factor))


@pytest.mark.parametrize("factor, expected", [(2, "2*h"), (2.0, "2*h"), (0.5, "h//2"), (1.5, "h+h//2"), (0.1, "_")])
def test_factors_of_few_binary_digits_are_followed(factor, expected):
    assert str(scaled_size(Context(), H, Dim.of(factor) if isinstance(factor, int) else factor)) == expected


def test_a_true_quotient_of_sizes_is_not_followed():
    assert scaled_size(Context(), H, Ratio(W, H)).has_unknown


@several
@given(st.data(), sizes, sizes, st.integers(2, 3))
def test_grid_samples_agree_with_torch(data, batch, size, count):
    input = torch.zeros(data.draw(nearly((batch, 3, *(size,) * count))))
    grid = torch.zeros(data.draw(nearly((batch, *(4,) * count, count))))
    check_function("torch.nn.functional.grid_sample", input, grid)


@several
@given(st.data(), sizes, st.integers(2, 3))
def test_affine_grids_agree_with_torch(data, batch, count):
    theta = torch.zeros(data.draw(nearly((batch, count, count + 1))))
    check_function("torch.nn.functional.affine_grid", theta, [batch, 3, *range(4, 4 + count)])


@several
@given(st.data(), st.integers(1, 3), st.integers(1, 4))
def test_pixel_shuffles_agree_with_torch(data, factor, channels):
    leading = data.draw(st.lists(sizes, max_size=2))
    deep = (*leading, channels * factor * factor, 2, 3)
    check_module("torch.nn.PixelShuffle", factor, input=data.draw(nearly(deep)))
    wide = (*leading, channels, 2 * factor, 3 * factor)
    check_module("torch.nn.PixelUnshuffle", factor, input=data.draw(nearly(wide)))


@several
@given(st.data(), st.integers(1, 3))
def test_channel_shuffles_agree_with_torch(data, groups):
    check_module("torch.nn.ChannelShuffle", groups, input=data.draw(nearly((2, 2 * groups, 3))))


def test_shapes_are_formulas_of_the_input_sizes():
    image = TensorType.of(B, 4 * C, H, W)
    assert str(make("torch.nn.PixelShuffle", 2).call(Context(), [image], {})) == "(b, c, 2*h, 2*w)"
    assert str(make("torch.nn.Upsample", scale_factor=2).call(Context(), [image], {})) == "(b, 4*c, 2*h, 2*w)"


def test_what_is_known_of_an_image_of_unknown_rank_is_kept():
    resized = make("torch.nn.Upsample", scale_factor=2, mode="bilinear")
    assert str(resized.call(Context(), [TensorType.of(Pack("batch"), H, W)], {})) == "(_, _, 2*h, 2*w)"
    assert resized.call(Context(), [UNKNOWN], {}).shape.rank == 4
    assert make("torch.nn.Upsample", scale_factor=2).call(Context(), [UNKNOWN], {}).shape.rank is None


def test_the_messages_name_sizes_and_ranks():
    image = TensorType.of(B, 3, H)
    made = make("torch.nn.Upsample", scale_factor=2, mode="bilinear")
    assert module_message(made, image)[0] == "interpolate: (b, 3, h): 3 axes, 4 expected for mode 'bilinear'"
    two = (Dim.of(7), Dim.of(7))
    assert message("torch.nn.functional.interpolate", image, two)[0] == (
        "interpolate: (b, 3, h): 2 sizes given for 1 spatial axes"
    )
    assert module_message(make("torch.nn.PixelShuffle", 2), TensorType.of(B, 3, H, W))[0] == (
        "pixel_shuffle: (b, 3, h, w): 3 channels do not divide by 4"
    )
    grid = TensorType.of(B, H, W, 3)
    assert message("torch.nn.functional.grid_sample", TensorType.of(B, 3, 8, 8), grid)[0] == (
        "grid_sample: input (b, 3, 8, 8), grid (b, h, w, 3): the last axis of the grid is 3, 2 coordinates expected"
    )
