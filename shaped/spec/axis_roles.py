"""What an axis stands for, as its name in an annotation says: batch, heads, sequence.

The rules for code that runs and is wrong need it where the shapes fit either way: a softmax over the batch, a sequence
given batch first to a module that wants it second. A name counts only if practically everybody means the same by it;
`n`, `k` or `m` say nothing. Letters are read beside the other axes: `h` is a number of heads in (b, h, t, d), a height
in (b, c, h, w), a width of features in (b, t, h).
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final

from shaped.spec.atoms import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.spec.shape import Axis


class Role(enum.Enum):
    """What an axis stands for."""

    BATCH = "batch"
    HEAD = "head"
    SEQUENCE = "sequence"


_BATCH: Final = frozenset(
    ["b", "bs", "bsz", "bsize", "batch", "batchsize", "batches", "nbatch", "nbatches", "minibatch"]
)
_HEAD: Final = frozenset(["head", "heads", "nh", "nhead", "nheads", "numheads", "kvheads", "qheads", "attentionheads"])
_SEQUENCE: Final = frozenset(
    [
        *("t", "time", "times", "timestep", "timesteps", "step", "steps"),
        *("seq", "seqlen", "seqlength", "sequence", "sequencelength", "length", "maxlen", "maxlength", "len"),
        *("token", "tokens", "ntokens", "numtokens", "pos", "position", "positions", "frame", "frames", "nframes"),
        *("src", "srclen", "tgt", "tgtlen", "trg", "trglen", "qlen", "klen", "kvlen"),
    ]
)
# Single letters that are a sequence only beside a named batch, and not as the last axis: (b, s, d).
_SEQUENCE_BESIDE_BATCH: Final = frozenset(["s", "l"])
_WIDTHS: Final = frozenset(["w", "width"])


def roles(axes: Sequence[Axis]) -> tuple[Role | None, ...]:
    """What each axis stands for; None where its name does not say it.

    >>> from shaped.spec.shape import Shape
    >>> from shaped.spec.dims import Dim
    >>> [role and role.value for role in roles(Shape.of(*map(Dim.name, ("b", "h", "t", "d"))).axes)]
    ['batch', 'head', 'sequence', None]
    """
    names = [_name(axis) for axis in axes]
    found = [_role(name, names) for name in names]
    for place, name in enumerate(names):
        is_last = place == len(names) - 1
        if name in _SEQUENCE_BESIDE_BATCH and Role.BATCH in found and not is_last:
            found[place] = Role.SEQUENCE
        elif name == "h" and len(names) > 3 and Role.BATCH in found and not is_last and not _WIDTHS & set(names):
            found[place] = Role.HEAD
    return tuple(found)


def _role(name: str, names: Sequence[str]) -> Role | None:
    if name in _BATCH:
        return Role.BATCH
    if name in _HEAD:
        return Role.HEAD
    return Role.SEQUENCE if name in _SEQUENCE else None


def _name(axis: Axis) -> str:
    """The name of an axis in an annotation, without capitals and underscores; empty if it has none."""
    symbol = getattr(axis, "symbol", None)
    if symbol is None or symbol.kind is not Kind.NAME:
        return ""
    return str(symbol.name).lower().replace("_", "")
