"""Sorting and searching: order along an axis, the largest elements, positions in a sorted sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.broadcast import uncertain_if_joined
from shaped.spec.dims import Dim
from shaped.spec.dtype_demands import INTEGER, takes
from shaped.spec.dtypes import BOOL, BOOLEAN, COMPLEX, INT64, DType
from shaped.spec.op import op
from shaped.spec.ops.reduction import value_and_index
from shaped.spec.ops.scan import require_size
from shaped.spec.pointwise import as_tensor
from shaped.spec.promotion import excluding
from shaped.spec.reduce import LAST
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context

_HUNDRED = Dim.of(100)


def _ordered(operation: str, input: TensorType) -> TensorType:
    return input.with_dtype(excluding(operation, input.dtype, COMPLEX, "tensors have no order"))


@op("sort", "torch.sort", "Tensor.sort", formula="y = x sorted along dim, and where each was")
def sort(
    context: Context,
    input: TensorType,
    dim: Value = LAST,
    descending: Value = False,
    stable: Value = None,
    *,
    out: Value = None,
) -> Value:
    context.axis("sort", input, dim)
    values = _ordered("sort", input)
    return (values, values.with_dtype(INT64))


@op("argsort", "torch.argsort", "Tensor.argsort", formula="the indices that sort x along dim")
def argsort(
    context: Context, input: TensorType, dim: Value = LAST, descending: Value = False, *, stable: Value = False
) -> Value:
    context.axis("argsort", input, dim)
    return _ordered("argsort", input).with_dtype(INT64)


@op("msort", "torch.msort", "Tensor.msort", formula="y = x sorted along the first axis")
def msort(context: Context, input: TensorType, *, out: Value = None) -> Value:
    return _ordered("msort", input)


@op("topk", "torch.topk", "Tensor.topk", formula="the k largest along dim, and where they are")
def topk(
    context: Context,
    input: TensorType,
    k: Value,
    dim: Value = LAST,
    largest: Value = True,
    sorted: Value = True,
    *,
    out: Value = None,
) -> Value:
    ordered = input.with_dtype(excluding("topk", input.dtype, COMPLEX | BOOL, "tensors are not allowed"))
    axis = context.axis("topk", input, dim)
    count = k if isinstance(k, Dim) else context.fresh()
    if input.shape.rank == 0:
        return (ordered, ordered.with_dtype(INT64))
    if axis is None or input.shape.at(axis) is None:
        rank = input.shape.rank
        shape = Shape.of(context.fresh_pack()) if rank is None else Shape(tuple(context.fresh() for _ in range(rank)))
    else:
        require_size(context, "topk", input, axis, count, "k")
        shape = input.shape.replace(axis, count)
    values = ordered.with_shape(shape)
    return (values, values.with_dtype(INT64))


@op("kthvalue", "torch.kthvalue", "Tensor.kthvalue", formula="the k-th smallest along dim, and where it is")
def kthvalue(
    context: Context,
    input: TensorType,
    k: Value,
    dim: Value = LAST,
    keepdim: Value = False,
    *,
    out: Value = None,
) -> Value:
    axis = context.axis("kthvalue", input, dim)
    if isinstance(k, Dim):
        if axis is not None and input.shape.rank != 0:
            require_size(context, "kthvalue", input, axis, k, "k")
        if k.constant is not None and k.constant < 1:
            raise ShapeError("kthvalue", f"k is {k}, it counts from 1", str(input))
        if input.shape.rank == 0 and k.constant is not None and k.constant > 1:
            raise ShapeError("kthvalue", f"k is {k}, a tensor without axes has 1 element", str(input))
    return value_and_index(context, "kthvalue", input, dim, keepdim)


def _index_dtype(out_int32: Value) -> DType:
    if isinstance(out_int32, bool):
        return DType.named("int32") if out_int32 else INT64
    return DType(frozenset(["int32", "int64"]))


@op("searchsorted", "torch.searchsorted", formula="where each value would stand in the sorted sequence")
def searchsorted(
    context: Context,
    sorted_sequence: TensorType,
    input: Value,
    *,
    out_int32: Value = False,
    right: Value = False,
    side: Value = None,
    sorter: Value = None,
    out: Value = None,
) -> Value:
    values = as_tensor(context, input)
    rank = sorted_sequence.shape.rank
    operands = f"{sorted_sequence}, {values}"
    if rank is not None and values.shape.rank is not None and rank != 1:
        if rank != values.shape.rank:
            raise ShapeError(
                "searchsorted",
                f"a sequence of {rank} axes takes values of {rank} axes, not {values.shape.rank}",
                operands,
            )
        with uncertain_if_joined(context, sorted_sequence, values):
            for axis, (a, b) in enumerate(zip(sorted_sequence.shape.dims[:-1], values.shape.dims[:-1], strict=True)):

                def fault(axis: int = axis, a: Dim = a, b: Dim = b) -> Fault:
                    return ShapeError("searchsorted", f"sizes {a} and {b} of axis {axis} differ", operands, dims=(a, b))

                context.require_equal(a, b, fault)
    return values.with_dtype(_index_dtype(out_int32))


@op("bucketize", "torch.bucketize", formula="the bucket of each value")
def bucketize(
    context: Context,
    input: Value,
    boundaries: TensorType,
    *,
    out_int32: Value = False,
    right: Value = False,
    out: Value = None,
) -> Value:
    if boundaries.shape.least_rank > 1 or boundaries.shape.rank == 0:
        raise ShapeError("bucketize", "boundaries have 1 axis", f"{as_tensor(context, input)}, {boundaries}")
    return as_tensor(context, input).with_dtype(_index_dtype(out_int32))


@op("isin", "torch.isin", formula="whether each element is among the test elements")
def isin(
    context: Context,
    elements: Value,
    test_elements: Value,
    *,
    assume_unique: Value = False,
    invert: Value = False,
    out: Value = None,
) -> Value:
    return as_tensor(context, elements).with_dtype(BOOLEAN)


@op("unique", "torch.unique", "Tensor.unique", formula="the different elements")
def unique(
    context: Context,
    input: TensorType,
    sorted: Value = True,
    return_inverse: Value = False,
    return_counts: Value = False,
    dim: Value = None,
) -> Value:
    return _unique(context, "unique", input, return_inverse, return_counts, dim)


@op("unique_consecutive", "torch.unique_consecutive", "Tensor.unique_consecutive", formula="without repetitions")
def unique_consecutive(
    context: Context,
    input: TensorType,
    *,  # torch takes the flags by position in another order than it documents
    return_inverse: Value = False,
    return_counts: Value = False,
    dim: Value = None,
) -> Value:
    return _unique(context, "unique_consecutive", input, return_inverse, return_counts, dim)


def _unique(
    context: Context, operation: str, input: TensorType, return_inverse: Value, return_counts: Value, dim: Value
) -> Value:
    count = context.fresh()
    axis = None if dim is None else context.axis(operation, input, dim)
    inverse = input.shape
    size = None if axis is None else input.shape.at(axis)
    if dim is None:
        shape = Shape.of(count)
    elif axis is None or size is None:
        shape, inverse = Shape.of(context.fresh_pack()), Shape.of(context.fresh())
    else:
        shape, inverse = input.shape.replace(axis, count), Shape.of(size)
    values = input.with_shape(shape)
    if not isinstance(return_inverse, bool) or not isinstance(return_counts, bool):
        return UNKNOWN
    results: list[Value] = [values]
    if return_inverse:
        results.append(input.with_shape(inverse).with_dtype(INT64))
    if return_counts:
        results.append(input.with_shape(Shape.of(count)).with_dtype(INT64))
    return tuple(results) if len(results) > 1 else values


@op("bincount", "torch.bincount", "Tensor.bincount", formula="y[i] = how often i is in x", dtypes=takes(input=INTEGER))
def bincount(context: Context, input: TensorType, weights: Value = None, minlength: Value = None) -> Value:
    if input.shape.least_rank > 1 or input.shape.rank == 0:
        raise ShapeError("bincount", "the input has 1 axis", str(input))
    least = minlength.constant if isinstance(minlength, Dim) else 0
    dtype = INT64
    if weights is not None:
        floats = isinstance(weights, TensorType) and weights.dtype.single == "float32"
        dtype = DType.named("float32") if floats else DType(frozenset(["float32", "float64"]))
    return TensorType(Shape.of(context.fresh(low=least)), dtype, input.device)


@op("histc", "torch.histc", "Tensor.histc", formula="how many elements are in each of `bins` bins")
def histc(
    context: Context,
    input: TensorType,
    bins: Value = _HUNDRED,
    min: Value = None,
    max: Value = None,
    *,
    out: Value = None,
) -> Value:
    count = bins if isinstance(bins, Dim) else context.fresh()
    return TensorType(Shape.of(count), input.dtype, input.device)
