"""Inverses, determinants, factorisations and eigenvalues of matrices, over any batch axes in front."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shaped.errors import ShapeError
from shaped.spec.dims import Dim, minimum
from shaped.spec.dtypes import BOOL, INT64, INTEGERS, DType
from shaped.spec.op import op
from shaped.spec.ops.arguments import ends, integer
from shaped.spec.promotion import as_complex, as_real, excluding
from shaped.spec.shape import Axis, Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context

TWO, SIX = Dim.of(2), Dim.of(6)
INT32 = DType.named("int32")


class Matrices(NamedTuple):
    """The sizes of a batch of matrices."""

    batch: tuple[Axis, ...]
    rows: Dim
    columns: Dim

    @property
    def least(self) -> Dim:
        """The smaller of the two sizes."""
        return self.rows if self.rows == self.columns else minimum(self.rows, self.columns)

    def shape(self, *axes: Dim) -> Shape:
        """The shape with these axes behind the batch."""
        return Shape((*self.batch, *axes))


def matrices(context: Context, operation: str, tensor: TensorType, *, exact: bool = True) -> Matrices:
    """The sizes of a batch of matrices.

    Args:
        exact: whether integers are refused.

    Raises:
        ShapeError: it has fewer than two axes.
        DtypeError: it is a tensor of integers.
    """
    if tensor.shape.rank in (0, 1):
        raise ShapeError(operation, "expects a matrix or a batch of matrices", str(tensor))
    if exact:
        excluding(operation, tensor.dtype, INTEGERS | BOOL, "is no float or complex dtype")
    _, batch, (rows, columns) = ends(context, tensor.shape, 0, 2)
    return Matrices(batch, rows, columns)


def square(context: Context, operation: str, tensor: TensorType, *, exact: bool = True) -> Matrices:
    """The sizes of a batch of square matrices. Raises like `matrices`, and where the sizes differ."""
    found = matrices(context, operation, tensor, exact=exact)
    rows, columns = found.rows, found.columns

    def fault() -> ShapeError:
        reason = f"expects square matrices, got {rows} x {columns}"
        return ShapeError(operation, reason, str(tensor), dims=(rows, columns))

    side = context.require_equal(rows, columns, fault)
    return Matrices(found.batch, side, side)


def _unchanged(context: Context, operation: str, tensor: TensorType) -> TensorType:
    found = square(context, operation, tensor)
    return tensor.with_shape(found.shape(found.rows, found.columns))


@op("linalg.inv", "torch.linalg.inv", "torch.inverse", "Tensor.inverse", formula="y @ A = I")
def inv(context: Context, A: TensorType) -> TensorType:
    return _unchanged(context, "linalg.inv", A)


@op("linalg.inv_ex", "torch.linalg.inv_ex", formula="y @ A = I, and whether it was found")
def inv_ex(context: Context, A: TensorType, *, check_errors: Value = False) -> Value:
    return _with_info(context, "linalg.inv_ex", A)


def _with_info(context: Context, operation: str, tensor: TensorType) -> Value:
    found = square(context, operation, tensor)
    return _unchanged(context, operation, tensor), TensorType(found.shape(), INT32, tensor.device)


@op("linalg.cholesky", "torch.linalg.cholesky", formula="L @ L^H = A, L lower triangular")
def cholesky(context: Context, A: TensorType, *, upper: Value = False) -> TensorType:
    return _unchanged(context, "linalg.cholesky", A)


@op("cholesky", "torch.cholesky", "Tensor.cholesky", formula="L @ L^H = A, L lower triangular")
def cholesky_function(context: Context, input: TensorType, upper: Value = False) -> TensorType:
    return _unchanged(context, "cholesky", input)


@op("linalg.cholesky_ex", "torch.linalg.cholesky_ex", formula="L @ L^H = A, and whether it was found")
def cholesky_ex(context: Context, A: TensorType, *, upper: Value = False, check_errors: Value = False) -> Value:
    return _with_info(context, "linalg.cholesky_ex", A)


@op("cholesky_inverse", "torch.cholesky_inverse", "Tensor.cholesky_inverse", formula="y = (L @ L^H)^-1")
def cholesky_inverse(context: Context, L: TensorType, upper: Value = False) -> TensorType:
    return _unchanged(context, "cholesky_inverse", L)


@op("linalg.matrix_exp", "torch.linalg.matrix_exp", "torch.matrix_exp", "Tensor.matrix_exp", formula="y = sum_k A^k/k!")
def matrix_exp(context: Context, A: TensorType) -> TensorType:
    return _unchanged(context, "linalg.matrix_exp", A)


@op(
    "linalg.matrix_power",
    "torch.linalg.matrix_power",
    "torch.matrix_power",
    "Tensor.matrix_power",
    formula="y = A @ A @ ... @ A",
)
def matrix_power(context: Context, A: TensorType, n: Value) -> TensorType:
    power = integer(n)
    found = square(context, "linalg.matrix_power", A, exact=power is not None and power < 0)
    return A.with_shape(found.shape(found.rows, found.columns))


@op("linalg.det", "torch.linalg.det", "torch.det", "Tensor.det", formula="y = the determinant of A")
def det(context: Context, A: TensorType) -> TensorType:
    return A.with_shape(square(context, "linalg.det", A).shape())


@op("logdet", "torch.logdet", "Tensor.logdet", formula="y = log det A")
def logdet(context: Context, input: TensorType) -> TensorType:
    return input.with_shape(square(context, "logdet", input).shape())


@op(
    "linalg.slogdet",
    "torch.linalg.slogdet",
    "torch.slogdet",
    "Tensor.slogdet",
    formula="det A = sign * e^logabsdet",
)
def slogdet(context: Context, A: TensorType) -> Value:
    found = A.with_shape(square(context, "linalg.slogdet", A).shape())
    return found, found.with_dtype(as_real(A.dtype))


@op("linalg.matrix_rank", "torch.linalg.matrix_rank", formula="the number of singular values that are not 0")
def matrix_rank(
    context: Context,
    A: TensorType,
    tol: Value = None,
    hermitian: Value = False,
    *,
    atol: Value = None,
    rtol: Value = None,
) -> TensorType:
    return TensorType(matrices(context, "linalg.matrix_rank", A).shape(), INT64, A.device, A.joined)


@op("linalg.cond", "torch.linalg.cond", formula="y = |A| |A^-1|")
def cond(context: Context, A: TensorType, p: Value = None) -> TensorType:
    found = matrices(context, "linalg.cond", A)
    return A.with_shape(found.shape()).with_dtype(as_real(A.dtype))


@op("linalg.pinv", "torch.linalg.pinv", "torch.pinverse", "Tensor.pinverse", formula="the Moore-Penrose inverse of A")
def pinv(
    context: Context,
    A: TensorType,
    rcond: Value = None,
    hermitian: Value = False,
    *,
    atol: Value = None,
    rtol: Value = None,
) -> TensorType:
    found = matrices(context, "linalg.pinv", A)
    if any(isinstance(tolerance, TensorType) for tolerance in (rcond, atol, rtol)):
        # A tolerance for each matrix broadcasts with the batch.
        found = found._replace(batch=(context.fresh_pack(),))
    return A.with_shape(found.shape(found.columns, found.rows))


@op("linalg.qr", "torch.linalg.qr", formula="Q @ R = A, Q unitary, R upper triangular")
def qr(context: Context, A: TensorType, mode: Value = "reduced") -> Value:
    found = matrices(context, "linalg.qr", A)
    m, n, k = found.rows, found.columns, found.least
    match mode:
        case "reduced":
            return A.with_shape(found.shape(m, k)), A.with_shape(found.shape(k, n))
        case "complete":
            return A.with_shape(found.shape(m, m)), A.with_shape(found.shape(m, n))
        case "r":
            return A.with_shape(Shape.of(0)), A.with_shape(found.shape(k, n))
        case str():
            raise ShapeError("linalg.qr", f"there is no mode {mode!r}", hint="'reduced', 'complete' or 'r'?")
        case _:
            return A.with_shape(found.shape(m, context.fresh())), A.with_shape(found.shape(context.fresh(), n))


@op("qr", "torch.qr", "Tensor.qr", formula="Q @ R = A, Q unitary, R upper triangular")
def qr_function(context: Context, input: TensorType, some: Value = True) -> Value:
    return qr(context, input, UNKNOWN if not isinstance(some, bool) else "reduced" if some else "complete")


@op("linalg.svd", "torch.linalg.svd", formula="U @ diag(S) @ Vh = A, U and Vh unitary")
def svd(context: Context, A: TensorType, full_matrices: Value = True, *, driver: Value = None) -> Value:
    found = matrices(context, "linalg.svd", A)
    m, n, k = found.rows, found.columns, found.least
    left, right = (m, n) if full_matrices is True else (k, k)
    if not isinstance(full_matrices, bool):
        left, right = context.fresh(), context.fresh()
    values = A.with_shape(found.shape(k)).with_dtype(as_real(A.dtype))
    return A.with_shape(found.shape(m, left)), values, A.with_shape(found.shape(right, n))


@op("svd", "torch.svd", "Tensor.svd", formula="U @ diag(S) @ V^H = A, U and V unitary")
def svd_function(context: Context, input: TensorType, some: Value = True, compute_uv: Value = True) -> Value:
    found = matrices(context, "svd", input)
    m, n, k = found.rows, found.columns, found.least
    values = input.with_shape(found.shape(k)).with_dtype(as_real(input.dtype))
    if compute_uv is False:
        some = False
    left, right = (k, k) if some is True else (m, n)
    if not isinstance(some, bool) or not isinstance(compute_uv, bool):
        left, right = context.fresh(), context.fresh()
    return input.with_shape(found.shape(m, left)), values, input.with_shape(found.shape(n, right))


@op("linalg.svdvals", "torch.linalg.svdvals", formula="the singular values of A")
def svdvals(context: Context, A: TensorType, *, driver: Value = None) -> TensorType:
    found = matrices(context, "linalg.svdvals", A)
    return A.with_shape(found.shape(found.least)).with_dtype(as_real(A.dtype))


@op("svd_lowrank", "torch.svd_lowrank", formula="the q greatest singular values and their vectors, nearly")
def svd_lowrank(context: Context, A: TensorType, q: Value = SIX, niter: Value = TWO, M: Value = None) -> Value:
    return _low_rank(context, "svd_lowrank", A, q)


@op("pca_lowrank", "torch.pca_lowrank", formula="the q principal components of the rows, nearly")
def pca_lowrank(context: Context, A: TensorType, q: Value = None, center: Value = True, niter: Value = TWO) -> Value:
    found = matrices(context, "pca_lowrank", A)
    return _low_rank(context, "pca_lowrank", A, minimum(6, found.rows, found.columns) if q is None else q)


def _low_rank(context: Context, operation: str, tensor: TensorType, count: Value) -> Value:
    found = matrices(context, operation, tensor)
    q = count if isinstance(count, Dim) else context.fresh()
    values = tensor.with_shape(found.shape(q)).with_dtype(as_real(tensor.dtype))
    return tensor.with_shape(found.shape(found.rows, q)), values, tensor.with_shape(found.shape(found.columns, q))


@op("linalg.eig", "torch.linalg.eig", formula="A @ V = V @ diag(L)")
def eig(context: Context, A: TensorType) -> Value:
    found = square(context, "linalg.eig", A)
    vectors = A.with_shape(found.shape(found.rows, found.rows)).with_dtype(as_complex(A.dtype))
    return vectors.with_shape(found.shape(found.rows)), vectors


@op("linalg.eigvals", "torch.linalg.eigvals", formula="the eigenvalues of A")
def eigvals(context: Context, A: TensorType) -> TensorType:
    found = square(context, "linalg.eigvals", A)
    return A.with_shape(found.shape(found.rows)).with_dtype(as_complex(A.dtype))


@op("linalg.eigh", "torch.linalg.eigh", formula="A @ V = V @ diag(L) for Hermitian A")
def eigh(context: Context, A: TensorType, UPLO: Value = "L") -> Value:
    found = square(context, "linalg.eigh", A)
    values = A.with_shape(found.shape(found.rows)).with_dtype(as_real(A.dtype))
    return values, A.with_shape(found.shape(found.rows, found.rows))


@op("linalg.eigvalsh", "torch.linalg.eigvalsh", formula="the eigenvalues of a Hermitian A")
def eigvalsh(context: Context, A: TensorType, UPLO: Value = "L") -> TensorType:
    found = square(context, "linalg.eigvalsh", A)
    return A.with_shape(found.shape(found.rows)).with_dtype(as_real(A.dtype))


@op("linalg.lu", "torch.linalg.lu", formula="P @ L @ U = A")
def lu(context: Context, A: TensorType, *, pivot: Value = True) -> Value:
    found = matrices(context, "linalg.lu", A)
    m, n, k = found.rows, found.columns, found.least
    permutation = found.shape(m, m)
    if pivot is not True:
        permutation = Shape.of(0) if pivot is False else Shape.of(context.fresh_pack())
    return A.with_shape(permutation), A.with_shape(found.shape(m, k)), A.with_shape(found.shape(k, n))


@op("linalg.lu_factor", "torch.linalg.lu_factor", formula="L and U of P @ L @ U = A in one matrix, and the pivots")
def lu_factor(context: Context, A: TensorType, *, pivot: Value = True) -> Value:
    found = matrices(context, "linalg.lu_factor", A)
    return A, TensorType(found.shape(found.least), INT32, A.device, A.joined)


@op("vander", "torch.vander", formula="y[i, j] = x[i]^(N-1-j)")
def vander(context: Context, x: TensorType, N: Value = None, increasing: Value = False) -> TensorType:
    if x.shape.rank == 0 or x.shape.least_rank > 1:
        raise ShapeError("vander", "expects a vector", str(x))
    size = x.shape.dims[0] if x.shape.rank == 1 else context.fresh()
    columns = size if N is None else N if isinstance(N, Dim) else context.fresh()
    result = x.with_shape(Shape((size, columns)))
    return result.with_dtype(DType(frozenset("int64" if n in INTEGERS | BOOL else n for n in x.dtype.names)))


@op("linalg.tensorinv", "torch.linalg.tensorinv", formula="the inverse of A as a map of tensors")
def tensorinv(context: Context, A: TensorType, ind: Value = TWO) -> TensorType:
    count = integer(ind)
    if A.shape.rank is None or count is None:
        return context.unknown_tensor(A.dtype)
    return A.with_shape(Shape((*A.shape.dims[count:], *A.shape.dims[:count])))
