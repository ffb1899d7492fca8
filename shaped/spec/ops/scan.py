"""Running sums and what else goes along an axis and keeps its size, or nearly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import ONE, Dim, maximum
from shaped.spec.dtypes import BOOL, BOOLEAN, COMPLEX, INT64, INTEGERS, DType
from shaped.spec.facts import Status
from shaped.spec.op import op
from shaped.spec.pointwise import keep, pointwise_op
from shaped.spec.promotion import as_float, as_sum, excluding, requested
from shaped.spec.reduce import LAST, reduced
from shaped.spec.values import TensorType, Value
from shaped.spec.wrong_axis import check_running

if TYPE_CHECKING:
    from collections.abc import Callable

    from shaped.spec.context import Context


def _declare_scan(name: str, formula: str, default: Callable[[DType], DType]) -> None:
    @pointwise_op(name, f"torch.{name}", f"Tensor.{name}", formula=formula, in_place=(f"Tensor.{name}_",))
    def rule(context: Context, input: TensorType, dim: Value, *, dtype: Value = None, out: Value = None) -> Value:
        context.axis(name, input, dim)
        check_running(context, name, input, dim)
        return input.with_dtype(default(input.dtype) if dtype is None else requested(dtype, input.dtype))


_declare_scan("cumsum", "y[i] = sum x[:i+1]", as_sum)
_declare_scan("cumprod", "y[i] = prod x[:i+1]", as_sum)


@op("logcumsumexp", "torch.logcumsumexp", "Tensor.logcumsumexp", formula="y[i] = ln sum e^x[:i+1]")
def logcumsumexp(context: Context, input: TensorType, dim: Value, *, out: Value = None) -> Value:
    context.axis("logcumsumexp", input, dim)
    check_running(context, "logcumsumexp", input, dim)
    return input.with_dtype(excluding("logcumsumexp", input.dtype, INTEGERS | BOOL, "tensors are not allowed"))


def _declare_running_extreme(name: str, formula: str) -> None:
    @op(name, f"torch.{name}", f"Tensor.{name}", formula=formula)
    def rule(context: Context, input: TensorType, dim: Value, *, out: Value = None) -> Value:
        context.axis(name, input, dim)
        check_running(context, name, input, dim)
        values = input.with_dtype(excluding(name, input.dtype, COMPLEX, "tensors have no order"))
        return (values, values.with_dtype(INT64))


_declare_running_extreme("cummax", "y[i] = max x[:i+1], and where it is")
_declare_running_extreme("cummin", "y[i] = min x[:i+1], and where it is")


@op("diff", "torch.diff", "Tensor.diff", formula="y[i] = x[i+1] - x[i]")
def diff(
    context: Context,
    input: TensorType,
    n: Value = ONE,
    dim: Value = LAST,
    prepend: Value = None,
    append: Value = None,
    *,
    out: Value = None,
) -> Value:
    if input.shape.rank == 0:
        raise ShapeError("diff", "a tensor without axes has no differences", str(input))
    order = n.constant if isinstance(n, Dim) else None
    if order is not None and order < 1:
        if order < 0:
            raise ShapeError("diff", f"order {n} is negative", str(input))
        return input
    axis = context.axis("diff", input, dim)
    size = None if axis is None else input.shape.at(axis)
    if axis is None or size is None:
        return context.unknown_tensor(input.dtype)
    for extra in (prepend, append):
        if isinstance(extra, TensorType):
            position = axis - input.shape.rank if input.shape.rank is not None else axis
            more = extra.shape.at(position) if extra.shape.rank != 0 else ONE
            size = context.fresh() if more is None else size + more
        elif extra is not None:
            size = context.fresh()
    if order is None:
        return input.with_shape(input.shape.replace(axis, context.fresh()))
    left = size - order
    if not context.is_at_least(left, 0):
        left = maximum(left, 0)
    dtype = BOOLEAN if input.dtype == BOOLEAN else input.dtype
    return input.with_shape(input.shape.replace(axis, left)).with_dtype(dtype)


def _declare_trapezoid(name: str) -> None:
    @op(name, f"torch.{name}", formula="sum (x[i] + x[i+1])/2 dx[i]")
    def rule(context: Context, y: TensorType, x: Value = None, *, dx: Value = None, dim: Value = LAST) -> Value:
        if x is not None:
            # Sizes of x broadcast against those of y: the other axes are not followed.
            reduced(context, name, y, dim)
            return context.unknown_tensor()
        return y.with_shape(reduced(context, name, y, dim)).with_dtype(as_float(y.dtype))


_declare_trapezoid("trapezoid")
_declare_trapezoid("trapz")


@op("cumulative_trapezoid", "torch.cumulative_trapezoid", formula="y[i] = trapezoid x[:i+2]")
def cumulative_trapezoid(
    context: Context, y: TensorType, x: Value = None, *, dx: Value = None, dim: Value = LAST
) -> Value:
    if x is not None:
        return context.unknown_tensor()
    result = diff(context, y, ONE, dim)
    return result.with_dtype(as_float(result.dtype)) if isinstance(result, TensorType) else result


@pointwise_op(
    "renorm",
    "torch.renorm",
    "Tensor.renorm",
    formula="slices along dim scaled to a norm of at most maxnorm",
    in_place=("Tensor.renorm_",),
)
def renorm(context: Context, input: TensorType, p: Value, dim: Value, maxnorm: Value, *, out: Value = None) -> Value:
    context.axis("renorm", input, dim)
    if input.shape.rank is not None and input.shape.rank < 2:
        raise ShapeError("renorm", "at least 2 axes are needed", str(input))
    return input.with_dtype(keep(input.dtype))


def require_size(context: Context, operation: str, tensor: TensorType, axis: int, least: Dim, what: str) -> None:
    """Demand that an axis may have `least` elements, for `what` (`k`).

    That a named size is large enough is the caller's concern: `topk(5)` of any number of classes is common, and right.

    Raises:
        ShapeError: it has fewer for all sizes.
    """
    size = tensor.shape.at(axis)
    if size is not None and context.facts.at_least(size, least).status is Status.NEVER:
        raise ShapeError(operation, f"{what} is {least}, axis {axis} has size {size}", str(tensor), dims=(size, least))
