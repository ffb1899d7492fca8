"""Masks say what True means, and one that leaves nothing to attend to is refused before torch makes NaN of it."""

from __future__ import annotations

import math
import pickle
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from shaped.errors import DtypeError, ShapeError
from shaped.runtime.data import NothingToAttendError, causal_mask, combine_masks, padding_mask, require_attendable
from shaped.runtime.data.masks import TrueMeans

BOTH: list[TrueMeans] = ["keep", "mask"]
LENGTHS = torch.tensor([3, 1, 2])


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(0, 3))
def test_a_padding_mask_keeps_what_is_before_the_end(lengths: list[int], more: int) -> None:
    max_len = max(lengths) + more
    keep = padding_mask(torch.tensor(lengths), max_len, true_means="keep")
    assert keep.dtype == torch.bool
    assert keep.shape == (len(lengths), 1, max_len)
    for row, position in product(range(len(lengths)), range(max_len)):
        assert keep[row, 0, position].item() == (position < lengths[row])
    assert torch.equal(padding_mask(torch.tensor(lengths), max_len, true_means="mask"), ~keep)


@given(st.integers(1, 7))
def test_a_causal_mask_keeps_what_is_not_later(n: int) -> None:
    keep = causal_mask(n, true_means="keep")
    assert keep.dtype == torch.bool
    assert keep.shape == (1, n, n)
    for query, key in product(range(n), range(n)):
        assert keep[0, query, key].item() == (key <= query)
    assert torch.equal(causal_mask(n, true_means="mask"), ~keep)


def test_keep_is_the_polarity_of_scaled_dot_product_attention() -> None:
    q, k, v = random(3, 3, 4), random(3, 3, 4), random(3, 3, 4)
    masked = F.scaled_dot_product_attention(q, k, v, padding_mask(LENGTHS, 3, true_means="keep"))
    for row, length in enumerate(LENGTHS.tolist()):
        alone = F.scaled_dot_product_attention(q[row : row + 1], k[row : row + 1, :length], v[row : row + 1, :length])
        # Two kernels of one sum in float32: a few roundings of 2^-24.
        torch.testing.assert_close(masked[row : row + 1], alone, rtol=1e-5, atol=1e-6)
    causal = F.scaled_dot_product_attention(q, k, v, causal_mask(3, true_means="keep"))
    torch.testing.assert_close(causal, F.scaled_dot_product_attention(q, k, v, is_causal=True), rtol=1e-5, atol=1e-6)


def test_mask_is_the_polarity_of_multihead_attention() -> None:
    attention = nn.MultiheadAttention(4, 2, batch_first=True).eval()
    x = random(3, 3, 4)
    padding, causal = padding_mask(LENGTHS, 3, true_means="mask"), causal_mask(3, true_means="mask")
    _, weights = attention(x, x, x, key_padding_mask=padding[:, 0], attn_mask=causal[0])
    masked = combine_masks(padding, causal, true_means="mask")
    assert not weights[masked].any()
    assert weights[~masked].all()


@pytest.mark.parametrize("true_means", BOTH)
def test_masks_combine_to_what_all_of_them_keep(true_means: TrueMeans) -> None:
    padding, causal = padding_mask(LENGTHS, 3, true_means=true_means), causal_mask(3, true_means=true_means)
    combined = combine_masks(padding, causal, true_means=true_means)
    kept = combined if true_means == "keep" else ~combined
    assert kept.shape == (3, 3, 3)
    for row, query, key in product(range(3), repeat=3):
        assert kept[row, query, key].item() == (key <= query and key < LENGTHS[row])
    joined = padding & causal if true_means == "keep" else padding | causal
    assert torch.equal(combined, joined)


@pytest.mark.parametrize("true_means", BOTH)
def test_an_empty_sequence_is_refused_by_its_row(true_means: TrueMeans) -> None:
    with pytest.raises(NothingToAttendError, match=r"batch row 1: the sequence has length 0, and .* NaN") as refused:
        padding_mask(torch.tensor([2, 0]), 2, true_means=true_means)
    assert (refused.value.batch, refused.value.query) == (1, None)


def test_a_row_that_is_refused_is_nan_in_torch() -> None:
    keep = torch.tensor([[[True, True]], [[False, False]]])
    q = random(2, 1, 4)
    scores = torch.zeros(2, 1, 2).masked_fill(~keep, -math.inf)
    assert scores.softmax(-1).isnan()[1].all()
    attention = nn.MultiheadAttention(4, 1, batch_first=True).eval()
    out, _ = attention(q, q.expand(2, 2, 4), q.expand(2, 2, 4), key_padding_mask=~keep[:, 0])
    assert out.isnan()[1].all()
    with pytest.raises(NothingToAttendError, match="batch row 1: everything is masked"):
        require_attendable(keep, true_means="keep")


