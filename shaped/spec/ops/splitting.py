"""Operations that cut tensors: chunk, split, unbind, select, narrow, unfold."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import ZERO, Dim, ceildiv
from shaped.spec.dtypes import INTEGERS
from shaped.spec.op import op
from shaped.spec.ops.arguments import MOST_COUNTED, integer, listed, size, unknown_sizes
from shaped.spec.ops.indexing import Slice, check_range, slice_length
from shaped.spec.shape import Shape
from shaped.spec.values import Many, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.spec.context import Context


def _cut_axis(context: Context, operation: str, input: TensorType, dim: Value) -> tuple[int, Dim] | None:
    """The axis to cut and its size, None if they are not known."""
    if input.shape.rank == 0:
        raise ShapeError(operation, "a tensor without axes cannot be cut", str(input))
    axis = context.axis(operation, input, dim)
    own = input.shape.at(axis) if axis is not None else None
    return None if axis is None or own is None else (axis, own)


def _pieces(input: TensorType, axis: int, sizes: Sequence[Dim]) -> tuple[TensorType, ...]:
    return tuple(input.with_shape(input.shape.replace(axis, each)) for each in sizes)


def _uncounted(
    context: Context, input: TensorType, axis: int, each: Dim | None = None, count: Dim | None = None
) -> Many:
    """Pieces whose number is not known."""
    piece = input.with_shape(input.shape.replace(axis, context.fresh() if each is None else each))
    return Many(piece, context.fresh() if count is None else count)


def _hidden(context: Context, input: TensorType) -> TensorType:
    """A piece along an axis that is not known: the number of axes is."""
    return input.with_shape(unknown_sizes(context, input.shape))


@op(
    "chunk",
    "torch.chunk",
    "torch.unsafe_chunk",
    "Tensor.unsafe_chunk",
    "Tensor.chunk",
    formula="x in at most `chunks` pieces of equal size, the last may be smaller",
)
def chunk(context: Context, input: TensorType, chunks: Value, dim: Value = ZERO) -> Value:
    cut, count = _cut_axis(context, "chunk", input, dim), integer(chunks)
    if count is not None and count <= 0:
        raise ShapeError("chunk", f"cannot make {count} chunks", str(input))
    if cut is None:
        return Many(_hidden(context, input), context.fresh())
    axis, own = cut
    if own.constant is not None and count is not None:
        each = -(-own.constant // count)
        return _pieces(input, axis, _steps(own.constant, each) if each else [ZERO] * count)
    if count is None or count > MOST_COUNTED or own.has_unknown:
        return _uncounted(context, input, axis)
    if context.is_never_equal(own // count * count, own):
        return _pieces(input, axis, [context.fresh() for _ in range(count)])
    return _pieces(input, axis, [_assumed_quotient(context, own, Dim.of(count))] * count)


def _steps(total: int, each: int) -> list[Dim]:
    return [Dim.of(min(each, total - start)) for start in range(0, total, each)]


def _assumed_quotient(context: Context, own: Dim, count: Dim) -> Dim:
    """own / count, that it leaves no rest being assumed unless it is evident."""
    whole = own // count
    if not context.is_equal(whole * count, own):
        context.facts = context.facts.with_exact(own, count)
        assumption = f"{own} % {count} == 0"
        if assumption not in context.assumptions:
            context.assumptions.append(assumption)
        whole = context.facts.normalize(whole)
    return whole


@op("split", "torch.split", "Tensor.split", formula="x in pieces of the given sizes")
def split(context: Context, tensor: TensorType, split_size_or_sections: Value, dim: Value = ZERO) -> Value:
    return _split(context, "split", tensor, split_size_or_sections, dim)


@op(
    "split_with_sizes",
    "torch.split_with_sizes",
    "Tensor.split_with_sizes",
    formula="x in pieces of the given sizes",
)
def split_with_sizes(context: Context, input: TensorType, split_sizes: Value, dim: Value = ZERO) -> Value:
    return _split(context, "split_with_sizes", input, split_sizes, dim)


def _split(context: Context, operation: str, input: TensorType, sections: Value, dim: Value) -> Value:
    cut, parts = _cut_axis(context, operation, input, dim), listed(sections)
    if parts is not None:
        return _split_in(context, operation, input, parts, cut)
    if cut is None:
        return Many(_hidden(context, input), context.fresh())
    axis, own = cut
    if not isinstance(sections, Dim):
        return _uncounted(context, input, axis)
    if sections.constant is not None and sections.constant < (0 if own.has_unknown or own.constant == 0 else 1):
        raise ShapeError(operation, f"cannot make pieces of size {sections}", str(input))
    if own.constant is not None and sections.constant is not None:
        pieces = _steps(own.constant, sections.constant) if own.constant else [ZERO]
        return _pieces(input, axis, pieces) if len(pieces) <= MOST_COUNTED else _uncounted(context, input, axis)
    return _split_evenly(context, input, axis, own, sections)


def _split_evenly(context: Context, input: TensorType, axis: int, own: Dim, each: Dim) -> Value:
    if each.constant == 0:
        return _uncounted(context, input, axis)
    count = own // each
    is_exact = context.is_equal(count * each, own)
    number = context.facts.normalize(count).constant
    if is_exact and number is not None and 0 < number <= MOST_COUNTED:
        return _pieces(input, axis, [each] * number)
    if is_exact and context.is_at_least(own, 1):
        return _uncounted(context, input, axis, each, count)
    # All but the last piece are of this size.
    is_counted = context.is_at_least(each, 1) and context.is_at_least(own, 1)
    return _uncounted(context, input, axis, count=ceildiv(own, each) if is_counted else None)


def _split_in(
    context: Context, operation: str, input: TensorType, parts: Sequence[Value], cut: tuple[int, Dim] | None
) -> Value:
    sizes = [size(context, part) for part in parts]
    if any(each.constant is not None and each.constant < 0 for each in sizes):
        raise ShapeError(operation, "a piece has a negative size", str(input))
    if cut is None:
        return tuple(_hidden(context, input) for _ in sizes)
    axis, own = cut
    total = sum(sizes, start=ZERO)

    def fault() -> ShapeError:
        into = ", ".join(map(str, sizes))
        reason = f"the pieces {into} sum to {total}, dim {axis} has size {own}"
        return ShapeError(operation, reason, str(input), dims=(own, *sizes))

    context.require_equal(own, total, fault)
    return _pieces(input, axis, sizes)


@op("tensor_split", "torch.tensor_split", "Tensor.tensor_split", formula="x cut in sections, or at indices")
def tensor_split(context: Context, input: TensorType, indices_or_sections: Value, dim: Value = ZERO) -> Value:
    return _cut(context, "tensor_split", input, indices_or_sections, dim)


def _cut(context: Context, operation: str, input: TensorType, where: Value, dim: Value) -> Value:
    cut, count, places = _cut_axis(context, operation, input, dim), integer(where), listed(where)
    if count is not None:
        if count <= 0:
            raise ShapeError(operation, f"cannot make {count} sections", str(input))
        if cut is None:
            return tuple(_hidden(context, input) for _ in range(count))
        axis, own = cut
        # The first own % count sections are one longer.
        return _pieces(input, axis, [ceildiv(own - i, count) for i in range(count)])
    if places is None:
        return _uncounted(context, input, cut[0]) if cut else Many(_hidden(context, input), context.fresh())
    if cut is None:
        return tuple(_hidden(context, input) for _ in range(len(places) + 1))
    axis, own = cut
    bounds = [None, *places, None]
    return _pieces(input, axis, [slice_length(context, own, Slice(a, b)) for a, b in pairwise(bounds)])


@op("hsplit", "torch.hsplit", "Tensor.hsplit", formula="x cut along axis 1, a flat one along axis 0")
def hsplit(context: Context, input: TensorType, indices_or_sections: Value) -> Value:
    if input.shape.rank is None and input.shape.least_rank < 2:
        return _evenly(context, "hsplit", input, indices_or_sections, None, 1)
    return _evenly(context, "hsplit", input, indices_or_sections, 0 if input.shape.rank == 1 else 1, 1)


@op("vsplit", "torch.vsplit", "Tensor.vsplit", formula="x cut along axis 0")
def vsplit(context: Context, input: TensorType, indices_or_sections: Value) -> Value:
    return _evenly(context, "vsplit", input, indices_or_sections, 0, 2)


@op("dsplit", "torch.dsplit", "Tensor.dsplit", formula="x cut along axis 2")
def dsplit(context: Context, input: TensorType, indices_or_sections: Value) -> Value:
    return _evenly(context, "dsplit", input, indices_or_sections, 2, 3)


def _evenly(context: Context, operation: str, input: TensorType, where: Value, axis: int | None, least: int) -> Value:
    if input.shape.rank is not None and input.shape.rank < least:
        raise ShapeError(operation, f"expects at least {least} {'axis' if least == 1 else 'axes'}", str(input))
    own, count = input.shape.at(axis) if axis is not None else None, integer(where)
    if count is not None and count > 0 and own is not None and own.constant is not None and own.constant % count:
        raise ShapeError(operation, f"size {own} of dim {axis} is not divisible by {count}", str(input))
    return _cut(context, operation, input, where, None if axis is None else Dim.of(axis))


@op("unbind", "torch.unbind", "Tensor.unbind", formula="the slices x[i] along an axis")
def unbind(context: Context, input: TensorType, dim: Value = ZERO) -> Value:
    cut = _cut_axis(context, "unbind", input, dim)
    if cut is None:
        return Many(_one_axis_less(context, input), context.fresh())
    axis, own = cut
    piece = input.with_shape(input.shape.replace(axis))
    if own.constant is not None and own.constant <= MOST_COUNTED:
        return (piece,) * own.constant
    return Many(piece, own)


def _one_axis_less(context: Context, input: TensorType) -> TensorType:
    if input.shape.rank is None:
        return input.with_shape(Shape.of(context.fresh_pack()))
    return input.with_shape(Shape(tuple(context.fresh() for _ in range(input.shape.rank - 1))))


@op("select", "torch.select", "Tensor.select", formula="y = x[..., index, ...]")
def select(context: Context, input: TensorType, dim: Value, index: Value) -> TensorType:
    cut = _cut_axis(context, "select", input, dim)
    if cut is None:
        return _one_axis_less(context, input)
    axis, own = cut
    place = integer(index)
    if place is not None and own.constant is not None and not -own.constant <= place < own.constant:
        reason = f"dim {axis} has size {own}, index {place} is out of range"
        raise ShapeError("select", reason, str(input), dims=(own,))
    if isinstance(index, Dim):
        check_range(context, input, index, own, axis, operation="select")
    return input.with_shape(input.shape.replace(axis))


@op("narrow", "torch.narrow", "Tensor.narrow", "torch.narrow_copy", "Tensor.narrow_copy", formula="y[i] = x[start+i]")
def narrow(context: Context, input: TensorType, dim: Value, start: Value, length: Value) -> TensorType:
    if isinstance(start, TensorType) and (start.shape.least_rank or not start.dtype.may_be(INTEGERS)):
        raise ShapeError("narrow", f"start is an int without axes, not {start.dtype}{start.shape}", str(input))
    cut = _cut_axis(context, "narrow", input, dim)
    if cut is None:
        return _hidden(context, input)
    axis, own = cut
    taken = size(context, length)
    if isinstance(start, Dim) and isinstance(length, Dim):
        _require_inside(context, input, (axis, own), start, length)
    return input.with_shape(input.shape.replace(axis, taken))


def _require_inside(context: Context, input: TensorType, cut: tuple[int, Dim], start: Dim, length: Dim) -> None:
    axis, own = cut
    first = own + start if context.is_at_least(-start, 1) else start
    reason = f"dim {axis} has size {own}: start {start} and length {length} are out of range"
    fault = ShapeError("narrow", reason, str(input), dims=(own, start, length))
    numbers = (own.constant, first.constant, length.constant)
    if None not in numbers and any(number is not None and number < 0 for number in numbers):
        raise fault
    slack = (own - first - length).constant
    if slack is not None and slack < 0 and (context.is_at_least(start, 0) or first is not start):
        raise fault


@op("unfold", "Tensor.unfold", formula="y[..., i, ..., k] = x[..., i*step+k, ...]")
def unfold(context: Context, input: TensorType, dimension: Value, size: Value, step: Value) -> TensorType:
    window = size if isinstance(size, Dim) else context.fresh()
    if window.constant is not None and window.constant < 0:
        raise ShapeError("unfold", f"a window of {window} is no size", str(input))
    if input.shape.rank == 0:
        context.axis("unfold", input, dimension)
        return input.with_shape(Shape((window,)))
    cut = _cut_axis(context, "unfold", input, dimension)
    if cut is None:
        return input.with_shape(unknown_sizes(context, input.shape) + Shape((window,)))
    axis, own = cut
    slack = context.facts.normalize(own - window).constant
    if slack is not None and slack < 0:
        raise ShapeError("unfold", f"a window of {window} does not fit dim {axis} of size {own}", str(input))
    stride = integer(step)
    if stride is not None and stride <= 0:
        raise ShapeError("unfold", f"the step {step} must be positive", str(input))
    count = (own - window) // step + 1 if isinstance(step, Dim) else context.fresh()
    return input.with_shape(input.shape.replace(axis, count) + Shape((window,)))
