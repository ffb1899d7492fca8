"""`x[...]` in full: ints, slices, new axes, masks and integer tensors, with known, symbolic and unknown bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Union

from shaped.errors import DeviceError, DtypeError, ShapeError
from shaped.spec.axis_order import remembered
from shaped.spec.broadcast import broadcast_shape, is_joined, new_axes_hint, uncertain_if_joined
from shaped.spec.devices import are_two
from shaped.spec.dims import ONE, ZERO, Dim, Min, ceildiv, minimum
from shaped.spec.dtype_demands import require_written
from shaped.spec.dtypes import BOOL, COMPLEX, FLOATS, INT64
from shaped.spec.extent import extent_of, require_within
from shaped.spec.facts import Status
from shaped.spec.ops.arguments import at_least_zero, require_expands
from shaped.spec.provenance import Row, left_by, named
from shaped.spec.shape import Axis, Pack, Shape
from shaped.spec.values import UNKNOWN, Many, TensorType, Unknown, Value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import EllipsisType

    from shaped.spec.context import Context

_MASKS = BOOL | frozenset(["uint8"])


@dataclass(frozen=True)
class Slice:
    """`start:stop:step` of an index; None where it was left out."""

    start: Value = None
    stop: Value = None
    step: Value = None


FULL: Final = Slice()
# None is a new axis; a tuple is a list of ints or bools, which indexes as a tensor does.
Index = Union[Dim, Slice, None, "EllipsisType", TensorType, bool, "tuple[Value, ...]", Many, Unknown]


@dataclass(frozen=True)
class _Column:
    """What one item leaves: the axes that it keeps, or the tensor that picks from those it consumed."""

    kept: tuple[Axis, ...] = ()
    picks: TensorType | None = None


def index(context: Context, input: TensorType, items: tuple[Index, ...]) -> TensorType:
    """The type of `input[items]`.

    Raises:
        ShapeError: too many indices, an int that is out of range for every size, a mask of another shape, index
            tensors that do not broadcast.
        DtypeError: an index tensor of a float dtype.

    >>> from shaped.spec.context import Context
    >>> b, t = Dim.name("b"), Dim.name("t")
    >>> print(index(Context(), TensorType.of(b, t, 3), (..., None, Dim.of(0))))
    (b, t, 1)
    """
    items = tuple(_as_tensor(context, item) for item in items)
    operands = [input, *(item for item in items if isinstance(item, TensorType))]
    with uncertain_if_joined(context, *operands):
        result = _indexed(context, input, items)
    result = replace(result, joined=is_joined(*operands), made=_row(context, input, items, result))
    if input.extent is not None and all(item is None or item is ... or item == FULL for item in items):
        result = replace(result, extent=input.extent)
    # An index tensor may bring the elements of an axis into another order.
    return remembered(result, input.merged) if input.merged and len(operands) == 1 else result


def _indexed(context: Context, input: TensorType, items: tuple[Index, ...]) -> TensorType:
    for item in items:
        _check_dtype(input, item)
    aligned = _aligned(context, input, items)
    if aligned is None:
        return input.with_shape(Shape.of(context.fresh_pack()))
    columns = [_column(context, input, item, consumed, place) for item, consumed, place in aligned]
    if any(column is None for column in columns):
        return input.with_shape(Shape.of(context.fresh_pack()))
    return input.with_shape(_placed(context, input, [column for column in columns if column is not None]))


def _row(context: Context, input: TensorType, items: tuple[Index, ...], result: TensorType) -> Row | None:
    """What is remembered of an index that is a named size: that a slice to that size may have been meant."""
    places = [i for i, item in enumerate(items) if isinstance(item, Dim) and named(item)]
    if len(places) != 1 or result.shape.rank is None:
        return None
    (place,) = places
    size = items[place]
    assert isinstance(size, Dim)
    sliced = _indexed(context, input, (*items[:place], Slice(None, size), *items[place + 1 :])).shape
    for axis, length in enumerate(sliced.axes):
        # The length is min(t, n) in a table of n rows.
        if isinstance(length, Dim) and size.symbols() <= length.symbols() and sliced.replace(axis) == result.shape:
            return Row(input.shape, size, sliced.replace(axis, size))
    return None


def setitem(context: Context, input: TensorType, items: tuple[Index, ...], value: Value) -> None:
    """Check `input[items] = value`: the value must broadcast to what is indexed.

    Raises:
        ShapeError: like `index`, and when it does not broadcast.
    """
    target = index(context, input, items)
    if not isinstance(value, TensorType):
        return
    if not context.settings.alike:
        require_written("setitem", input, [_as_tensor(context, item) for item in items], value)
    shape = value.shape
    if shape.rank is None or target.shape.rank is None:
        return
    while shape.rank and shape.rank > target.shape.rank and shape.dims[0].constant == 1:
        shape = Shape(shape.dims[1:])
    operands = f"{target} = {value}"
    if len(shape.dims) > target.shape.rank and not shape.dims[0].has_unknown:
        reason = f"the value has {len(shape.dims)} axes, the place {target.shape.rank}"
        raise ShapeError("setitem", reason, operands)
    hint = new_axes_hint([target.shape.dims, shape.dims])

    def fault(a: Dim, b: Dim) -> ShapeError:
        return ShapeError("setitem", f"sizes {a} and {b} differ", operands, hint, (a, b))

    with uncertain_if_joined(context, target, value):
        require_expands(context, shape, target.shape, fault)


def _as_tensor(context: Context, item: Index) -> Index:
    """The item with lists of ints or bools as the tensors that they stand for."""
    if isinstance(item, Many):
        return TensorType(Shape((item.length,)), INT64) if isinstance(item.element, Dim) else UNKNOWN
    if not isinstance(item, tuple):
        return item
    if all(isinstance(value, bool) for value in item) and item:
        return TensorType(Shape.of(sum(value is True for value in item)), INT64)
    if all(isinstance(value, Dim) and not isinstance(value, bool) for value in item):
        return TensorType(Shape.of(len(item)), INT64, extent=extent_of(item))
    rows = [row for row in item if isinstance(row, tuple)]
    is_matrix = rows and len(rows) == len(item) and all(len(row) == len(rows[0]) for row in rows)
    if is_matrix and all(isinstance(value, Dim) for row in rows for value in row):
        return TensorType(Shape.of(len(rows), len(rows[0])), INT64)
    return UNKNOWN


def _check_dtype(input: TensorType, item: Index) -> None:
    if isinstance(item, TensorType) and input.device == "cpu" and are_two(item.device, "cpu") and item.device != "meta":
        operands = f"{input} on cpu [{item} on {item.device}]"
        raise DeviceError("index", f"devices cpu and {item.device} differ", operands, ".cpu() on the index?")
    if isinstance(item, TensorType) and item.dtype.is_all(FLOATS | COMPLEX):
        reason = f"an index tensor must be integer or bool, not {item.dtype}"
        hint = ".bool()?" if item.shape.rank is not None and item.shape == input.shape else ".long()?"
        raise DtypeError("index", reason, f"{input}[{item}]", hint=hint)


def _consumed(item: Index) -> int | None:
    """The number of axes that an item stands for, None if it is not known."""
    match item:
        case None | bool():
            return 0
        case TensorType(shape=shape, dtype=dtype):
            if dtype.is_all(_MASKS):
                return shape.rank
            if not dtype.may_be(_MASKS) or shape.rank == 1:
                return 1
            return None
        case Dim() | Slice():
            return 1
        case _:
            return None


def _aligned(
    context: Context, input: TensorType, items: tuple[Index, ...]
) -> list[tuple[Index, tuple[Axis, ...], int]] | None:
    """Each item with the axes that it consumes and the number of the first of them; None if that is not known."""
    shape, positions = input.shape, [i for i, item in enumerate(items) if item is ...]
    if len(positions) > 1:
        return None
    counts = [0 if item is ... else _consumed(item) for item in items]
    known = [count for count in counts if count is not None]
    if shape.rank is not None and sum(known) > shape.rank:
        axes = "1 axis" if shape.rank == 1 else f"{shape.rank} axes"
        indices = "1 index" if sum(known) == 1 else f"{sum(known)} indices"
        raise ShapeError("index", f"{indices} for {axes}", str(input))
    if len(known) != len(counts):
        return None
    split = positions[0] if positions else len(items)
    front, back = sum(known[:split]), sum(known[split + 1 :])
    if shape.rank is None and (front > len(shape.head) or back > len(shape.tail)):
        return _aligned_in_pack(context, input, items)
    result: list[tuple[Index, tuple[Axis, ...], int]] = []
    place = 0
    for item, count in zip(items, known, strict=True):
        if item is ...:
            count = len(shape.axes) - front - back
        result.append((FULL if item is ... else item, shape.axes[place : place + count], place))
        place += count
    result.append((FULL, shape.axes[place:], place))
    return result


def _aligned_in_pack(
    context: Context, input: TensorType, items: tuple[Index, ...]
) -> list[tuple[Index, tuple[Axis, ...], int]] | None:
    """The same where items reach into axes that were not followed: these become fresh sizes if `...` tells which."""
    shape = input.shape
    split = items.index(...) if ... in [item for item in items if item is ...] else len(items)
    front = sum(_consumed(item) or 0 for item in items[:split])
    back = sum(_consumed(item) or 0 for item in items[split + 1 :])
    head = shape.head[:front] if front <= len(shape.head) else shape.head
    tail = shape.tail[len(shape.tail) - back :] if back <= len(shape.tail) else shape.tail
    if front > len(head):
        # The axes after the pack may be among those that are indexed.
        if shape.tail and back == 0 and front > len(shape.head):
            tail = ()
        head = (*head, *(context.fresh() for _ in range(front - len(head))))
    if back > len(tail):
        tail = (*(context.fresh() for _ in range(back - len(tail))), *tail)
    return _aligned(context, input.with_shape(Shape((*head, context.fresh_pack(), *tail))), items)


def _column(context: Context, input: TensorType, item: Index, consumed: tuple[Axis, ...], place: int) -> _Column | None:
    match item:
        case None:
            return _Column((ONE,))
        case Slice():
            return _Column(tuple(_sliced(context, axis, item) for axis in consumed))
        case bool():
            return _Column(picks=TensorType(Shape.of(int(item)), INT64))
        case TensorType():
            return _picked(context, input, item, consumed, place)
        case Dim():
            (axis,) = consumed
            if isinstance(axis, Dim):
                check_range(context, input, item, axis, place)
            return _Column()
        case _:
            return None


def check_range(
    context: Context, input: TensorType, item: Dim, size: Dim, place: int, *, operation: str = "index"
) -> None:
    """Demand that the int `item` is an index of dim `place`, which has this size.

    Raises:
        ShapeError: it is out of range for all sizes.
    """
    is_negative = context.is_at_least(-item, 1)
    least = -item if is_negative else item + 1
    if not is_negative and not context.is_at_least(item, 0):
        return
    if context.facts.at_least(size, least).status is Status.NEVER:
        reason = f"index {item} is out of range for size {size} of dim {place}"
        raise ShapeError(operation, reason, str(input), dims=(size, item))


def _picked(
    context: Context, input: TensorType, item: TensorType, consumed: tuple[Axis, ...], place: int
) -> _Column | None:
    shape = item.shape
    if not item.dtype.may_be(_MASKS):
        # torch takes an integer tensor without axes for an int.
        axis = consumed[0]
        if isinstance(axis, Dim):
            what = f"size {axis} of dim {place}"
            require_within(context, "index", item, axis, what, str(input), from_the_end=True)
        return _Column() if shape.rank == 0 else _Column(picks=item)
    if shape.rank is None:
        return None
    if not item.dtype.is_all(_MASKS):
        # A flat tensor picks along one axis, be it a mask or not; as a mask it picks an unknown number.
        return _Column(picks=item.with_shape(Shape((context.fresh(),))))
    for i, (own, axis) in enumerate(zip(shape.dims, consumed, strict=True)):
        if isinstance(axis, Dim):
            _require_mask_size(context, input, item, (own, axis), place + i)
    return _Column(picks=TensorType(Shape((context.fresh(),)), INT64))


def _require_mask_size(
    context: Context, input: TensorType, mask: TensorType, sizes: tuple[Dim, Dim], place: int
) -> None:
    own, axis = sizes

    def fault() -> ShapeError:
        reason = f"the mask {mask} has size {own} where dim {place} has size {axis}"
        return ShapeError("index", reason, str(input), dims=(own, axis))

    context.require_equal(own, axis, fault)


def _placed(context: Context, input: TensorType, columns: Sequence[_Column]) -> Shape:
    """The result's axes: those that were kept, and what index tensors pick at their place, or in front if apart."""
    picking = [i for i, column in enumerate(columns) if column.picks is not None]
    kept: list[Axis] = []
    if not picking:
        return _shape(context, [axis for column in columns for axis in column.kept])
    picks = [column.picks for column in columns if column.picks is not None]
    operands = f"{input} at {', '.join(map(str, picks))}"
    picked = picks[0].shape if len(picks) == 1 else broadcast_shape(context, "index", *picks, operands=operands)
    between = [axis for column in columns[picking[0] : picking[-1] + 1] for axis in column.kept]
    for i, column in enumerate(columns):
        if i == picking[0] and not between:
            kept.extend(picked.axes)
        kept.extend(column.kept)
    return _shape(context, [*picked.axes, *kept] if between else kept)


