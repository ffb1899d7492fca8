"""einops: rearrange, reduce, repeat, einsum, pack and unpack, and the layers made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.axis_order import regrouped_as, remembered
from shaped.spec.dims import ZERO, Dim, product
from shaped.spec.dtypes import ANY_DTYPE, BOOLEAN, DType
from shaped.spec.op import Module, module, op
from shaped.spec.ops.arguments import (
    ends,
    leaves_rest,
    listed,
    quotient,
    shown,
    size,
    tensors,
    with_rank,
    without_shared,
)
from shaped.spec.ops.einops_pattern import (
    Group,
    Number,
    PatternError,
    Side,
    check_operation,
    parse_packing,
    parse_pattern,
    parse_side,
)
from shaped.spec.ops.einsum import Label, contract
from shaped.spec.ops.joining import concatenated, stacked
from shaped.spec.ops.reshape import regrouped
from shaped.spec.promotion import as_mean, as_sum
from shaped.spec.shape import Axis, Pack, Shape
from shaped.spec.values import UNKNOWN, Many, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shaped.spec.context import Context

_REDUCTIONS = ("min", "max", "sum", "mean", "prod", "any", "all")


@op("rearrange", "einops.rearrange", formula="the axes named on the left, in the order and grouping of the right")
def rearrange(context: Context, tensor: Value, pattern: Value, **axes_lengths: Value) -> TensorType:
    return transformed(context, "rearrange", tensor, pattern, axes_lengths)


@op("repeat.einops", "einops.repeat", formula="rearrange, with new axes on the right that repeat the elements")
def repeat(context: Context, tensor: Value, pattern: Value, **axes_lengths: Value) -> TensorType:
    return transformed(context, "repeat", tensor, pattern, axes_lengths)


@op("reduce.einops", "einops.reduce", formula="rearrange, with the axes that the right lacks reduced")
def reduce(context: Context, tensor: Value, pattern: Value, reduction: Value, **axes_lengths: Value) -> TensorType:
    result = transformed(context, "reduce", tensor, pattern, axes_lengths)
    dtype = _reduced_dtype(reduction, result.dtype)
    if not isinstance(pattern, str):
        return result.with_dtype(ANY_DTYPE)
    left, right = parse_pattern(pattern)
    if left.numbers or set(left.names) - set(right.names):
        return result.with_dtype(dtype)
    # Where no axis is reduced einops does not even call the reduction; `...` may stand for no axis.
    return result if left.has_ellipsis == right.has_ellipsis else result.with_dtype(ANY_DTYPE)


def _reduced_dtype(reduction: Value, dtype: DType) -> DType:
    if isinstance(reduction, str) and reduction not in _REDUCTIONS:
        raise ShapeError("reduce", f"there is no reduction {reduction!r}", hint=f"one of {', '.join(_REDUCTIONS)}?")
    match reduction:
        case "min" | "max":
            return dtype
        case "sum" | "prod":
            return as_sum(dtype)
        case "mean":
            return as_mean("reduce", dtype)
        case "any" | "all":
            return BOOLEAN
        case _:
            return ANY_DTYPE


def transformed(
    context: Context, operation: str, tensor: Value, pattern: Value, lengths: Mapping[str, Value]
) -> TensorType:
    """The tensor with its axes taken apart as the left side says and put together as the right side says.

    Raises:
        ShapeError: the pattern is malformed or does not fit the shape.
    """
    whole = _stacked(context, operation, tensor)
    if not isinstance(pattern, str):
        return context.unknown_tensor(whole.dtype)
    given = {name: size(context, value) for name, value in lengths.items()}
    named = "".join(f", {name}={length}" for name, length in given.items())
    text = f'pattern "{pattern}"{named}'
    try:
        left, right = parse_pattern(pattern)
        check_operation(operation, left, right, frozenset(given))
    except PatternError as error:
        raise ShapeError(operation, str(error), text) from None
    dims, rest = _left_axes(context, operation, whole, left, text)
    sizes: dict[str, Dim] = dict(given)
    for group, own in zip(left.groups, dims, strict=True):
        _take_apart(context, operation, group, own, sizes, text)
    result: list[Axis] = []
    for axis in right.axes:
        result.extend(rest if axis is ... else (_put_together(context, axis, sizes, rest),))
    taken = regrouped_as(context, operation, whole, Shape(_apart(left, sizes, rest)))
    merged = [_factors(group, sizes, rest) for group in right.groups if ... not in group]
    return remembered(whole.with_shape(Shape(tuple(result))), (*taken.merged, *merged))


def _apart(left: Side, sizes: Mapping[str, Dim], rest: Sequence[Axis]) -> tuple[Axis, ...]:
    """The axes that the left side names, each by itself."""
    found: list[Axis] = []
    for axis in left.axes:
        found.extend(rest if axis is ... else _factors(axis, sizes, rest))
    return tuple(found)


def _stacked(context: Context, operation: str, tensor: Value) -> TensorType:
    """The input; a list of tensors is stacked along a new first axis."""
    if isinstance(tensor, TensorType):
        return tensor
    if isinstance(tensor, (tuple, Many)):
        return stacked(context, operation, tensor, ZERO)
    return context.unknown_tensor()


def _left_axes(
    context: Context, operation: str, tensor: TensorType, left: Side, text: str
) -> tuple[tuple[Dim, ...], tuple[Axis, ...]]:
    """The sizes of the groups of the left side, and the axes that `...` stands for."""
    shape, count = tensor.shape, len(left.groups)
    is_too_long = left.split is None and shape.least_rank > count
    if is_too_long or (shape.rank is not None and shape.rank < count):
        least = "" if left.split is None else "at least "
        axes = "1 axis" if count == 1 else f"{count} axes"
        raise ShapeError(operation, f"the pattern has {least}{axes}, the tensor is {shape}", text)
    if left.split is None:
        return with_rank(context, tensor, count).shape.dims, ()
    head, rest, tail = ends(context, shape, left.split, count - left.split)
    return (*head, *tail), rest


def _take_apart(context: Context, operation: str, group: Group, own: Dim, sizes: dict[str, Dim], text: str) -> None:
    """Find the sizes of the elements of one axis of the left side."""
    known: list[Dim] = []
    missing: list[str] = []
    for element in group:
        if isinstance(element, Number):
            known.append(Dim.of(element.size))
        elif isinstance(element, str):
            if element in sizes:
                known.append(sizes[element])
            else:
                missing.append(element)
    if len(missing) > 1:
        raise ShapeError(operation, f"the sizes of {' and '.join(missing)} cannot be found, give all but one", text)
    if missing and not known:
        sizes[missing[0]] = own
        return
    elements, asked = without_shared((own,), known)
    whole = product(known)
    if not missing:

        def fault() -> ShapeError:
            return ShapeError(operation, f"an axis of size {own} against {whole}", text, dims=(own, *known))

        context.require_equal(elements, asked, fault)
        return
    if leaves_rest(context, elements, asked):
        raise ShapeError(operation, f"{own} is not divisible by {whole}", text, dims=(own, *known))
    sizes[missing[0]] = quotient(context, elements, asked)


def _put_together(context: Context, group: Group, sizes: Mapping[str, Dim], rest: Sequence[Axis]) -> Dim:
    if ... in group and any(isinstance(axis, Pack) for axis in rest):
        return context.fresh()
    return product(_factors(group, sizes, rest))


def _factors(group: Group, sizes: Mapping[str, Dim], rest: Sequence[Axis]) -> tuple[Dim, ...]:
    """The sizes of the elements of one group, in order; those that a pack in it hides are left out."""
    factors: list[Dim] = []
    for element in group:
        match element:
            case str():
                factors.append(sizes[element])
            case Number(size=number):
                factors.append(Dim.of(number))
            case _:
                factors.extend(axis for axis in rest if isinstance(axis, Dim))
    return tuple(factors)


@op("einsum.einops", "einops.einsum", formula="the sum of products over names that the right side lacks")
def einsum(context: Context, *tensors_and_pattern: Value) -> TensorType:
    *values, pattern = tensors_and_pattern or (UNKNOWN,)
    operands = tensors(context, tuple(values))
    if not isinstance(pattern, str) or operands is None:
        return context.unknown_tensor()
    text = f'"{pattern}"'
    try:
        if pattern.count("->") != 1:
            raise PatternError("there is no `->`")
        left, right = pattern.split("->")
        inputs = [_labels(parse_side(part, underscore=True, repeated=True)) for part in left.split(",")]
        output = _labels(parse_side(right, underscore=True))
    except PatternError as error:
        raise ShapeError("einsum", str(error), text) from None
    return contract(context, "einsum", operands, inputs, output, text)


def _labels(side: Side) -> list[Label]:
    labels: list[Label] = []
    for axis in side.axes:
        if axis is ...:
            labels.append(...)
        elif len(axis) == 1 and isinstance(axis[0], str):
            labels.append(axis[0])
        else:
            raise PatternError("only names and `...` are allowed for axes")
    return labels


@op("pack", "einops.pack", formula="tensors flattened where the pattern has its `*`, joined there")
def pack(context: Context, tensors: Value, pattern: Value) -> Value:
    parts = _parts(context, tensors)
    if not isinstance(pattern, str):
        return (context.unknown_tensor(), UNKNOWN)
    before, after = _packing("pack", pattern)
    if parts is None:
        sizes = (context.fresh() for _ in range(before + 1 + after))
        element = tensors.element if isinstance(tensors, Many) else UNKNOWN
        dtype = element.dtype if isinstance(element, TensorType) else ANY_DTYPE
        return (TensorType(Shape(tuple(sizes)), dtype), UNKNOWN)
    if not parts:
        raise ShapeError("pack", "expects at least one tensor")
    flat: list[TensorType] = []
    shapes: list[Value] = []
    for part in parts:
        if part.shape.rank is not None and part.shape.rank < before + after:
            reason = f"the pattern has at least {before + after} axes, a tensor has {part.shape.rank}"
            raise ShapeError("pack", reason, f'{shown(*parts)}: pattern "{pattern}"')
        packed, packed_shape = _flattened(context, part, before, after)
        flat.append(packed)
        shapes.append(packed_shape)
    return (concatenated(context, "pack", tuple(flat), Dim.of(before)), tuple(shapes))


def _parts(context: Context, value: Value) -> tuple[TensorType, ...] | None:
    return tensors(context, value)


def _packing(operation: str, pattern: str) -> tuple[int, int]:
    try:
        return parse_packing(pattern)
    except PatternError as error:
        raise ShapeError(operation, str(error), f'pattern "{pattern}"') from None


def _flattened(context: Context, part: TensorType, before: int, after: int) -> tuple[TensorType, Value]:
    shape = part.shape
    head, inner, tail = ends(context, shape, before, after)
    dims = tuple(axis for axis in inner if isinstance(axis, Dim))
    is_known = len(dims) == len(inner)
    size_of_inner = product(dims) if is_known else context.fresh()
    return part.with_shape(Shape((*head, size_of_inner, *tail))), dims if is_known else UNKNOWN


@op("unpack", "einops.unpack", formula="the tensors that were packed along the `*` of the pattern")
def unpack(context: Context, tensor: TensorType, packed_shapes: Value, pattern: Value) -> Value:
    shapes = listed(packed_shapes)
    if not isinstance(pattern, str):
        return UNKNOWN
    before, after = _packing("unpack", pattern)
    rank = before + 1 + after
    if tensor.shape.rank not in (None, rank) or tensor.shape.least_rank > rank:
        reason = f"the pattern has {rank} axes, the tensor {len(tensor.shape.axes)}"
        raise ShapeError("unpack", reason, f'{tensor}: pattern "{pattern}"')
    if shapes is None:
        return Many(context.unknown_tensor(tensor.dtype), context.fresh())
    dims = with_rank(context, tensor, rank).shape.dims
    parts = [
        None if listed(shape) is None else tuple(size(context, each) for each in listed(shape) or ())
        for shape in shapes
    ]
    places = _places(context, dims[before], parts, f'{tensor}: pattern "{pattern}"')
    results: list[TensorType] = []
    for part, place in zip(parts, places, strict=True):
        if part is None:
            axes: tuple[Axis, ...] = (*dims[:before], context.fresh_pack(), *dims[before + 1 :])
        else:
            axes = (*dims[:before], *_unpacked(context, part, place), *dims[before + 1 :])
        results.append(tensor.with_shape(Shape(axes)))
    return tuple(results)


def _places(context: Context, own: Dim, parts: Sequence[tuple[Dim, ...] | None], text: str) -> list[Dim]:
    """The length that each part takes of the packed axis; one part may leave it open with -1."""
    lengths = [None if part is None or any(dim == -1 for dim in part) else product(part) for part in parts]
    known = [length for length in lengths if length is not None]
    total = sum(known, start=ZERO)
    if len(known) == len(lengths):

        def fault() -> ShapeError:
            return ShapeError("unpack", f"parts of {shown(*known)} elements for an axis of {own}", text, dims=(own,))

        context.require_equal(own, total, fault)
    is_open = len(lengths) - len(known) == 1
    left = (own - total).constant
    if is_open and left is not None and left < 0:
        raise ShapeError("unpack", f"parts of {shown(*known)} elements for an axis of {own}", text, dims=(own,))
    return [
        own - total if is_open and length is None else context.fresh() if length is None else length
        for length in lengths
    ]


def _unpacked(context: Context, part: Sequence[Dim], place: Dim) -> tuple[Dim, ...]:
    if all(dim != -1 for dim in part):
        return tuple(part)
    return regrouped(context, "unpack", TensorType(Shape((place,))), part).shape.dims


class _Layer(Module):
    """A layer that applies one pattern."""

    operation = ""

    def __init__(self, context: Context, pattern: Value, **axes_lengths: Value) -> None:
        self.pattern = pattern
        self.axes_lengths = axes_lengths

    def forward(self, context: Context, input: Value) -> Value:
        """The type of the transformed input."""
        return transformed(context, self.operation, input, self.pattern, self.axes_lengths)


@module("einops.layers.torch.Rearrange")
class Rearrange(_Layer):
    """`rearrange` as a layer."""

    operation = "rearrange"


@module("einops.layers.torch.Reduce")
class Reduce(_Layer):
    """`reduce` as a layer."""

    operation = "reduce"

    def __init__(self, context: Context, pattern: Value, reduction: Value, **axes_lengths: Value) -> None:
        super().__init__(context, pattern, **axes_lengths)
        self.reduction = reduction

    def forward(self, context: Context, input: Value) -> Value:
        """The type of the reduced input."""
        return reduce(context, input, self.pattern, self.reduction, **self.axes_lengths)
