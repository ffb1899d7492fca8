"""What autograd keeps of a call for its backward: the inputs that the backward takes, and how the others looked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from shaped.runtime.custom_grad.autocast import Autocast
from shaped.runtime.custom_grad.layout import Layout, Like, Saved


def save(ctx: Any, layout: Layout, flat: Sequence[Any], owners: Sequence[int] | None, state: Autocast | None) -> None:
    """Keep a row of inputs for the backward.

    Args:
        ctx: autograd's context of the call.
        layout: how the inputs lie in the row.
        flat: the inputs.
        owners: the inputs that the backward takes; None for all.
        state: the autocast that the forward is in.
    """
    if owners is None and layout.is_tensors_only:
        ctx.save_for_backward(*flat)
        ctx.saved = Saved(layout, (), layout.tensors, state) if state else layout.all_kept
        return
    kept = tuple(
        place
        for place in layout.tensors
        if flat[place] is not None and (owners is None or layout.owners[place] in owners)
    )
    rest = tuple(
        None if place in kept else Like(value.shape, value.dtype, value.device) if isinstance(value, Tensor) else value
        for place, value in enumerate(flat)
    )
    ctx.save_for_backward(*(flat[place] for place in kept))
    ctx.saved = Saved(layout, rest, kept, state)


def restored(ctx: Any) -> list[Any]:
    """The row again; a `Like` for a tensor that was not kept."""
    saved: Saved = ctx.saved
    tensors = ctx.saved_tensors
    if not saved.rest:
        return list(tensors)
    flat = list(saved.rest)
    for place, tensor in zip(saved.kept, tensors):
        flat[place] = tensor
    return flat
