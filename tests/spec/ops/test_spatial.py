"""The parts of an image's shape."""

from __future__ import annotations

import pytest

from shaped.errors import ShapeError
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import find_op
from shaped.spec.ops.spatial import channels_last_hint, split_spatial
from shaped.spec.shape import Pack
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.modules import B, C, H, W

ANY = Pack("any")


def parts(*axes, batched=False):
    """The parts of a shape with two spatial axes."""
    return split_spatial(Context(), "op", TensorType.of(*axes), 2, batched=batched)


def test_batched_and_single_images_have_the_same_parts():
    for leading in ((B,), ()):
        found = parts(*leading, C, H, W)
        assert (found.leading, found.channels, found.sizes) == (leading, C, (H, W))


def test_a_pack_before_the_channels_stays():
    found = parts(ANY, C, H, W)
    assert (found.leading, found.channels, found.sizes) == ((ANY,), C, (H, W))


def test_a_pack_that_hides_the_channels_keeps_the_sizes_behind_it():
    found = parts(B, ANY, W)
    assert found.channels is None
    assert found.sizes[1] == W
    assert found.sizes[0].has_unknown


def test_a_batch_axis_that_has_to_be_there_makes_the_rank_known():
    found = parts(B, ANY, W, batched=True)
    assert found.leading == (B,)
    assert found.channels is not None
    assert len(found.shape(C, (H, W)).dims) == 4


def test_a_pack_is_empty_where_all_axes_are_there():
    assert parts(B, C, ANY, H, W).shape(C, (H, W)).dims == (B, C, H, W)


@pytest.mark.parametrize("axes", [(H, W), (B, B, C, H, W), (B, B, C, H, W, ANY)])
def test_other_numbers_of_axes_are_refused(axes):
    with pytest.raises(ShapeError, match="axes, 3 or 4 expected"):
        parts(*axes)


def test_a_missing_batch_axis_has_a_hint():
    with pytest.raises(ShapeError) as caught:
        parts(C, H, W, batched=True)
    assert caught.value.hint == ".unsqueeze(0)?"


def test_the_hint_for_channels_last_is_silent_in_doubt():
    found = parts(B, H, W, Dim.of(3))
    assert channels_last_hint(found, Dim.of(3), 4) == ".permute(0, 3, 1, 2)?"
    assert channels_last_hint(found, Dim.of(4), 4) == ""
    assert channels_last_hint(found, Dim.of(3), None) == ""


def test_pairs_repeat_one_value():
    pair = find_op("torch.nn.modules.utils._pair")
    assert pair.apply(Context(), [Dim.of(3)], {}) == (Dim.of(3), Dim.of(3))
    assert pair.apply(Context(), [(H, W)], {}) == (H, W)
    assert pair.apply(Context(), [UNKNOWN], {}) is UNKNOWN
