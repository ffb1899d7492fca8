"""Operations that reorder, add and drop axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import Dim, Kind
from shaped.spec.op import op
from shaped.spec.ops.arguments import axes, integer, ints, listed, spread, unknown_sizes, with_rank
from shaped.spec.shape import Axis, Pack, Shape
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context

ZERO, ONE, LAST, SECOND_LAST = Dim.of(0), Dim.of(1), Dim.of(-1), Dim.of(-2)


@op(
    "transpose",
    "torch.transpose",
    "torch.swapaxes",
    "torch.swapdims",
    "Tensor.transpose",
    "Tensor.swapaxes",
    "Tensor.swapdims",
    formula="y[..., j, ..., i, ...] = x[..., i, ..., j, ...]",
    in_place=("Tensor.transpose_", "Tensor.swapaxes_", "Tensor.swapdims_"),
)
def transpose(context: Context, input: TensorType, dim0: Value, dim1: Value) -> TensorType:
    return swapped(context, "transpose", input, dim0, dim1)


def swapped(context: Context, operation: str, input: TensorType, dim0: Value, dim1: Value) -> TensorType:
    """The tensor with two axes exchanged."""
    first, second = context.axis(operation, input, dim0), context.axis(operation, input, dim1)
    shape = input.shape
    if first is None or second is None:
        return input.with_shape(unknown_sizes(context, shape))
    if first == second or shape.rank == 0:
        return input
    i, j = shape.position(first), shape.position(second)
    if i is None or j is None:
        return input.with_shape(Shape.of(context.fresh_pack()))
    swapped_axes = list(shape.axes)
    swapped_axes[i], swapped_axes[j] = swapped_axes[j], swapped_axes[i]
    return input.with_shape(Shape(tuple(swapped_axes)))


@op("t", "torch.t", "Tensor.t", formula="y[j, i] = x[i, j]", in_place=("Tensor.t_",))
def t(context: Context, input: TensorType) -> TensorType:
    if input.shape.least_rank > 2:
        raise ShapeError("t", "expects at most 2 axes", str(input), hint="transpose(-2, -1) or .mT?")
    if input.shape.rank == 2:
        return swapped(context, "t", input, ZERO, ONE)
    return input if input.shape.rank is not None else input.with_shape(Shape.of(context.fresh_pack()))


@op("Tensor.T", "Tensor.T", formula="y[..., j, i] = x[i, j, ...]")
def reversed_axes(context: Context, input: TensorType) -> TensorType:
    return input.with_shape(Shape(tuple(reversed(input.shape.axes))))


@op("Tensor.H", "Tensor.H", formula="y[j, i] = conj(x[i, j])")
def conjugate_transpose(context: Context, input: TensorType) -> TensorType:
    rank = input.shape.rank
    if rank not in (None, 0, 2) or input.shape.least_rank > 2:
        raise ShapeError("Tensor.H", "expects a matrix", str(input), hint=".mH?")
    return input if rank == 0 else swapped(context, "Tensor.H", input, SECOND_LAST, LAST)


@op("Tensor.mT", "Tensor.mT", "Tensor.mH", "torch.adjoint", "Tensor.adjoint", formula="y[..., j, i] = x[..., i, j]")
def matrix_transpose(context: Context, input: TensorType) -> TensorType:
    if input.shape.rank == 0:
        return input
    if input.shape.rank == 1:
        raise ShapeError("Tensor.mT", "expects a matrix or a batch of matrices", str(input))
    return swapped(context, "Tensor.mT", input, SECOND_LAST, LAST)


@op("permute", "torch.permute", "Tensor.permute", formula="y[i_dims[0], i_dims[1], ...] = x[i_0, i_1, ...]")
def permute(context: Context, input: TensorType, *dims: Value) -> TensorType:
    order, shape = spread(dims), input.shape
    if order is None:
        return input.with_shape(unknown_sizes(context, shape))
    count = len(order)
    if shape.rank not in (None, count) or shape.least_rank > count:
        given = "1 dim" if count == 1 else f"{count} dims"
        expected = "1 axis" if shape.rank == 1 else f"{shape.rank or 'more'} axes"
        raise ShapeError("permute", f"{given} given for {expected}", str(input))
    ranked = with_rank(context, input, count)
    places = axes(context, "permute", ranked, order)
    if places is None:
        return input.with_shape(unknown_sizes(context, ranked.shape))
    return input.with_shape(Shape(tuple(ranked.shape.dims[place] for place in places)))


@op(
    "movedim",
    "torch.movedim",
    "torch.moveaxis",
    "Tensor.movedim",
    "Tensor.moveaxis",
    formula="the axes source stand at destination, the others keep their order",
)
def movedim(context: Context, input: TensorType, source: Value, destination: Value) -> TensorType:
    sources, targets = ints(source), ints(destination)
    if sources is not None and targets is not None and len(sources) != len(targets):
        raise ShapeError("movedim", f"{len(sources)} sources against {len(targets)} destinations", str(input))
    moved, places = axes(context, "movedim", input, source), axes(context, "movedim", input, destination)
    if moved is None or places is None:
        return input.with_shape(unknown_sizes(context, input.shape))
    dims = input.shape.dims
    if not dims:
        return input
    others = [axis for axis in range(len(dims)) if axis not in moved]
    target = dict(zip(places, moved, strict=True))
    order = [target[i] if i in target else others.pop(0) for i in range(len(dims))]
    return input.with_shape(Shape(tuple(dims[axis] for axis in order)))


@op("unsqueeze", "torch.unsqueeze", "Tensor.unsqueeze", formula="y[..., 0, ...] = x", in_place=("Tensor.unsqueeze_",))
def unsqueeze(context: Context, input: TensorType, dim: Value) -> TensorType:
    shape = input.shape
    axis = context.axis("unsqueeze", input, dim, new=1)
    if axis is None:
        if shape.rank is None:
            return input.with_shape(Shape.of(context.fresh_pack()))
        return input.with_shape(Shape(tuple(context.fresh() for _ in range(shape.rank + 1))))
    return input.with_shape(inserted(context, shape, axis, ONE))


def inserted(context: Context, shape: Shape, axis: int, dim: Dim) -> Shape:
    """The shape with a new axis that stands at `axis` of the result."""
    if axis >= 0 and len(shape.head) >= axis:
        return Shape((*shape.axes[:axis], dim, *shape.axes[axis:]))
    if axis < 0 and len(shape.tail) >= -axis - 1:
        place = len(shape.axes) + axis + 1
        return Shape((*shape.axes[:place], dim, *shape.axes[place:]))
    return Shape.of(context.fresh_pack())


@op(
    "squeeze",
    "torch.squeeze",
    "Tensor.squeeze",
    formula="y[i, j] = x[i, 0, j]",
    in_place=("Tensor.squeeze_",),
)
def squeeze(context: Context, input: TensorType, dim: Value = None) -> TensorType:
    """The tensor without its axes of size 1: those named by `dim`, else all. A named size counts as not 1."""
    if dim is None:
        ambiguous = ambiguous_squeeze(context, input)
        if ambiguous:
            context.found.append(_squeeze_fault(context, input, ambiguous))
        return input.with_shape(_without_ones(context, input.shape, range(-input.shape.least_rank, 0)))
    if input.shape.rank is None:
        return input.with_shape(_squeezed_near_pack(context, input.shape, ints(dim)))
    named = axes(context, "squeeze", input, dim)
    if named is None:
        if any(_may_be_one(size) for size in input.shape.dims):
            return input.with_shape(Shape.of(context.fresh_pack()))
        return input
    return input.with_shape(_without_ones(context, input.shape, named))


def _without_ones(context: Context, shape: Shape, places: range | tuple[int, ...]) -> Shape:
    """The shape without its constant ones. An axis that was not followed may be one: it becomes any number of axes."""
    if shape.rank is None:
        return Shape.of(context.fresh_pack())
    places = tuple(place % len(shape.axes) for place in places) if shape.axes else ()
    kept = [dim for i, dim in enumerate(shape.dims) if i not in places or dim != 1]
    unclear = [i for i, dim in enumerate(kept) if dim.has_unknown and any(dim is shape.dims[place] for place in places)]
    unclear = [i for i in unclear if not context.is_at_least(kept[i], 2)]
    if not unclear:
        return Shape(tuple(kept))
    return Shape((*kept[: unclear[0]], context.fresh_pack(), *kept[unclear[-1] + 1 :]))


def _squeezed_near_pack(context: Context, shape: Shape, dims: tuple[Value, ...] | None) -> Shape:
    places = [integer(value) for value in dims or ()]
    if dims is None or len(places) != 1 or places[0] is None or shape.at(places[0]) is None:
        return Shape.of(context.fresh_pack())
    size = shape.at(places[0])
    assert size is not None
    if size.has_unknown:
        return Shape.of(context.fresh_pack())
    return shape.replace(places[0]) if size == 1 else shape


def _may_be_one(dim: Dim) -> bool:
    return dim.constant in (None, 1)


def ambiguous_squeeze(context: Context, tensor: TensorType) -> tuple[Axis, ...]:
    """The named axes that `squeeze()` drops too where they are 1, if it drops an axis of size 1 in any case.

    >>> from shaped.spec.context import Context
    >>> ambiguous_squeeze(Context(), TensorType.of(8, 1))
    ()
    """
    named = [axis for axis in tensor.shape.axes if _is_name(axis)]
    if _certain_one(context, tensor.shape) is None or any(_is_one_here(context, axis) for axis in named):
        return ()  # a program that asks whether the batch is one knows what it drops
    return tuple(axis for axis in named if isinstance(axis, Pack) or not context.is_never_equal(axis, 1))


def _certain_one(context: Context, shape: Shape) -> int | None:
    """The place of an axis of size 1, for certain or where a caller leaves an int at its default."""
    for i, axis in enumerate(shape.axes):
        if isinstance(axis, Dim) and (axis == 1 or axis.substitute(context.defaults) == 1):
            return i
    return None


def _is_name(axis: Axis) -> bool:
    """Whether an axis is of any size: a name of an annotation, or several as `*batch`."""
    if isinstance(axis, Pack):
        return axis.kind is Kind.NAME
    return axis.constant is None and not axis.has_unknown and any(symbol.kind is Kind.NAME for symbol in axis.symbols())


def _is_one_here(context: Context, axis: Axis) -> bool:
    """Whether the path says that a named axis is 1."""
    return isinstance(axis, Dim) and context.facts.normalize(axis) == 1


def _squeeze_fault(context: Context, tensor: TensorType, ambiguous: tuple[Axis, ...]) -> ShapeError:
    names = " and ".join(str(axis) for axis in ambiguous)
    place = _certain_one(context, tensor.shape)
    assert place is not None
    from_end = place - len(tensor.shape.axes)
    is_one = len(ambiguous) == 1 and isinstance(ambiguous[0], Dim)
    return ShapeError(
        "squeeze",
        f"without a dim it also drops {names} where {'it is' if is_one else 'they are'} 1",
        str(tensor),
        hint=f"squeeze({from_end if place else place})?",
        dims=tuple(axis for axis in ambiguous if isinstance(axis, Dim)),
        code="shape-squeeze",
    )


@op("flip", "torch.flip", "Tensor.flip", formula="y[i] = x[n-1-i]")
def flip(context: Context, input: TensorType, *dims: Value) -> TensorType:
    flipped = spread(dims)
    if flipped is not None:
        axes(context, "flip", input, flipped)
    return input


@op("fliplr", "torch.fliplr", "Tensor.fliplr", formula="y[i, j] = x[i, n-1-j]")
def fliplr(context: Context, input: TensorType) -> TensorType:
    return _of_rank(input, "fliplr", 2)


@op("flipud", "torch.flipud", "Tensor.flipud", formula="y[i] = x[n-1-i]")
def flipud(context: Context, input: TensorType) -> TensorType:
    return _of_rank(input, "flipud", 1)


def _of_rank(input: TensorType, operation: str, least: int) -> TensorType:
    if input.shape.rank is not None and input.shape.rank < least:
        raise ShapeError(operation, f"expects at least {least} {'axis' if least == 1 else 'axes'}", str(input))
    return input


@op("roll", "torch.roll", "Tensor.roll", formula="y[i] = x[(i-shift) % n]")
def roll(context: Context, input: TensorType, shifts: Value, dims: Value = None) -> TensorType:
    amounts, along = ints(shifts), ints(dims) if dims is not None else ()
    if amounts is not None and along is not None and len(amounts) != len(along) and (along or len(amounts) != 1):
        raise ShapeError("roll", f"{len(amounts)} shifts against {len(along)} dims", str(input))
    if along and input.shape.rank == 0:
        raise ShapeError("roll", "a tensor without axes has none to roll along", str(input))
    for dim in along or ():
        context.axis("roll", input, dim)
    return input


@op("rot90", "torch.rot90", "Tensor.rot90", formula="y = x turned by k right angles in the plane of two axes")
def rot90(context: Context, input: TensorType, k: Value = ONE, dims: Value = (ZERO, ONE)) -> TensorType:
    plane, turns = listed(dims), integer(k)
    if plane is None:
        return input.with_shape(unknown_sizes(context, input.shape))
    if len(plane) != 2:
        raise ShapeError("rot90", f"expects two dims to rotate in, {len(plane)} given", str(input))
    _of_rank(input, "rot90", 2)
    if input.shape.rank is not None and (plane[0] == plane[1] or axes(context, "rot90", input, plane) is None):
        if plane[0] == plane[1] and integer(plane[0]) is not None:
            raise ShapeError("rot90", "the two dims to rotate in are the same", str(input))
        return input.with_shape(unknown_sizes(context, input.shape))
    turned = swapped(context, "rot90", input, plane[0], plane[1])
    if turns is not None:
        return turned if turns % 2 else input
    return input if turned.shape == input.shape else input.with_shape(unknown_sizes(context, input.shape))
