"""Operations that regroup elements into other axes without moving them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from shaped.errors import Origin, ShapeError
from shaped.spec.axis_order import regrouped_as
from shaped.spec.dims import ONE, Dim, FloorDiv, product
from shaped.spec.dtypes import COMPLEX, DType
from shaped.spec.op import op
from shaped.spec.ops.arguments import leaves_rest, listed, quotient, size, spread, without_shared
from shaped.spec.promotion import as_complex
from shaped.spec.shape import Shape
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.spec.context import Context


ZERO, LAST = Dim.of(0), Dim.of(-1)


@op("view", "Tensor.view", "Tensor._unsafe_view", formula="the elements of x, in order, as another shape")
def view(context: Context, input: TensorType, *shape: Value) -> TensorType:
    if len(shape) == 1 and isinstance(shape[0], DType):
        return _reinterpreted(context, input, shape[0])
    return regrouped(context, "view", input, spread(shape))


@op("reshape", "torch.reshape", "Tensor.reshape", formula="the elements of x, in order, as another shape")
def reshape(context: Context, input: TensorType, *shape: Value) -> TensorType:
    return regrouped(context, "reshape", input, spread(shape))


@op("view_as", "Tensor.view_as", formula="the elements of x, in order, with the shape of other")
def view_as(context: Context, input: TensorType, other: TensorType) -> TensorType:
    return _regrouped_as(context, "view_as", input, other)


@op("reshape_as", "Tensor.reshape_as", formula="the elements of x, in order, with the shape of other")
def reshape_as(context: Context, input: TensorType, other: TensorType) -> TensorType:
    return _regrouped_as(context, "reshape_as", input, other)


def _regrouped_as(context: Context, operation: str, input: TensorType, other: TensorType) -> TensorType:
    if other.shape.rank is None:
        return input.with_shape(other.shape)
    return regrouped(context, operation, input, other.shape.dims)


def regrouped(context: Context, operation: str, input: TensorType, shape: Sequence[Value] | None) -> TensorType:
    """The tensor's elements with another shape, one size of which may be -1.

    Raises:
        ShapeError: the numbers of elements differ, or the shape is none.
    """
    if shape is None:
        return input.with_shape(Shape.of(context.fresh_pack()))
    wanted = [size(context, value) for value in shape]
    inferred = [i for i, dim in enumerate(wanted) if dim == -1]
    as_text = f"{input} as {Shape(tuple(wanted))}"
    if len(inferred) > 1:
        raise ShapeError(operation, "only one size can be -1", as_text)
    for dim in wanted:
        if dim.constant is not None and dim.constant < -1:
            raise ShapeError(operation, f"{dim} is no size", as_text)
    given = [dim for dim in wanted if dim != -1]
    if input.shape.rank is None:
        return input.with_shape(Shape(tuple(context.fresh() if dim == -1 else dim for dim in wanted)))
    elements, asked = without_shared(input.shape.dims, given)
    if not inferred:
        context.require_equal(elements, asked, lambda: _wrong_number(operation, as_text, input, wanted))
        return regrouped_as(context, operation, input, Shape(tuple(_known_sizes(wanted, elements, asked))))
    if asked.constant == 0:
        raise ShapeError(operation, "-1 can be any size, the other sizes hold 0 elements", as_text)
    if leaves_rest(context, elements, asked):
        held, others = product(input.shape.dims), product(given)
        what = f"{held} elements are" if elements == held else f"{elements} is"
        reason = f"{what} not divisible by {others if elements == held else asked}"
        raise ShapeError(operation, reason, as_text, dims=_at_fault(input.shape.dims, given))
    wanted[inferred[0]] = _inferred(context, elements, asked)
    if asked == ONE:
        wanted[inferred[0]] = _merged(operation, _at_fault(input.shape.dims, given), wanted[inferred[0]])
    return regrouped_as(context, operation, input, Shape(tuple(wanted)))


def _inferred(context: Context, elements: Dim, asked: Dim) -> Dim:
    """The size that -1 stands for: divisions in the other sizes leave no rest if it is whole then.

    (b, t, e) as (b*h, -1, e//h) has t in the middle if h divides e.
    """
    size = quotient(context, elements, asked)
    if size * asked == elements:
        return size
    floors = [atom for atom in asked.atoms() if isinstance(atom, FloorDiv)]
    learned = context.facts
    for floor in floors:
        learned = learned.with_exact(floor.numerator, floor.denominator)
    held, others = learned.normalize(elements), learned.normalize(asked)
    whole = held // others if floors and others.terms else size
    if whole * others != held:
        return size
    context.facts = learned
    for floor in floors:
        assumption = f"{floor.numerator} % {floor.denominator} == 0"
        if assumption not in context.assumptions:
            context.assumptions.append(assumption)
    return whole


def _merged(operation: str, parts: Sequence[Dim], whole: Dim | None = None) -> Dim:
    """The size of axes merged into one, by default their product. A number is said to come from its factors."""
    whole = product(tuple(parts)) if whole is None else whole
    factors = [dim for dim in parts if dim != ONE]
    if whole.constant is None or len(factors) < 2 or product(tuple(factors)) != whole:
        return whole
    return whole.at(Origin(f"{'*'.join(map(str, factors))} of {operation}"))


def _known_sizes(wanted: Sequence[Dim], elements: Dim, asked: Dim) -> Sequence[Dim]:
    """The sizes asked for; the only one that was not followed is what the number of elements leaves for it."""
    unknown = [dim for dim in wanted if dim.has_unknown]
    if len(unknown) != 1 or elements.has_unknown:
        return wanted
    others = asked // unknown[0]
    if others.has_unknown or others * unknown[0] != asked or others.constant == 0:
        return wanted
    rest = elements // others
    return [rest if dim is unknown[0] and rest * others == elements else dim for dim in wanted]


def _at_fault(left: Sequence[Dim], right: Sequence[Dim]) -> tuple[Dim, ...]:
    """The sizes of two lists that their products differ by: not those in both, nor numbers that the others hold."""
    own, others = list(left), list(right)
    for dim in left:
        if dim in others:
            others.remove(dim)
            own.remove(dim)
    numbers = [math.prod(dim.constant for dim in side if dim.constant is not None) for side in (own, others)]
    for side, number, rest in ((own, numbers[0], numbers[1]), (others, numbers[1], numbers[0])):
        if number and rest % number == 0:
            side[:] = [dim for dim in side if dim.constant is None]
    return (*own, *others)


def _wrong_number(operation: str, as_text: str, input: TensorType, wanted: Sequence[Dim]) -> ShapeError:
    held, asked = product(input.shape.dims), product(tuple(wanted))
    error = ShapeError(operation, f"{held} elements against {asked}", as_text, dims=_at_fault(input.shape.dims, wanted))
    for i, dim in enumerate(wanted):
        others = product(tuple(wanted[:i]) + tuple(wanted[i + 1 :]))
        if others.constant != 0 and not held.has_unknown and (held // others) * others == held:
            fixed = [*wanted[:i], held // others, *wanted[i + 1 :]]
            if i == 0 or dim.constant is not None:
                error.hint = f"{operation}({', '.join(map(str, fixed))})?"
                break
    return error


def _reinterpreted(context: Context, input: TensorType, dtype: DType) -> TensorType:
    """`x.view(dtype)`: the bytes of the last axis read as another dtype."""
    old, new = _bytes(input.dtype), _bytes(dtype)
    result = input.with_dtype(dtype)
    if old is not None and old == new:
        return result
    last = input.shape.at(-1)
    if input.shape.rank == 0:
        if old is not None and new is not None:
            raise ShapeError("view", f"{input.dtype} and {dtype} have different element sizes", str(input))
        return result
    if last is None:
        return result.with_shape(Shape.of(context.fresh_pack()))
    if old is None or new is None:
        return result.with_shape(input.shape.replace(-1, context.fresh()))
    if old >= new:
        return result.with_shape(input.shape.replace(-1, last * (old // new)))
    if last.constant is not None and last.constant % (new // old):
        raise ShapeError(
            "view", f"the last size {last} is not divisible by {new // old}", f"{input.dtype}{input} as {dtype}"
        )
    return result.with_shape(input.shape.replace(-1, quotient(context, last, Dim.of(new // old))))


def _bytes(dtype: DType) -> int | None:
    """The bytes of one element, None if it may be one of several."""
    sizes = {_BYTES.get(name) or int("".join(filter(str.isdigit, name))) // 8 for name in dtype.names}
    return sizes.pop() if len(sizes) == 1 else None


_BYTES = {
    "bool": 1,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2fnuz": 1,
}


@op("flatten", "torch.flatten", "Tensor.flatten", formula="the axes start_dim to end_dim as one")
def flatten(context: Context, input: TensorType, start_dim: Value = ZERO, end_dim: Value = LAST) -> TensorType:
    shape = input.shape
    start, end = context.axis("flatten", input, start_dim), context.axis("flatten", input, end_dim)
    if start is None or end is None:
        return input.with_shape(Shape.of(context.fresh_pack()))
    if shape.rank is None:
        return input.with_shape(_flattened_near_pack(context, shape, start, end))
    if shape.rank == 0:
        return input.with_shape(Shape.of(1))
    if start > end:
        raise ShapeError("flatten", f"start_dim {start} comes after end_dim {end}", str(input))
    merged = _merged("flatten", shape.dims[start : end + 1])
    return regrouped_as(context, "flatten", input, Shape((*shape.dims[:start], merged, *shape.dims[end + 1 :])))


def _flattened_near_pack(context: Context, shape: Shape, start: int, end: int) -> Shape:
    if (start >= 0) == (end >= 0) and shape.at(start) is not None and shape.at(end) is not None:
        i, j = shape.position(start), shape.position(end)
        if i is not None and j is not None and i <= j:
            return Shape((*shape.axes[:i], product(tuple(_dims(shape, i, j))), *shape.axes[j + 1 :]))
    elif start >= 0 and end < 0 and start <= len(shape.head) and -end - 1 <= len(shape.tail):
        # The pack is inside: its number of elements is not known, the axes around it are.
        after = shape.tail[len(shape.tail) + end + 1 :]
        return Shape((*shape.head[:start], context.fresh(), *after))
    return Shape.of(context.fresh_pack())


def _dims(shape: Shape, first: int, last: int) -> list[Dim]:
    return [axis for axis in shape.axes[first : last + 1] if isinstance(axis, Dim)]


@op("ravel", "torch.ravel", "Tensor.ravel", formula="all axes as one")
def ravel(context: Context, input: TensorType) -> TensorType:
    return flatten(context, input)


@op("unflatten", "torch.unflatten", "Tensor.unflatten", formula="the axis dim as several, sizes, in order")
def unflatten(context: Context, input: TensorType, dim: Value, sizes: Value) -> TensorType:
    shape, parts = input.shape, listed(sizes)
    axis = context.axis("unflatten", input, dim)
    if axis is None or parts is None or shape.at(axis) is None:
        return input.with_shape(Shape.of(context.fresh_pack()))
    if shape.rank == 0 or not parts:
        raise ShapeError("unflatten", "needs an axis and at least one size", str(input))
    return regrouped_as(context, "unflatten", input, split_axis(context, "unflatten", input, axis, parts))


def split_axis(context: Context, operation: str, input: TensorType, axis: int, parts: Sequence[Value]) -> Shape:
    """The shape with one axis split into several, one of which may be -1."""
    whole = input.shape.at(axis)
    assert whole is not None
    wanted = [size(context, part) for part in parts]
    inferred = [i for i, dim in enumerate(wanted) if dim == -1]
    into = f"dim {axis} of {input} into {Shape(tuple(wanted))}"
    if len(inferred) > 1:
        raise ShapeError(operation, "only one size can be -1", into)
    if any(dim.constant is not None and dim.constant < -1 for dim in wanted):
        raise ShapeError(operation, "a size is negative", into)
    given = [dim for dim in wanted if dim != -1]
    elements, asked = without_shared((whole,), given)
    if not inferred:
        total = product(given)
        reason = f"{whole} elements against {total}"
        context.require_equal(elements, asked, lambda: ShapeError(operation, reason, into, dims=(whole, *given)))
    elif leaves_rest(context, elements, asked):
        raise ShapeError(operation, f"{whole} is not divisible by {product(given)}", into, dims=(whole, *given))
    else:
        wanted[inferred[0]] = quotient(context, elements, asked)
    return input.shape.replace(axis, *wanted)


@op("resize", "Tensor.resize", formula="x as another shape", in_place=("Tensor.resize_",))
def resize(context: Context, input: TensorType, *sizes: Value) -> TensorType:
    wanted = spread(sizes)
    if wanted is None:
        return input.with_shape(Shape.of(context.fresh_pack()))
    return input.with_shape(Shape(tuple(size(context, value) for value in wanted)))


@op("resize_as", "Tensor.resize_as", formula="x with the shape of other", in_place=("Tensor.resize_as_",))
def resize_as(context: Context, input: TensorType, the_template: TensorType) -> TensorType:
    return input.with_shape(the_template.shape)


@op("as_strided", "torch.as_strided", "Tensor.as_strided", formula="y[i, j] = storage[offset + i*s_0 + j*s_1]")
def as_strided(
    context: Context, input: TensorType, size: Value, stride: Value, storage_offset: Value = None
) -> TensorType:
    wanted, strides = listed(size), listed(stride)
    if wanted is not None and strides is not None and len(wanted) != len(strides):
        raise ShapeError("as_strided", f"{len(wanted)} sizes against {len(strides)} strides", str(input))
    return resize(context, input, size)


@op("view_as_complex", "torch.view_as_complex", formula="y = x[..., 0] + i*x[..., 1]")
def view_as_complex(context: Context, input: TensorType) -> TensorType:
    result = input.with_dtype(complex_of(input.dtype))
    last = input.shape.at(-1)
    if input.shape.rank == 0:
        raise ShapeError("view_as_complex", "expects a last axis of size 2", str(input))
    if last is None:
        return result.with_shape(Shape.of(context.fresh_pack()))
    context.require_equal(
        last, 2, lambda: ShapeError("view_as_complex", f"the last size is {last}, not 2", str(input), dims=(last,))
    )
    return result.with_shape(input.shape.replace(-1))


def complex_of(dtype: DType) -> DType:
    """The complex dtypes whose parts have this dtype; any complex one where there is none."""
    names = as_complex(dtype).names & COMPLEX
    return DType(names or COMPLEX)
