"""Layouts that operations take for granted: the axis of the sequence, of the batch, of the channels.

Where axes of the right number stand in another order, torch computes on: a recurrent network runs over the samples of a
batch, attention mixes them, a pooling takes the width for the height. What an axis stands for is read from its name in
an annotation, and said only where practically nobody means it otherwise:

- A sequence module is told where the batch stands by `batch_first`. It is misread if the axis that it runs along is a
  batch and the other is none. Attention between the samples of a batch, as a sequence (b, 1, d) or (b, d) without a
  batch, is a method of its own; of recurrent networks it is not.
- Images are channels last if height, width and channels, all three by name, stand last. Channels may be a number up to
  4. Of signals (b, t, c) it is said where both are named, and not of maxima, which may be meant over channels (maxout).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from shaped.errors import ShapeError
from shaped.spec.atoms import Kind, Symbol
from shaped.spec.axis_order import factors_of
from shaped.spec.axis_roles import Role, given_name, plain, roles
from shaped.spec.dims import ONE, Dim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.spec.context import Context
    from shaped.spec.values import TensorType

# The name of a length that padding made: it may be any number, and is that of a sequence.
PADDED_LENGTH: Final = "length"

_HEIGHTS: Final = frozenset(["h", "height", "rows"])
_WIDTHS: Final = frozenset(["w", "width", "cols", "columns"])
_CHANNELS: Final = frozenset(
    [
        *("c", "ch", "chan", "chans", "chn", "channel", "channels", "nchannels", "numchannels", "rgb", "rgba"),
        *("cin", "cout", "inc", "outc", "inch", "outch", "inchannels", "outchannels", "inchans", "outchans"),
    ]
)
_IMAGE_FEATURES: Final = _CHANNELS | frozenset(
    ["dim", "dims", "embed", "embeddim", "emb", "embdim", "feat", "feats", "feature", "features", "hidden", "dmodel"]
)
_CLASSES: Final = frozenset(
    [
        *("v", "vocab", "vocabsize", "nvocab", "ntokens"),
        *("class", "classes", "nclass", "nclasses", "numclasses", "cls"),
        *("c", "k", "label", "labels", "nlabels", "numlabels", "category", "categories", "logits"),
    ]
)
_MOST_COLOURS: Final = 4


def check_sequence(
    context: Context,
    operation: str,
    tensor: TensorType,
    *,
    batch_first: bool | None,
    operands: str = "",
    name: str = "",
    told_by: str = "batch_first",
    single_samples: bool = False,
) -> bool:
    """Report a batch that is read as the sequence, and say whether it was.

    Args:
        context: the path.
        operation: the operation's name, for the message.
        tensor: the input, of at least the batch, the sequence and features.
        batch_first: which of the first two axes is the batch; None if that was not followed.
        operands: the operands, for the message; the tensor alone by default.
        name: what the tensor is among the operands (`query`).
        told_by: the argument that says which axis is the batch; empty if there is none.
        single_samples: whether a sequence that is read out of the batch is right for one sample (1, b, d).

    >>> from shaped.spec.context import Context
    >>> from shaped.spec.values import TensorType
    >>> context = Context()
    >>> check_sequence(context, "lstm", TensorType.of(*map(Dim.name, "btd")), batch_first=False)
    True
    >>> print(context.found[0], context.found[0].hint, sep="; ")
    lstm: (b, t, d): axis 0, b, is the batch and is read as the sequence (batch_first=False); batch_first=True?
    """
    if not context.is_clear or tensor.shape.rank is None or tensor.shape.rank < 3 or batch_first is None:
        return False
    along, beside = (1, 0) if batch_first else (0, 1)
    dims = tensor.shape.dims
    if single_samples and dims[beside] == ONE:
        return False
    held = _roles_by_axis(tensor)
    told = f" ({told_by}={batch_first})" if told_by else ""
    of_name = f" of the {name}" if name else ""
    if Role.BATCH in held[along] and Role.BATCH not in held[beside]:
        if batch_first and str(dims[along]) == "b" and Role.SEQUENCE not in held[beside]:
            return False  # (n, b, d): b may be bands or beams
        reason = f"axis {along}{of_name}, {dims[along]}, is the batch and is read as the sequence{told}"
        at_fault = dims[along]
    elif _is_padded_length(dims[beside]) and not held[along] & {Role.SEQUENCE} and not _is_padded_length(dims[along]):
        reason = f"axis {beside}{of_name} is the padded length and is read as the batch{told}"
        at_fault = dims[beside]
    else:
        return False
    hint = f"{told_by}=True?" if told_by and not batch_first else ".transpose(0, 1)?"
    _report(context, operation, reason, operands or str(tensor), hint, (at_fault,))
    return True


def check_unbatched(context: Context, operation: str, tensor: TensorType) -> None:
    """Report a batch of single steps (b, d) that a recurrent network reads as one sequence without a batch."""
    if context.is_clear and tensor.shape.rank == 2 and Role.BATCH in _roles_by_axis(tensor)[0]:
        batch = tensor.shape.dims[0]
        reason = f"axis 0, {batch}, is the batch and is read as the sequence, as there is no other axis for it"
        _report(context, operation, reason, str(tensor), "unsqueeze an axis for the sequence?", (batch,))


def check_padded(context: Context, subject: str, tensor: TensorType, axis: int, wanted: Dim, operands: str) -> None:
    """Report a padded length where an annotation has the batch, if the batch is another axis of the tensor.

    Args:
        context: the path.
        subject: what the tensor is, for the message (`return of Encoder.forward`).
        tensor: the tensor, of known rank.
        axis: the axis that faces the annotation's.
        wanted: the size that the annotation's axis stands for.
        operands: the tensor and the annotation, for the message.
    """
    dims = tensor.shape.dims
    if context.is_clear and _is_padded_length(dims[axis]) and roles([wanted]) == (Role.BATCH,) and wanted in dims:
        reason = f"axis {axis} is the padded length, and the batch {wanted} is axis {dims.index(wanted)}"
        _report(context, subject, reason, operands, "batch_first=True where it was padded?", (wanted,))


def check_heads(context: Context, operation: str, operands: Sequence[TensorType], shown: str) -> None:
    """Report attention along the heads: of (b, t, h, d), where (b, h, t, d) is expected.

    Args:
        context: the path.
        operation: the operation's name, for the message.
        operands: query and key.
        shown: all operands, for the message.
    """
    if not context.is_clear or any(each.shape.rank != 4 for each in operands):
        return
    for tensor in operands:
        sequence, heads = _roles_by_axis(tensor)[1:3]
        if Role.SEQUENCE not in sequence or not (Role.HEAD in heads or _is_number_of_heads(tensor.shape.dims[2])):
            return
    heads_size = operands[0].shape.dims[2]
    reason = f"axis -2, {heads_size}, holds the heads and is read as the sequence"
    _report(context, operation, reason, shown, "transpose(1, 2) of query, key and value?", (heads_size,))


def check_channels(
    context: Context,
    operation: str,
    tensor: TensorType,
    count: int,
    *,
    channels: Dim | None = None,
    signals: bool = True,
) -> None:
    """Report an image, or a signal, whose channels stand behind its spatial axes.

    Args:
        context: the path.
        operation: the operation's name, for the message.
        tensor: the input: channels and `count` spatial axes, perhaps a batch before them.
        count: the number of spatial axes that the operation expects.
        channels: how many channels it expects, where that is known. An int of a caller by the name of the last axis
            says that this holds them.
        signals: whether a signal (b, t, c) is reported.

    >>> from shaped.spec.context import Context
    >>> from shaped.spec.values import TensorType
    >>> context = Context()
    >>> check_channels(context, "avg_pool2d", TensorType.of(*map(Dim.name, "bhwc")), 2)
    >>> print(context.found[0], context.found[0].hint, sep="; ")
    avg_pool2d: (b, h, w, c): axis 3, c, holds the channels and is read as the width; .permute(0, 3, 1, 2)?
    """
    rank = tensor.shape.rank
    if not context.is_clear or rank is None or rank < max(count + 1, 3):
        return
    dims = tensor.shape.dims
    *_, before, between, last = dims
    if count == 1:
        is_laid_out, features, read_as = signals and rank == 3 and _is_signal(tensor), _CHANNELS, "the sequence"
    else:
        is_laid_out = _is_called(before, _HEIGHTS) and _is_called(between, _WIDTHS)
        features, read_as = _IMAGE_FEATURES, "the width"
    if is_laid_out and (
        _is_called(last, features | _name_of_expected(channels, dims[-count - 1]))
        or (count > 1 and _is_number_of_colours(last))
    ):
        first = rank - count - 1
        order = [*range(first), rank - 1, *range(first, rank - 1)]
        hint = f".transpose({first}, {rank - 1})?" if count == 1 else f".permute({', '.join(map(str, order))})?"
        reason = f"axis {rank - 1}, {last}, holds the channels and is read as {read_as}"
        _report(context, operation, reason, str(tensor), hint, (last,))


def check_classes(context: Context, operation: str, tensor: TensorType, operands: str) -> None:
    """Report probabilities (b, t, classes) whose axis 1, which holds the classes for torch, is a sequence."""
    if not context.is_clear or tensor.shape.rank != 3:
        return
    held, last = _roles_by_axis(tensor), tensor.shape.dims[-1]
    if Role.BATCH in held[0] and Role.SEQUENCE in held[1] and _is_called(last, _CLASSES):
        sequence = tensor.shape.dims[1]
        reason = f"axis 1, {sequence}, is the sequence and is read as the classes"
        _report(context, operation, reason, operands, "transpose(1, 2) of both?", (sequence, last))


def _is_signal(tensor: TensorType) -> bool:
    held = _roles_by_axis(tensor)
    return Role.BATCH in held[0] and Role.SEQUENCE in held[1]


def _is_number_of_colours(dim: Dim) -> bool:
    return dim.constant is not None and 1 <= dim.constant <= _MOST_COLOURS


def _is_number_of_heads(dim: Dim) -> bool:
    """Whether an int that a caller chose is the number of heads by its name."""
    return given_name(dim) in ("heads", "nheads", "numheads", "nhead", "numattentionheads", "nheadskv", "numkvheads")


def _is_padded_length(dim: Dim) -> bool:
    symbol = dim.symbol
    return symbol is not None and symbol.kind is Kind.UNKNOWN and symbol.name == PADDED_LENGTH


def _roles_by_axis(tensor: TensorType) -> list[set[Role]]:
    """What each axis stands for, or the axes that it was merged of."""
    factors = [_factors(tensor, dim) for dim in tensor.shape.dims]
    found = iter(roles([factor for each in factors for factor in each]))
    return [{role for role in (next(found) for _ in each) if role is not None} for each in factors]


def _factors(tensor: TensorType, dim: Dim) -> Sequence[Dim]:
    known = factors_of(tensor, dim)
    if len(known) > 1 or len(dim.terms) != 1:
        return known
    ((monomial, _),) = dim.terms
    symbols = [Dim.atom(atom) for atom, _ in monomial if isinstance(atom, Symbol)]
    return symbols if len(symbols) > 1 else known


def _is_called(dim: Dim, names: frozenset[str]) -> bool:
    """Whether a size is one of these dim names of an annotation, or depends on it only."""
    own = {plain(symbol.name) for symbol in dim.symbols() if symbol.kind is Kind.NAME}
    return bool(own) and own <= names


def _name_of_expected(channels: Dim | None, found: Dim) -> frozenset[str]:
    """The name of the int that a caller gave for the channels, if the axis that is taken for them has another."""
    name = given_name(channels) if channels is not None else ""
    return frozenset([name]) if name and not _is_called(found, frozenset([name])) else frozenset()


def _report(context: Context, operation: str, reason: str, operands: str, hint: str, dims: tuple[Dim, ...]) -> None:
    context.found.append(ShapeError(operation, reason, operands, hint, dims, code="shape-layout"))
