"""Compact factorisations of matrices, what is solved with them, and products with Householder reflections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import ONE, Dim, minimum
from shaped.spec.dtypes import BOOL, INT64, INTEGERS, DType
from shaped.spec.op import op
from shaped.spec.ops.linear_algebra import INT32, matrices, square
from shaped.spec.ops.linear_systems import matrix_solution
from shaped.spec.shape import Shape
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context


@op("linalg.lu_factor_ex", "torch.linalg.lu_factor_ex", formula="as linalg.lu_factor, and whether it was found")
def lu_factor_ex(context: Context, A: TensorType, *, pivot: Value = True, check_errors: Value = False) -> Value:
    found = matrices(context, "linalg.lu_factor_ex", A)
    pivots = TensorType(found.shape(found.least), INT32, A.device, A.joined)
    return A, pivots, pivots.with_shape(found.shape())


@op("linalg.lu_solve", "torch.linalg.lu_solve", formula="P @ L @ U @ x = B")
def lu_solve(
    context: Context, LU: TensorType, pivots: TensorType, B: TensorType, *, left: Value = True, adjoint: Value = False
) -> TensorType:
    return matrix_solution(context, "linalg.lu_solve", (LU, B), square(context, "linalg.lu_solve", LU), left)


@op("linalg.ldl_factor", "torch.linalg.ldl_factor", formula="L and D of L @ D @ L^T = A in one matrix, and the pivots")
def ldl_factor(context: Context, A: TensorType, *, hermitian: Value = False) -> Value:
    found = square(context, "linalg.ldl_factor", A)
    return A, TensorType(found.shape(found.rows), INT32, A.device, A.joined)


@op("linalg.ldl_factor_ex", "torch.linalg.ldl_factor_ex", formula="as linalg.ldl_factor, and whether it was found")
def ldl_factor_ex(context: Context, A: TensorType, *, hermitian: Value = False, check_errors: Value = False) -> Value:
    found = square(context, "linalg.ldl_factor_ex", A)
    pivots = TensorType(found.shape(found.rows), INT32, A.device, A.joined)
    return A, pivots, pivots.with_shape(found.shape())


@op("linalg.ldl_solve", "torch.linalg.ldl_solve", formula="L @ D @ L^T @ x = B")
def ldl_solve(
    context: Context, LD: TensorType, pivots: TensorType, B: TensorType, *, hermitian: Value = False
) -> TensorType:
    return matrix_solution(context, "linalg.ldl_solve", (LD, B), square(context, "linalg.ldl_solve", LD), True)


@op("geqrf", "torch.geqrf", "Tensor.geqrf", formula="R, and the reflections whose product is Q")
def geqrf(context: Context, input: TensorType) -> Value:
    return input, input.with_shape((found := matrices(context, "geqrf", input)).shape(found.least))


@op(
    "linalg.householder_product",
    "torch.linalg.householder_product",
    "torch.orgqr",
    "Tensor.orgqr",
    formula="the first columns of the product of the reflections 1 - tau_i v_i v_i^H, v_i the columns of A",
)
def householder_product(context: Context, A: TensorType, tau: TensorType) -> TensorType:
    found = matrices(context, "linalg.householder_product", A)
    rows, columns = found.rows, found.columns

    def fault() -> ShapeError:
        reason = f"expects at least as many rows as columns, got {rows} x {columns}"
        return ShapeError("linalg.householder_product", reason, f"{A}, {tau}", dims=(rows, columns))

    if rows.constant is not None and columns.constant is not None:
        context.require_at_least(rows, columns, fault)
    return A


@op("ormqr", "torch.ormqr", "Tensor.ormqr", formula="Q @ other, Q the product of the reflections")
def ormqr(
    context: Context,
    input: TensorType,
    tau: TensorType,
    other: TensorType,
    left: Value = True,
    transpose: Value = False,
) -> TensorType:
    operands = f"input {input}, tau {tau}, other {other}"
    for name, tensor, least in (("input", input, 2), ("tau", tau, 1), ("other", other, 2)):
        if tensor.shape.rank is not None and tensor.shape.rank < least:
            raise ShapeError("ormqr", f"{name} has {tensor.shape.rank} axes, at least {least} expected", operands)
    rows, columns, reflections = input.shape.at(-2), input.shape.at(-1), tau.shape.at(-1)
    multiplied = other.shape.at(-2 if left is True else -1) if isinstance(left, bool) else None
    if rows is not None and multiplied is not None:
        reason = f"reflections of {rows} rows do not multiply an axis of size {multiplied}"
        context.require_equal(multiplied, rows, lambda: ShapeError("ormqr", reason, operands, dims=(rows, multiplied)))
    if columns is not None and multiplied is not None and reflections is not None:
        count = minimum(multiplied, columns)
        reason = f"{reflections} factors for {count} reflections"
        context.require_equal(reflections, count, lambda: ShapeError("ormqr", reason, operands))
    return other


@op("linalg.vander", "torch.linalg.vander", formula="y[..., i, j] = x[..., i]^j")
def vander(context: Context, x: TensorType, *, N: Value = None) -> TensorType:
    front = (ONE,) if x.shape.rank == 0 else x.shape.axes  # a number is a vector of one
    size = ONE if x.shape.rank == 0 else x.shape.at(-1)
    columns = N if isinstance(N, Dim) else context.fresh() if N is not None or size is None else size
    dtype = DType(frozenset(INT64.names if x.dtype.is_all(INTEGERS | BOOL) else x.dtype.names))
    if not dtype.is_all(INTEGERS) and x.dtype.may_be(INTEGERS | BOOL):
        dtype = DType(x.dtype.names | INT64.names)
    return x.with_shape(Shape((*front, columns))).with_dtype(dtype)
