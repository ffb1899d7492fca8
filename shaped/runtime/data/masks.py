"""Masks for attention, whose polarity is said wherever one is made.

torch has both: `scaled_dot_product_attention` keeps where a mask is True, `nn.MultiheadAttention` and
`nn.Transformer` mask where it is True. A mask of the wrong polarity has the right shape and dtype, so nothing fails.
"""

from __future__ import annotations

from functools import reduce
from typing import Literal, TypeAlias

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from shaped.errors import DtypeError, ShapeError
from shaped.runtime.arguments import require_tensor, require_whole
from shaped.runtime.tensor_types import dtype_name

TrueMeans: TypeAlias = Literal["keep", "mask"]


class NothingToAttendError(ValueError):
    """A row of a mask that lets nothing through: its softmax would be that of -inf alone, NaN.

    Args:
        batch: the number of the row in the batch.
        query: the position that could attend to nothing; None where all of the row's could not.
        reason: how that came about.
    """

    def __init__(self, batch: int, query: int | None, reason: str) -> None:
        self.batch = batch
        self.query = query
        self.reason = reason
        where = f"batch row {batch}" if query is None else f"batch row {batch}, query {query}"
        super().__init__(
            f"{where}: {reason}, and a softmax over nothing is NaN: leave the row out, or give it one position to "
            "attend to"
        )

    def __reduce__(self) -> tuple[type[NothingToAttendError], tuple[int, int | None, str]]:
        return type(self), (self.batch, self.query, self.reason)


def padding_mask(
    lengths: Int[Tensor, "batch"],
    max_len: int,
    *,
    true_means: TrueMeans,
    device: torch.device | str | None = None,
) -> Bool[Tensor, "batch 1 {max_len}"]:
    """Which positions are of a sequence, and which are padding behind its end.

    Queries are the dim of 1, for all of them alike. With heads, `mask[:, None]` is `(batch, 1, 1, max_len)`;
    `nn.MultiheadAttention` takes `mask[:, 0]` as its `key_padding_mask`.

    Args:
        lengths: the length of each sequence, as `pad_sequence` gives them.
        max_len: how long the padded sequences are: `padded.shape[1]`.
        true_means: "keep" for `scaled_dot_product_attention`, "mask" for `nn.MultiheadAttention`.
        device: where the mask is made; by default where `lengths` are.

    Raises:
        NothingToAttendError: a sequence has length 0.
        ValueError: a length is negative or above `max_len`, or `true_means` is neither of the two.
        TypeError: `lengths` is no tensor, or `max_len` no whole number.
        shaped.errors.Fault: `lengths` are no integers of one dim.

    >>> padding_mask(torch.tensor([3, 1]), 3, true_means="keep").int().tolist()
    [[[1, 1, 1]], [[1, 0, 0]]]
    >>> padding_mask(torch.tensor([3, 1]), 3, true_means="mask").int().tolist()
    [[[0, 0, 0]], [[0, 1, 1]]]
    """
    _require_polarity("padding_mask", true_means)
    require_tensor("padding_mask: lengths", lengths)
    max_len = require_whole("padding_mask: max_len", max_len)
    if lengths.dim() != 1:
        raise ShapeError("padding_mask", "lengths have one dim, (batch,)", f"{tuple(lengths.shape)}")
    if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool:
        raise DtypeError("padding_mask", "lengths are integers", dtype_name(lengths.dtype))
    found: list[int] = lengths.tolist()
    for row, length in enumerate(found):
        if length == 0:
            raise NothingToAttendError(row, None, "the sequence has length 0")
        if not 0 < length <= max_len:
            raise ValueError(f"padding_mask: the length of batch row {row} is {length}, not one from 1 to {max_len}")
    lengths = lengths if device is None else lengths.to(device)
    keep = (torch.arange(max_len, device=lengths.device) < lengths[:, None])[:, None]
    return keep if true_means == "keep" else ~keep


def causal_mask(
    n: int, *, true_means: TrueMeans, device: torch.device | str | None = None
) -> Bool[Tensor, "1 {n} {n}"]:
    """Which keys (last dim) each query (dim before it) may attend to: itself and those before it.

    `nn.MultiheadAttention` takes `mask[0]` as its `attn_mask`.

    Args:
        n: how many positions there are.
        true_means: "keep" for `scaled_dot_product_attention`, "mask" for `nn.MultiheadAttention`.
        device: where the mask is made.

    >>> causal_mask(3, true_means="keep").int().tolist()
    [[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]
    """
    _require_polarity("causal_mask", true_means)
    n = require_whole("causal_mask: n", n)
    if n < 1:
        raise ValueError(f"causal_mask: n is {n}: 1 position or more is needed")
    keep = torch.ones(1, n, n, dtype=torch.bool, device=device).tril()
    return keep if true_means == "keep" else ~keep


