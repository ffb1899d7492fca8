"""Solutions of linear systems, and products of vectors along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.broadcast import broadcast
from shaped.spec.dims import Dim, product
from shaped.spec.op import op
from shaped.spec.ops.contraction import require_same_dtype
from shaped.spec.ops.linear_algebra import INT32, Matrices, matrices, square
from shaped.spec.promotion import common_device
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context

LAST = Dim.of(-1)


@op("linalg.solve", "torch.linalg.solve", formula="A @ x = B, or x @ A = B for left=False")
def solve(context: Context, A: TensorType, B: TensorType, *, left: Value = True) -> TensorType:
    return _solved(context, "linalg.solve", A, B, left)


@op("linalg.solve_ex", "torch.linalg.solve_ex", formula="A @ x = B, and whether it was found")
def solve_ex(
    context: Context, A: TensorType, B: TensorType, *, left: Value = True, check_errors: Value = False
) -> Value:
    result = _solved(context, "linalg.solve_ex", A, B, left)
    return result, TensorType(Shape((context.fresh_pack(),)), INT32, result.device)


def _solved(context: Context, operation: str, A: TensorType, B: TensorType, left: Value) -> TensorType:
    system = square(context, operation, A)
    dtype = require_same_dtype(operation, A, B)
    operands = f"{A}, {B}"
    if B.shape.rank == 0:
        raise ShapeError(operation, "the right side has no axes", operands)
    if A.shape.rank is None or B.shape.rank is None:
        return context.unknown_tensor(dtype)
    # torch takes B for vectors if it is one, or has A's shape without its last axis.
    may_be_vectors = B.shape.rank == A.shape.rank - 1 and not any(
        context.is_never_equal(a, b) for a, b in zip(A.shape.dims[:-1], B.shape.dims, strict=True)
    )
    are_vectors = B.shape.rank == 1 or (
        may_be_vectors and all(context.is_equal(a, b) for a, b in zip(A.shape.dims[:-1], B.shape.dims, strict=True))
    )
    if may_be_vectors and not are_vectors:
        return TensorType(Shape((context.fresh_pack(),)), dtype)
    if are_vectors:
        if left is False:
            raise ShapeError(operation, "vectors on the right side need left=True", operands)
        _require_side(context, operation, operands, system.rows, B.shape.dims[-1])
        return TensorType(Shape((*system.batch, system.rows)), dtype, common_device((A, B)))
    return matrix_solution(context, operation, (A, B), system, left)


def matrix_solution(
    context: Context, operation: str, pair: tuple[TensorType, TensorType], system: Matrices, left: Value
) -> TensorType:
    """The solution for the matrices of a system and right sides, whose batches broadcast.

    Raises:
        ShapeError: the right sides have another length.
    """
    right, operands = matrices(context, operation, pair[1]), f"{pair[0]}, {pair[1]}"
    if isinstance(left, bool):
        _require_side(context, operation, operands, system.rows, right.rows if left else right.columns)
    batches = (TensorType(Shape(system.batch)), TensorType(Shape(right.batch)))
    batch = broadcast(context, operation, *batches, operands=operands)
    shape = Shape((*batch.axes, right.rows, right.columns))
    return TensorType(shape, pair[0].dtype, common_device(pair))


def _require_side(context: Context, operation: str, operands: str, side: Dim, given: Dim) -> None:
    def fault() -> ShapeError:
        reason = f"{side} equations, the right side has {given}"
        return ShapeError(operation, reason, operands, dims=(side, given))

    context.require_equal(side, given, fault)


@op("linalg.solve_triangular", "torch.linalg.solve_triangular", formula="A @ x = B for triangular A")
def solve_triangular(
    context: Context,
    A: TensorType,
    B: TensorType,
    *,
    upper: Value,
    left: Value = True,
    unitriangular: Value = False,
) -> TensorType:
    system = square(context, "linalg.solve_triangular", A)
    return matrix_solution(context, "linalg.solve_triangular", (A, B), system, left)


@op("triangular_solve", "torch.triangular_solve", "Tensor.triangular_solve", formula="A @ x = b for triangular A")
def triangular_solve(
    context: Context,
    input: TensorType,
    A: TensorType,
    upper: Value = True,
    transpose: Value = False,
    unitriangular: Value = False,
) -> Value:
    system = square(context, "triangular_solve", A)
    solution = matrix_solution(context, "triangular_solve", (A, input), system, True)
    return solution, context.unknown_tensor(A.dtype)


@op("cholesky_solve", "torch.cholesky_solve", "Tensor.cholesky_solve", formula="L @ L^H @ x = B")
def cholesky_solve(context: Context, B: TensorType, L: TensorType, upper: Value = False) -> TensorType:
    system = square(context, "cholesky_solve", L)
    return matrix_solution(context, "cholesky_solve", (L, B), system, True)


@op("linalg.lstsq", "torch.linalg.lstsq", formula="x for which |A @ x - B| is least")
def lstsq(context: Context, A: TensorType, B: TensorType, rcond: Value = None, *, driver: Value = None) -> Value:
    system = matrices(context, "linalg.lstsq", A)
    dtype = require_same_dtype("linalg.lstsq", A, B)
    rest = (UNKNOWN, UNKNOWN, UNKNOWN)
    if A.shape.rank is None or B.shape.rank != A.shape.rank:
        return (context.unknown_tensor(dtype), *rest)
    right, operands = matrices(context, "linalg.lstsq", B), f"{A}, {B}"
    _require_side(context, "linalg.lstsq", operands, system.rows, right.rows)
    batches = (TensorType(Shape(system.batch)), TensorType(Shape(right.batch)))
    batch = broadcast(context, "linalg.lstsq", *batches, operands=operands)
    solution = Shape((*batch.axes, system.columns, right.columns))
    return (TensorType(solution, dtype, common_device((A, B))), *rest)


@op("linalg.vecdot", "torch.linalg.vecdot", formula="y = sum_i conj(x[..., i])*y[..., i]")
def vecdot(context: Context, x: TensorType, y: TensorType, *, dim: Value = LAST) -> TensorType:
    shape = broadcast(context, "linalg.vecdot", x, y)
    dtype = require_same_dtype("linalg.vecdot", x, y)
    whole = TensorType(shape, dtype, common_device((x, y)))
    if shape.rank in (0, 1):
        # Of two vectors torch takes the dot product, whatever dim says.
        return whole.with_shape(Shape(()))
    axis = context.axis("linalg.vecdot", whole, dim)
    if axis is None or shape.at(axis) is None:
        return context.unknown_tensor(dtype)
    return whole.with_shape(shape.replace(axis))


@op("linalg.tensorsolve", "torch.linalg.tensorsolve", formula="x for which tensordot(A, x) = B")
def tensorsolve(context: Context, A: TensorType, B: TensorType, dims: Value = None) -> TensorType:
    if A.shape.rank is None or B.shape.rank is None or dims is not None or A.shape.rank < B.shape.rank:
        return context.unknown_tensor(A.dtype)
    inner = A.shape.dims[B.shape.rank :]
    _require_side(context, "linalg.tensorsolve", f"{A}, {B}", product(inner), product(B.shape.dims))
    return A.with_shape(Shape(inner))
