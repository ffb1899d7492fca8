"""What an axis stands for, as its name in an annotation says: batch, heads, sequence; features and the like.

The rules for code that runs and is wrong need it where the shapes fit either way: a softmax over the batch, a sequence
given batch first to a module that wants it second. A name counts only if practically everybody means the same by it;
`n`, `k` or `m` say nothing. Letters are read beside the other axes: `h` is a number of heads in (b, h, t, d), a height
in (b, c, h, w), a width of features in (b, t, h); `b` is no batch in (a, b).
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
    ["b", "bs", "bsz", "bsize", "batch", "batchsize", "batches", "nbatch", "nbatches", "minibatch", "envs", "numenvs"]
)
_HEAD: Final = frozenset(["head", "heads", "nh", "nhead", "nheads", "numheads", "kvheads", "qheads", "attentionheads"])
_SEQUENCE: Final = frozenset(
    [
        *("t", "time", "times", "timestep", "timesteps", "step", "steps"),
        *("seq", "seqlen", "seqlength", "sequence", "sequencelength", "length", "maxlen", "maxlength", "len"),
        *("token", "tokens", "ntokens", "numtokens", "pos", "position", "positions", "frame", "frames", "nframes"),
        *("ctx", "nctx", "contextlength", "blocksize", "querypos", "keypos"),
        *("src", "srclen", "tgt", "tgtlen", "trg", "trglen", "qlen", "klen", "kvlen"),
    ]
)
# Single letters that are a sequence only beside a named batch, and not as the last axis: (b, s, d).
_SEQUENCE_BESIDE_BATCH: Final = frozenset(["s", "l"])
# Letters that are a sequence in an equation beside others: "bqk,bkd->bqd".
_QUERIES: Final = frozenset(["q", "query", "queries", "s"])
_HEIGHTS: Final = frozenset(["h", "height"])
_WIDTHS: Final = frozenset(["w", "width"])
_CHANNELS: Final = frozenset(["c", "ch", "channel", "channels"])
_FEATURES: Final = _CHANNELS | frozenset(
    ["d", "dmodel", "dhead", "dh", "emb", "embed", "embedding", "feat", "feats", "feature", "hidden", "hiddensize"]
)
_SPECTRUM: Final = frozenset(
    ["f", "freq", "freqs", "nfreq", "nfreqs", "frequency", "frequencies", "mel", "mels", "nmel", "nmels", "bins"]
)
_VOCABULARY: Final = frozenset(["vocab", "vocabsize", "vocabulary", "nvocab", "dvocab"])


def roles(axes: Sequence[Axis]) -> tuple[Role | None, ...]:
    """What each axis stands for; None where its name does not say it.

    >>> from shaped.spec.shape import Shape
    >>> from shaped.spec.dims import Dim
    >>> [role and role.value for role in roles(Shape.of(*map(Dim.name, ("b", "h", "t", "d"))).axes)]
    ['batch', 'head', 'sequence', None]
    """
    names = [name_of(axis) for axis in axes]
    found = [_role(name, names) for name in names]
    for place, name in enumerate(names):
        is_last = place == len(names) - 1
        if name in _SEQUENCE_BESIDE_BATCH and Role.BATCH in found and not is_last:
            found[place] = Role.SEQUENCE
        elif name == "h" and len(names) > 3 and Role.BATCH in found and not is_last and not _WIDTHS & set(names):
            found[place] = Role.HEAD
    return tuple(found)


def is_channels(axis: Axis) -> bool:
    """Whether an axis is called channels."""
    return name_of(axis) in _CHANNELS


def is_features(axis: Axis) -> bool:
    """Whether an axis is called what a vector consists of: `d`, `channels`, `embed_dim`."""
    name = name_of(axis)
    return name in _FEATURES or name.endswith(("dim", "channels", "features"))


def is_spectrum(axis: Axis) -> bool:
    """Whether an axis is called frequencies or the like."""
    return name_of(axis) in _SPECTRUM


def are_rows_and_columns(axes: Sequence[Axis]) -> bool:
    """Whether axes are a height and a width, in this order, perhaps behind others: `h, w`, `t, h, w`.

    They are called so in an annotation, or are ints that a caller gave under these names.
    """
    names = [name_of(axis) or given_name(axis) for axis in axes]
    return len(names) > 1 and all(names) and names[-2] in _HEIGHTS and names[-1] in _WIDTHS


def is_called_sequence(label: str) -> bool:
    """Whether a label of an equation says that its axis is a sequence: `t`, `q`, `seq_len`."""
    name = plain(label)
    return name in _SEQUENCE or name in _QUERIES


def is_vocabulary(axis: Axis) -> bool:
    """Whether an axis is called a vocabulary, of which one token is chosen."""
    return name_of(axis) in _VOCABULARY


def name_of(axis: Axis) -> str:
    """The name of an axis in an annotation, without capitals and underscores; empty if it has none."""
    symbol = getattr(axis, "symbol", None)
    if symbol is None or symbol.kind is not Kind.NAME:
        return ""
    return plain(symbol.name)


def are_batch_and_features(size: Axis, other: Axis) -> bool:
    """Whether a size is called batch in an annotation and another one is an int that a caller gave for features."""
    return name_of(size) in _BATCH and _is_width(given_name(other))


def given_name(axis: Axis) -> str:
    """The name of an int that a caller gave, without capitals and underscores; empty if it is none."""
    symbol = getattr(axis, "symbol", None)
    return plain(symbol.name.rpartition(".")[2]) if symbol is not None and symbol.kind is Kind.QUANTITY else ""


def _is_width(name: str) -> bool:
    return name in _FEATURES or (name.endswith(("dim", "channels", "features", "hidden")) and "batch" not in name)


def plain(name: str) -> str:
    """A name without capitals and underscores, as the words here are written."""
    return name.lower().replace("_", "")


def _role(name: str, names: Sequence[str]) -> Role | None:
    if name in _BATCH and not (name == "b" and "a" in names):
        return Role.BATCH
    if name in _HEAD:
        return Role.HEAD
    return Role.SEQUENCE if name in _SEQUENCE else None
