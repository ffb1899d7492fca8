"""What a caller may have meant: the one small change that makes a refused array fit."""

from __future__ import annotations

import sys

from shaped.runtime.checked import reference
from shaped.runtime.checked.hints import Array, is_for_tensors
from shaped.runtime.checked.reference import Bound
from shaped.spec.annotation import NamedPack


def fix_of_shape(hint: Array, sizes: tuple[int, ...], path: str, bound: Bound) -> str:
    """An expression that fits where the array of `path` does not; empty where none or several would.

    Args:
        hint: the annotation.
        sizes: the shape that does not fit.
        path: the array in the user's words; only an argument has an expression.
        bound: what names stand for before it.
    """
    name = path.removeprefix("argument ")
    if name == path:
        return ""
    candidates = {f"{name}[None]": (1, *sizes), f"{name}[..., None]": (*sizes, 1)}
    if len(sizes) >= 2:
        candidates[f"{name}.mT"] = (*sizes[:-2], sizes[-1], sizes[-2])
    if sizes[:1] == (1,):
        candidates[f"{name}.squeeze(0)"] = sizes[1:]
    if len(sizes) >= 2 and sizes[-1] == 1:
        candidates[f"{name}.squeeze(-1)"] = sizes[:-1]
    fitting = [text for text, shape in candidates.items() if _fits(hint, shape, bound)]
    return f"{fitting[0]}?" if len(fitting) == 1 else ""


def _fits(hint: Array, sizes: tuple[int, ...], bound: Bound) -> bool:
    index = hint.pack_index
    if len(sizes) != len(hint.axes) if index is None else len(sizes) < len(hint.axes) - 1:
        return False
    attempt = bound.copy()
    pairs, pack, middle = reference.facing(hint, sizes)
    try:
        if not all(reference.check_axis(axis, size, "", attempt) for _, axis, size in pairs):
            return False
    except Exception:  # whatever the arithmetic of an axis raises, the shape does not fit
        return False
    if not isinstance(pack, NamedPack):
        return True
    return reference.joined_packs(attempt.packs.get(pack.name), pack.broadcastable, middle) is not None


def fix_of_dtype(hint: Array, path: str) -> str:
    """An expression of a dtype that the annotation allows; empty where it is not clear which."""
    name = path.removeprefix("argument ")
    allowed = [dtype for dtype in hint.hint.dtypes if isinstance(dtype, str)]
    if name == path or not is_for_tensors(hint):
        return ""
    if len(allowed) == 1 and hasattr(sys.modules["torch"], allowed[0]):
        return f"{name}.to(torch.{allowed[0]})?"
    return f"{name}.float()?" if "float32" in allowed else ""