@pytest.mark.parametrize("true_means", BOTH)
def test_a_query_that_is_left_with_nothing_is_named(true_means: TrueMeans) -> None:
    # Padding in front: the first query would attend to itself alone, which is padding.
    in_front = torch.tensor([[[True, True, True]], [[False, True, True]]])
    padding = in_front if true_means == "keep" else ~in_front
    with pytest.raises(NothingToAttendError, match="batch row 1, query 0: everything is masked") as refused:
        combine_masks(padding, causal_mask(3, true_means=true_means), true_means=true_means)
    assert (refused.value.batch, refused.value.query) == (1, 0)


def test_masks_with_heads_and_masks_of_all_batches_are_looked_through() -> None:
    with_heads = torch.ones(2, 3, 4, 4, dtype=torch.bool)
    assert require_attendable(with_heads, true_means="keep") is with_heads
    with_heads[1, 2, 3] = False
    with pytest.raises(NothingToAttendError, match="batch row 1, query 3"):
        require_attendable(with_heads, true_means="keep")
    for_all = torch.eye(3, dtype=torch.bool)
    assert require_attendable(for_all, true_means="mask") is for_all
    for_all[2] = True
    with pytest.raises(NothingToAttendError, match="batch row 0, query 2"):
        require_attendable(for_all, true_means="mask")


def test_the_error_reaches_the_user_from_a_process_of_a_loader() -> None:
    error = NothingToAttendError(1, 2, "everything is masked")
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.batch, copied.query, str(copied)) == (1, 2, str(error))


@pytest.mark.parametrize("true_means", ["true", True, None, "Keep"])
def test_another_polarity_is_refused(true_means: TrueMeans) -> None:
    mask = torch.ones(1, 1, dtype=torch.bool)
    for make in (
        lambda: padding_mask(LENGTHS, 3, true_means=true_means),
        lambda: causal_mask(3, true_means=true_means),
        lambda: combine_masks(mask, true_means=true_means),
        lambda: require_attendable(mask, true_means=true_means),
    ):
        with pytest.raises(ValueError, match=r"'keep' .scaled_dot_product_attention. or 'mask'"):
            make()


def test_a_polarity_is_always_said() -> None:
    with pytest.raises(TypeError, match="true_means"):
        causal_mask(3)  # type: ignore[call-arg]  # on purpose


def test_lengths_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="the length of batch row 0 is 3, not one from 1 to 2"):
        padding_mask(LENGTHS, 2, true_means="keep")
    with pytest.raises(ValueError, match="the length of batch row 1 is -1"):
        padding_mask(torch.tensor([1, -1]), 2, true_means="keep")
    with pytest.raises(DtypeError, match="padding_mask: float32: lengths are integers"):
        padding_mask(LENGTHS.float(), 3, true_means="keep")
    with pytest.raises(ShapeError, match=r"padding_mask: \(3, 1\): lengths have one dim"):
        padding_mask(LENGTHS[:, None], 3, true_means="keep")
    with pytest.raises(ValueError, match="causal_mask: n is 0"):
        causal_mask(0, true_means="keep")


def test_what_is_no_mask_is_refused() -> None:
    with pytest.raises(DtypeError, match="combine_masks: mask 1 is float32: masks are bool"):
        combine_masks(causal_mask(2, true_means="keep"), torch.zeros(2, 2), true_means="keep")
    with pytest.raises(ValueError, match="there is no mask"):
        combine_masks(true_means="keep")
    with pytest.raises(DtypeError, match="require_attendable: int64: a mask is bool"):
        require_attendable(torch.ones(2, 2).long(), true_means="keep")
    with pytest.raises(ShapeError, match=r"require_attendable: \(2,\): a mask has queries and keys"):
        require_attendable(torch.ones(2, dtype=torch.bool), true_means="keep")
    with pytest.raises(ShapeError, match=r"\(3, 1, 3\) and \(1, 4, 4\): the masks do not broadcast"):
        combine_masks(padding_mask(LENGTHS, 3, true_means="keep"), causal_mask(4, true_means="keep"), true_means="keep")


def test_arrays_and_lists_are_refused_by_name() -> None:
    mask = causal_mask(2, true_means="keep")
    with pytest.raises(TypeError, match=r"padding_mask: lengths is a list: a tensor is needed: torch.tensor"):
        padding_mask([3, 1], 3, true_means="keep")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TypeError, match=r"combine_masks: mask 1 is a ndarray: a tensor is needed: torch.from_numpy"):
        combine_masks(mask, mask.numpy(), true_means="keep")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TypeError, match=r"causal_mask: n is 3.0: a whole number is needed"):
        causal_mask(3.0, true_means="keep")  # type: ignore[arg-type]  # on purpose


def test_masks_are_made_on_the_device_that_is_asked_for() -> None:
    assert causal_mask(2, true_means="keep", device="meta").device.type == "meta"
    assert padding_mask(LENGTHS, 3, true_means="keep", device="meta").device.type == "meta"
