"""Norms, quantiles and other statistics with axes of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.dims import ONE, Dim
from shaped.spec.dtypes import ANY_DTYPE, BOOL, FLOATS, INTEGERS
from shaped.spec.op import op
from shaped.spec.promotion import as_float, as_real, excluding, promote, requested
from shaped.spec.reduce import reduced
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context

_TWO = Dim.of(2)
_MATRIX = (Dim.of(-2), Dim.of(-1))


def _norm(context: Context, operation: str, input: TensorType, dim: Value, keepdim: Value, dtype: Value) -> TensorType:
    own = as_real(excluding(operation, input.dtype, INTEGERS | BOOL, "has no norm, convert to a float dtype first"))
    shape = reduced(context, operation, input, dim, keepdim)
    return input.with_shape(shape).with_dtype(as_real(requested(dtype, own)))


@op("norm", "torch.norm", "Tensor.norm", formula="y = (sum |x|^p)^(1/p)")
def norm(
    context: Context,
    input: TensorType,
    p: Value = "fro",
    dim: Value = None,
    keepdim: Value = False,
    out: Value = None,
    dtype: Value = None,
) -> Value:
    return _norm(context, "norm", input, dim, keepdim, dtype)


@op("linalg.norm", "torch.linalg.norm", formula="y = |x|, of vectors or matrices")
def linalg_norm(
    context: Context,
    A: TensorType,
    ord: Value = None,
    dim: Value = None,
    keepdim: Value = False,
    *,
    out: Value = None,
    dtype: Value = None,
) -> Value:
    rank = A.shape.rank
    if ord is not None and dim is None and ord is not UNKNOWN and rank is not None and rank not in (1, 2):
        raise ShapeError("linalg.norm", f"an order without dim takes 1 or 2 axes, not {rank}", str(A))
    return _norm(context, "linalg.norm", A, dim, keepdim, dtype)


@op("linalg.vector_norm", "torch.linalg.vector_norm", formula="y = (sum |x|^ord)^(1/ord)")
def vector_norm(
    context: Context,
    x: TensorType,
    ord: Value = _TWO,
    dim: Value = None,
    keepdim: Value = False,
    *,
    dtype: Value = None,
    out: Value = None,
) -> Value:
    return _norm(context, "linalg.vector_norm", x, dim, keepdim, dtype)


@op("linalg.matrix_norm", "torch.linalg.matrix_norm", formula="y = |x|, of matrices")
def matrix_norm(
    context: Context,
    A: TensorType,
    ord: Value = "fro",
    dim: Value = _MATRIX,
    keepdim: Value = False,
    *,
    dtype: Value = None,
    out: Value = None,
) -> Value:
    rank = A.shape.rank
    if rank is not None and rank < 2:
        raise ShapeError("linalg.matrix_norm", f"a matrix has at least 2 axes, not {rank}", str(A))
    return _norm(context, "linalg.matrix_norm", A, dim, keepdim, dtype)


def _declare_quantile(name: str, formula: str) -> None:
    @op(name, f"torch.{name}", f"Tensor.{name}", formula=formula)
    def rule(
        context: Context,
        input: TensorType,
        q: Value,
        dim: Value = None,
        keepdim: Value = False,
        *,
        interpolation: Value = "linear",
        out: Value = None,
    ) -> Value:
        dtype = excluding(
            name, input.dtype, input.dtype.names - {"float32", "float64"}, "has no quantiles, use float32"
        )
        shape = reduced(context, name, input, dim, keepdim)
        if q is UNKNOWN or (isinstance(q, TensorType) and q.shape.rank is None):
            return input.with_shape(Shape.of(context.fresh_pack())).with_dtype(dtype)
        if isinstance(q, TensorType):
            if q.shape.least_rank > 1:
                raise ShapeError(name, "q has at most 1 axis", f"{input}, q {q}")
            shape = q.shape + shape
        return input.with_shape(shape).with_dtype(dtype)


_declare_quantile("quantile", "the q-th part of x is below y")
_declare_quantile("nanquantile", "the q-th part of x is below y, without nan")


@op("cov", "torch.cov", "Tensor.cov", formula="C[i, j] = mean (x_i - mean)(x_j - mean)")
def cov(
    context: Context,
    input: TensorType,
    *,
    correction: Value = None,
    fweights: Value = None,
    aweights: Value = None,
) -> Value:
    observations = input.shape.at(-1) if input.shape.rank else ONE
    for name, weight in (("fweights", fweights), ("aweights", aweights)):
        if not isinstance(weight, TensorType):
            continue
        if weight.shape.least_rank > 1:
            raise ShapeError("cov", f"{name} have 1 axis", f"{input}, {name} {weight}")
        kind = INTEGERS if name == "fweights" else FLOATS
        excluding("cov", weight.dtype, weight.dtype.names - kind, f"is no dtype of {name}")
        count = weight.shape.numel
        if count is None or observations is None or input.shape.rank is None:
            continue

        def fault(name: str = name, weight: TensorType = weight, a: Dim = count, b: Dim = observations) -> Fault:
            return ShapeError("cov", f"{a} {name} for {b} observations", f"{input}, {name} {weight}", dims=(a, b))

        context.require_equal(count, observations, fault)
    result = _covariance(context, "cov", input)
    if aweights is None:
        return result
    return result.with_dtype(promote(result.dtype, aweights.dtype if isinstance(aweights, TensorType) else ANY_DTYPE))


@op("corrcoef", "torch.corrcoef", "Tensor.corrcoef", formula="R[i, j] = C[i, j] / (C[i, i] C[j, j])^(1/2)")
def corrcoef(context: Context, input: TensorType) -> Value:
    return _covariance(context, "corrcoef", input)


def _covariance(context: Context, operation: str, input: TensorType) -> TensorType:
    if input.shape.least_rank > 2:
        raise ShapeError(operation, "the input has at most 2 axes", str(input))
    dtype = as_float(input.dtype)
    if input.shape.rank is None:
        return context.unknown_tensor(dtype)
    variables = input.shape.dims[0] if input.shape.rank == 2 else ONE
    if variables.has_unknown:
        return context.unknown_tensor(dtype)
    # Of a single variable torch gives its variance, without axes.
    shape = Shape(()) if variables == ONE else Shape.of(variables, variables)
    return input.with_shape(shape).with_dtype(dtype)
