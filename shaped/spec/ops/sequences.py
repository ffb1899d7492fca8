"""Sequences of different lengths: padded to one tensor, or packed. `torch.nn.utils.rnn`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.axis_layout import PADDED_LENGTH, check_sequence
from shaped.spec.dims import Dim
from shaped.spec.dtypes import INT64, DType
from shaped.spec.op import Module, op
from shaped.spec.ops.arguments import listed
from shaped.spec.ops.options import common_dtype, flag, option_size, require_equal
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, Many, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context


class PackedSequence(Module):
    """A batch of sequences of different lengths without padding. It is a value, though no module, and is never called.

    Args:
        batch: the number of sequences.
        features: the sizes of each step.
        dtype: the dtype of its elements.
    """

    torch_name = "torch.nn.utils.rnn.PackedSequence"

    def __init__(self, batch: Dim, features: tuple[Dim, ...], dtype: DType) -> None:
        self.batch, self.features, self.dtype = batch, features, dtype


def _batch_first(context: Context, batch: Dim, length: Dim, first: bool | None) -> tuple[Dim, Dim]:
    """The two leading axes, in order."""
    if first is None:
        return context.fresh(), context.fresh()
    return (batch, length) if first else (length, batch)


@op("pad_sequence", "torch.nn.utils.rnn.pad_sequence", formula="y[t, b] = x_b[t], padding_value from its end on")
def pad_sequence(
    context: Context,
    sequences: Value,
    batch_first: Value = False,
    padding_value: Value = 0.0,
    padding_side: Value = "right",
) -> Value:
    """A list of (t_i, *) -> (t, b, *), or (b, t, *) with batch_first; t is the greatest length.

    Raises:
        ShapeError: the sequences differ in another axis than the first.
    """
    items = listed(sequences)
    if items is None:
        if not isinstance(sequences, Many) or not isinstance(sequences.element, TensorType):
            return context.unknown_tensor()
        count, element = sequences.length, sequences.element
        steps, kind = element.shape, element.dtype
    else:
        tensors = [item for item in items if isinstance(item, TensorType)]
        if not tensors or len(tensors) != len(items):
            return context.unknown_tensor()
        count, steps, kind = Dim.of(len(tensors)), tensors[0].shape, common_dtype(*tensors)
        _require_same_steps(context, tensors)
    if steps.rank == 0:
        raise ShapeError("pad_sequence", "a scalar has no length", str(steps))
    length = context.fresh(1, name=PADDED_LENGTH)
    if items is not None:
        firsts = [item.shape.at(0) for item in items if isinstance(item, TensorType)]
        if firsts[0] is not None and all(first == firsts[0] for first in firsts):
            length = firsts[0]
    if not steps.head:
        return TensorType(Shape.of(context.fresh_pack()), kind)
    rest = Shape(steps.axes[1:])
    return TensorType(Shape.of(*_batch_first(context, count, length, flag(batch_first))) + rest, kind)


def _require_same_steps(context: Context, tensors: list[TensorType]) -> None:
    """The steps of all sequences broadcast to those of the first, into whose place torch copies them."""
    first = tensors[0]
    operands = ", ".join(map(str, tensors))
    for other in tensors[1:]:
        if first.shape.rank is None or first.shape.rank != other.shape.rank:
            continue
        for axis, (a, b) in enumerate(zip(first.shape.dims, other.shape.dims, strict=True)):
            if axis and b != 1:

                def fault(axis: int = axis, a: Dim = a, b: Dim = b) -> Fault:
                    return ShapeError("pad_sequence", f"sizes {a} and {b} of axis {axis} differ", operands, dims=(a, b))

                require_equal(context, (first, other), a, b, fault)


@op("pack_padded_sequence", "torch.nn.utils.rnn.pack_padded_sequence", formula="the steps of x up to each length")
def pack_padded_sequence(
    context: Context,
    input: TensorType,
    lengths: Value,
    batch_first: Value = False,
    enforce_sorted: Value = True,
) -> Value:
    """(t, b, *), or (b, t, *) with batch_first, without what is beyond each length.

    Raises:
        ShapeError: there are fewer than two axes, or other than one length for each sequence.
    """
    first = flag(batch_first)
    if input.shape.rank is None or first is None:
        return UNKNOWN
    if input.shape.rank < 2:
        raise ShapeError("pack_padded_sequence", f"{input.shape.rank} axes, at least 2 expected", str(input))
    batch = input.shape.dims[0 if first else 1]
    _require_lengths(context, input, lengths, batch, first)
    check_sequence(context, "pack_padded_sequence", input, batch_first=first)
    return PackedSequence(batch, input.shape.dims[2:], input.dtype)


def _require_lengths(context: Context, input: TensorType, lengths: Value, batch: Dim, first: bool) -> None:
    """There is one length for each sequence."""
    if not isinstance(lengths, TensorType) or lengths.shape.rank != 1:
        return
    (count,) = lengths.shape.dims

    def fault() -> Fault:
        hint = "batch_first=True?" if not first and input.shape.dims[0] == count else ""
        reason = f"{count} lengths for a batch of {batch}"
        return ShapeError("pack_padded_sequence", reason, f"{input}, lengths {lengths}", hint, (count, batch))

    require_equal(context, (input, lengths), count, batch, fault)


@op("pack_sequence", "torch.nn.utils.rnn.pack_sequence", formula="the steps of all sequences")
def pack_sequence(context: Context, sequences: Value, enforce_sorted: Value = True) -> Value:
    """A list of (t_i, *), packed."""
    padded = pad_sequence(context, sequences, batch_first=True)
    if not isinstance(padded, TensorType) or padded.shape.rank is None:
        return UNKNOWN
    return PackedSequence(padded.shape.dims[0], padded.shape.dims[2:], padded.dtype)


@op(
    "pad_packed_sequence",
    "torch.nn.utils.rnn.pad_packed_sequence",
    formula="y[t, b] = x_b[t], padding_value from its end on",
)
def pad_packed_sequence(
    context: Context,
    sequence: Value,
    batch_first: Value = False,
    padding_value: Value = 0.0,
    total_length: Value = None,
) -> Value:
    """A packed sequence -> (t, b, *), or (b, t, *) with batch_first, and the lengths (b,)."""
    if not isinstance(sequence, PackedSequence):
        return context.unknown_tensor(), TensorType(Shape.of(context.fresh()), INT64)
    length = context.fresh(1, name=PADDED_LENGTH) if total_length is None else option_size(context, total_length)
    axes = _batch_first(context, sequence.batch, length, flag(batch_first))
    padded = TensorType(Shape.of(*axes, *sequence.features), sequence.dtype)
    return padded, TensorType(Shape.of(sequence.batch), INT64)


@op("unpad_sequence", "torch.nn.utils.rnn.unpad_sequence", formula="x_b = y[:length_b, b]")
def unpad_sequence(context: Context, padded_sequences: TensorType, lengths: Value, batch_first: Value = False) -> Value:
    """(t, b, *), or (b, t, *) with batch_first -> a list of (t_i, *)."""
    first, shape = flag(batch_first), padded_sequences.shape
    if shape.rank is None or shape.rank < 2 or first is None:
        return UNKNOWN
    step = Shape.of(context.fresh(), *shape.dims[2:])
    return Many(padded_sequences.with_shape(step), shape.dims[0 if first else 1])