def combine_masks(*masks: Bool[Tensor, "..."], true_means: TrueMeans) -> Bool[Tensor, "..."]:
    """The mask that keeps what all of some masks keep: their `&` where True keeps, their `|` where True masks.

    Args:
        masks: masks of one polarity, whose shapes broadcast: `(batch, 1, len)` and `(1, n, n)` give `(batch, n, n)`.
        true_means: the polarity of the masks and of the result.

    Raises:
        NothingToAttendError: nothing is left for a query: see `require_attendable`.
        TypeError: a mask is no tensor.
        shaped.errors.Fault: a mask is not bool, or the shapes do not broadcast.

    >>> padding = padding_mask(torch.tensor([1, 2]), 2, true_means="keep")
    >>> combine_masks(padding, causal_mask(2, true_means="keep"), true_means="keep").int().tolist()
    [[[1, 0], [1, 0]], [[1, 0], [1, 1]]]
    """
    _require_polarity("combine_masks", true_means)
    if not masks:
        raise ValueError("combine_masks: there is no mask")
    for number, mask in enumerate(masks):
        if require_tensor(f"combine_masks: mask {number}", mask).dtype != torch.bool:
            raise DtypeError("combine_masks", "masks are bool", f"mask {number} is {dtype_name(mask.dtype)}")
    try:
        torch.broadcast_shapes(*(mask.shape for mask in masks))  # type: ignore[no-untyped-call]  # torch's own
    except RuntimeError:
        shapes = " and ".join(str(tuple(mask.shape)) for mask in masks)
        raise ShapeError("combine_masks", "the masks do not broadcast", shapes) from None
    combined = reduce(torch.logical_and if true_means == "keep" else torch.logical_or, masks)
    return require_attendable(combined, true_means=true_means)


def require_attendable(mask: Bool[Tensor, "..."], *, true_means: TrueMeans) -> Bool[Tensor, "..."]:
    """The mask itself, in which each query can attend to something.

    One that cannot is NaN in torch, by `masked_fill` and `softmax` and by `nn.MultiheadAttention`; newer versions of
    `scaled_dot_product_attention` give 0. On a GPU this waits for the mask.

    Args:
        mask: `(batch, queries, keys)`, with heads `(batch, heads, queries, keys)`, for all batches `(queries, keys)`.
        true_means: "keep" for `scaled_dot_product_attention`, "mask" for `nn.MultiheadAttention`.

    Raises:
        NothingToAttendError: a query cannot; the first one is named.

    >>> require_attendable(torch.tensor([[[True, False]], [[False, False]]]), true_means="keep")
    Traceback (most recent call last):
    shaped.runtime.data.masks.NothingToAttendError: batch row 1: everything is masked, and a softmax over nothing is \
NaN: leave the row out, or give it one position to attend to
    """
    _require_polarity("require_attendable", true_means)
    if require_tensor("require_attendable: mask", mask).dtype != torch.bool:
        raise DtypeError("require_attendable", "a mask is bool", dtype_name(mask.dtype))
    if mask.dim() < 2:
        raise ShapeError(
            "require_attendable", "a mask has queries and keys, (..., queries, keys)", f"{tuple(mask.shape)}"
        )
    is_stuck = ~mask.any(-1) if true_means == "keep" else mask.all(-1)
    if bool(is_stuck.any()):
        place = is_stuck.nonzero()[0].tolist()
        batch = place[0] if mask.dim() > 2 else 0
        row = is_stuck[batch] if mask.dim() > 2 else is_stuck
        raise NothingToAttendError(batch, None if bool(row.all()) else place[-1], "everything is masked")
    return mask


def _require_polarity(operation: str, true_means: str) -> None:
    if true_means not in ("keep", "mask"):
        raise ValueError(
            f"{operation}: true_means is {true_means!r}: 'keep' (scaled_dot_product_attention) or 'mask' "
            "(nn.MultiheadAttention) is needed"
        )
