"""Reductions: sums, means, extremes, and what is over all elements or along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.dtypes import BOOL, COMPLEX, INT64, DType
from shaped.spec.op import op
from shaped.spec.pointwise import pointwise
from shaped.spec.promotion import as_float, as_mean, as_real, as_sum, excluding, mapped, requested
from shaped.spec.reduce import LAST, reduced, reject_empty
from shaped.spec.values import UNKNOWN, TensorType, Value
from shaped.spec.wrong_axis import check_search

if TYPE_CHECKING:
    from collections.abc import Callable

    from shaped.spec.context import Context


def _result(
    context: Context, operation: str, input: TensorType, dim: Value, keepdim: Value, dtype: DType
) -> TensorType:
    return input.with_shape(reduced(context, operation, input, dim, keepdim)).with_dtype(dtype)


def _declare_sum(name: str, formula: str, dtype: Callable[[DType], DType]) -> None:
    @op(name, f"torch.{name}", f"Tensor.{name}", formula=formula)
    def rule(
        context: Context,
        input: TensorType,
        dim: Value = None,
        keepdim: Value = False,
        *,
        dtype: Value = None,
        out: Value = None,
    ) -> Value:
        result = default(input.dtype) if dtype is None else requested(dtype, input.dtype)
        if name.endswith("mean"):
            as_mean(name, result)
        return _result(context, name, input, dim, keepdim, result)

    default = dtype


def _nan_sum(dtype: DType) -> DType:
    return as_sum(excluding("nansum", dtype, COMPLEX, "tensors are not allowed"))


_declare_sum("sum", "y = sum x", as_sum)
_declare_sum("prod", "y = prod x", as_sum)
_declare_sum("nansum", "y = sum x, nan as 0", _nan_sum)
_declare_sum("mean", "y = sum x / n", lambda dtype: as_mean("mean", dtype))
_declare_sum("nanmean", "y = mean x without nan", lambda dtype: as_mean("nanmean", dtype))


def _declare_extreme(name: str, formula: str) -> None:
    @op(f"a{name}", f"torch.a{name}", f"Tensor.a{name}", formula=formula)
    def reduce(
        context: Context, input: TensorType, dim: Value = (), keepdim: Value = False, *, out: Value = None
    ) -> Value:
        reject_empty(context, f"a{name}", input, None if dim == () else dim)
        dtype = excluding(f"a{name}", input.dtype, COMPLEX, "tensors have no order")
        return _result(context, f"a{name}", input, dim, keepdim, dtype)

    @op(name, f"torch.{name}", f"Tensor.{name}", formula=f"{formula}, and where it is")
    def extreme(
        context: Context,
        input: TensorType,
        dim: Value = None,
        keepdim: Value = False,
        *,
        other: Value = None,
        out: Value = None,
    ) -> Value:
        if isinstance(dim, TensorType) or other is not None:
            return pointwise(context, name, input, dim if other is None else other)
        return value_and_index(context, name, input, dim, keepdim)

    @op(f"arg{name}", f"torch.arg{name}", f"Tensor.arg{name}", formula=f"the index of {formula[4:]}")
    def argument(
        context: Context, input: TensorType, dim: Value = None, keepdim: Value = False, *, out: Value = None
    ) -> Value:
        reject_empty(context, f"arg{name}", input, dim)
        check_search(context, f"arg{name}", input, dim)
        excluding(f"arg{name}", input.dtype, COMPLEX | BOOL, "tensors are not allowed")
        return _result(context, f"arg{name}", input, dim, keepdim, INT64)


def value_and_index(context: Context, operation: str, input: TensorType, dim: Value, keepdim: Value) -> Value:
    """Along an axis the values and their indices, over all axes the value alone."""
    dtype = excluding(operation, input.dtype, COMPLEX, "tensors have no order")
    if dim is None:
        reject_empty(context, operation, input)
        return _result(context, operation, input, None, False, dtype)
    if dim is UNKNOWN:
        return UNKNOWN
    reject_empty(context, operation, input, dim)
    values = _result(context, operation, input, dim, keepdim, dtype)
    return (values, values.with_dtype(INT64))


_declare_extreme("max", "y = max x")
_declare_extreme("min", "y = min x")


@op("aminmax", "torch.aminmax", "Tensor.aminmax", formula="min x, max x")
def aminmax(
    context: Context, input: TensorType, *, dim: Value = None, keepdim: Value = False, out: Value = None
) -> Value:
    reject_empty(context, "aminmax", input, dim)
    dtype = excluding("aminmax", input.dtype, COMPLEX, "tensors have no order")
    result = _result(context, "aminmax", input, dim, keepdim, dtype)
    return (result, result)


def _declare_median(name: str, formula: str) -> None:
    @op(name, f"torch.{name}", f"Tensor.{name}", formula=formula)
    def rule(
        context: Context, input: TensorType, dim: Value = None, keepdim: Value = False, *, out: Value = None
    ) -> Value:
        if dim is None:
            # Of no elements it is nan, not an error.
            dtype = excluding(name, input.dtype, COMPLEX | BOOL, "tensors are not allowed")
            return _result(context, name, input, None, False, dtype)
        return value_and_index(context, name, input, dim, keepdim)


_declare_median("median", "the middle value, and where it is")
_declare_median("nanmedian", "the middle value without nan, and where it is")


@op("mode", "torch.mode", "Tensor.mode", formula="the most frequent value, and where it is")
def mode(context: Context, input: TensorType, dim: Value = LAST, keepdim: Value = False, *, out: Value = None) -> Value:
    return value_and_index(context, "mode", input, dim, keepdim)


def _declare_logic(name: str, formula: str) -> None:
    @op(name, f"torch.{name}", f"Tensor.{name}", formula=formula)
    def rule(
        context: Context, input: TensorType, dim: Value = None, keepdim: Value = False, *, out: Value = None
    ) -> Value:
        shape = reduced(context, name, input, dim, keepdim, empty_is_all=False)
        # uint8 is the bool of old programs.
        dtype = mapped(input.dtype, {n: "bool" for n in input.dtype.names if n != "uint8"})
        return input.with_shape(shape).with_dtype(dtype)


_declare_logic("all", "y = every x")
_declare_logic("any", "y = some x")


@op("count_nonzero", "torch.count_nonzero", "Tensor.count_nonzero", formula="y = the number of x != 0")
def count_nonzero(context: Context, input: TensorType, dim: Value = None) -> Value:
    return _result(context, "count_nonzero", input, dim, False, INT64)


@op("logsumexp", "torch.logsumexp", "torch.special.logsumexp", "Tensor.logsumexp", formula="y = ln sum e^x")
def logsumexp(context: Context, input: TensorType, dim: Value, keepdim: Value = False, *, out: Value = None) -> Value:
    check_search(context, "logsumexp", input, dim)
    return _result(context, "logsumexp", input, dim, keepdim, as_float(input.dtype))


def _declare_deviation(name: str, formula: str) -> None:
    def spread(
        context: Context, operation: str, input: TensorType, dim: Value, keepdim: Value
    ) -> tuple[TensorType, TensorType]:
        # std(x, False) means unbiased=False.
        dims = None if isinstance(dim, bool) else dim
        shape = reduced(context, operation, input, dims, keepdim)
        mean = input.with_shape(shape).with_dtype(as_mean(operation, input.dtype))
        return mean.with_dtype(as_real(mean.dtype)), mean

    @op(name, f"torch.{name}", f"Tensor.{name}", formula=formula)
    def rule(
        context: Context,
        input: TensorType,
        dim: Value = None,
        unbiased: Value = True,
        keepdim: Value = False,
        *,
        correction: Value = None,
        out: Value = None,
    ) -> Value:
        return spread(context, name, input, dim, keepdim)[0]

    @op(f"{name}_mean", f"torch.{name}_mean", formula=f"{formula}, and the mean")
    def with_mean(
        context: Context,
        input: TensorType,
        dim: Value = None,
        unbiased: Value = True,
        keepdim: Value = False,
        *,
        correction: Value = None,
        out: Value = None,
    ) -> Value:
        return spread(context, f"{name}_mean", input, dim, keepdim)


_declare_deviation("std", "y = (sum (x - mean)^2 / (n - 1))^(1/2)")
_declare_deviation("var", "y = sum (x - mean)^2 / (n - 1)")