def _shape(context: Context, axes: Sequence[Axis]) -> Shape:
    """The shape with these axes; several packs and what is between them become one."""
    packs = [i for i, axis in enumerate(axes) if isinstance(axis, Pack)]
    if len(packs) <= 1:
        return Shape(tuple(axes))
    return Shape((*axes[: packs[0]], context.fresh_pack(), *axes[packs[-1] + 1 :]))


def _sliced(context: Context, axis: Axis, item: Slice) -> Axis:
    if item == FULL or isinstance(axis, Pack):
        return axis
    length = slice_length(context, axis, item)
    if length.constant is None and not length.has_unknown and context.is_at_least(ONE, length):
        length = ONE  # x[:, :1] is written to be a column, not to be empty where a size is 0
    return left_by("a slice", length)


def slice_length(context: Context, size: Dim, item: Slice) -> Dim:
    """The number of indices that a slice picks from an axis, all of Python's clamping included.

    Raises:
        ShapeError: the step is not positive.

    >>> from shaped.spec.context import Context
    >>> print(slice_length(Context(), Dim.of(7), Slice(Dim.of(1), Dim.of(-1), Dim.of(2))))
    3
    """
    step = ONE if item.step is None else item.step
    if isinstance(step, Dim) and step.constant is not None and step.constant <= 0:
        raise ShapeError("index", f"the step {step} of a slice must be positive")
    if isinstance(item.start, Dim) and item.stop is None and step == ONE and context.is_at_least(-item.start, 1):
        return _least(context, -item.start, size)
    start = ZERO if item.start is None else _bound(context, size, item.start)
    stop = size if item.stop is None else _bound(context, size, item.stop)
    if start is None or stop is None or not isinstance(step, Dim):
        return context.fresh()
    length = _distance(context, size, start, stop)
    if step == ONE:
        return length
    return ceildiv(length, step) if context.is_at_least(step, 1) else context.fresh()


def _bound(context: Context, size: Dim, value: Value) -> Dim | None:
    """A bound counted from the front, not yet cut to the axis; None if it was not followed or its sign is not known."""
    if not isinstance(value, Dim):
        return None
    if context.is_at_least(value, 0):
        return value
    if context.is_at_least(-value, 1):
        return at_least_zero(context, size + value)
    # A bound that is the axis's own size is one whatever its sign.
    return value if context.is_equal(value, size) else None


def _distance(context: Context, size: Dim, start: Dim, stop: Dim) -> Dim:
    """max(0, min(stop, size) - min(start, size)) in its simplest form, for bounds of 0 and more."""
    stop = _least(context, stop, size)
    if start == ZERO:
        return stop
    if context.is_at_least(start, stop):
        return ZERO
    # Where start is beyond the axis, stop - start is negative: the clamp at 0 covers it.
    difference = stop - start
    atom = stop.single_atom
    if isinstance(atom, Min):
        # min(a, size) - start as min(a - start, size - start): in x[i : i + n] the first is n.
        return minimum(*(at_least_zero(context, choice - start) for choice in atom.choices))
    return at_least_zero(context, difference)


def _least(context: Context, a: Dim, b: Dim) -> Dim:
    if context.is_at_least(b, a):
        return a
    if context.is_at_least(a, b):
        return b
    return minimum(a, b)
