"""Matrix products and their kin: matmul, bmm, mv, dot, addmm, outer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import DtypeError, ShapeError
from shaped.spec.broadcast import broadcast
from shaped.spec.dims import Dim
from shaped.spec.dtype_demands import multiplies
from shaped.spec.dtypes import ANY_DTYPE, DType
from shaped.spec.op import op
from shaped.spec.ops.arguments import require_expands, shown, tensors, with_rank
from shaped.spec.ops.options import require_equal
from shaped.spec.promotion import common_device, result_type
from shaped.spec.shape import Shape
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.spec.context import Context

ONE, TWO, LAST = Dim.of(1), Dim.of(2), Dim.of(-1)


@op(
    "matmul",
    "torch.matmul",
    "torch.linalg.matmul",
    "Tensor.matmul",
    "Tensor.__matmul__",
    formula="y[..., i, j] = sum_k a[..., i, k]*b[..., k, j]",
    dtypes=multiplies("input", "other"),
)
def matmul(context: Context, input: TensorType, other: TensorType) -> TensorType:
    return multiplied(context, "matmul", input, other)


@op(
    "rmatmul",
    "Tensor.__rmatmul__",
    formula="y[..., i, j] = sum_k b[..., i, k]*a[..., k, j]",
    dtypes=multiplies("input", "other"),
)
def rmatmul(context: Context, input: TensorType, other: TensorType) -> TensorType:
    return multiplied(context, "matmul", other, input)


def multiplied(context: Context, operation: str, a: TensorType, b: TensorType) -> TensorType:
    """The matrix product of two tensors of any ranks.

    Raises:
        ShapeError: the inner sizes or the batch axes differ, or one has no axes.
        DtypeError: the dtypes differ.
    """
    operands = f"{a} @ {b}"
    for operand in (a, b):
        if operand.shape.rank == 0:
            raise ShapeError(operation, "a tensor without axes has no matrix product", operands, hint="use *?")
    dtype = require_same_dtype(operation, a, b)
    inner = a.shape.at(-1)
    vector_b = b.shape.rank == 1
    inner_b = b.shape.at(-1 if vector_b else -2)
    if inner is not None and inner_b is not None and (vector_b or b.shape.least_rank >= 2):
        _require_inner(context, operation, operands, (inner, inner_b), (a, b))
    shape = product_shape(context, operation, a.shape, b.shape, operands)
    return TensorType(shape, dtype, common_device((a, b)), a.joined or b.joined)


def _require_inner(
    context: Context, operation: str, operands: str, sizes: tuple[Dim, Dim], tensors: tuple[TensorType, TensorType]
) -> None:
    a, b = sizes

    def fault() -> ShapeError:
        reason, hint = f"inner dimensions {a} and {b} differ", _transposed_hint(*tensors)
        return ShapeError(operation, reason, operands, hint=hint, dims=sizes)

    require_equal(context, tensors, a, b, fault)


def _transposed_hint(a: TensorType, b: TensorType) -> str:
    """The transpose that makes the inner sizes agree, where there is one."""
    if a.shape.least_rank >= 2 and b.shape.least_rank >= 2:
        if a.shape.at(-1) == b.shape.at(-1):
            return "transpose the second: .mT?"
        if a.shape.at(-2) == b.shape.at(-2):
            return "transpose the first: .mT?"
    return ""


def product_shape(context: Context, operation: str, a: Shape, b: Shape, operands: str) -> Shape:
    """The shape of a matrix product whose inner sizes agree."""
    if (a.rank is None and a.least_rank < 2) or (b.rank is None and b.least_rank < 2):
        # It may be a vector, whose axis disappears, or any batch of matrices.
        return Shape.of(context.fresh_pack())
    rows = () if a.rank == 1 else (a.at(-2),)
    columns = () if b.rank == 1 else (b.at(-1),)
    batch_a = a.axes[:-2] if a.rank != 1 else ()
    batch_b = b.axes[:-2] if b.rank != 1 else ()
    batch = broadcast(context, operation, TensorType(Shape(batch_a)), TensorType(Shape(batch_b)), operands=operands)
    return Shape((*batch.axes, *(axis for axis in (*rows, *columns) if axis is not None)))


def require_same_dtype(operation: str, *inputs: TensorType) -> DType:
    """The dtype that all operands have.

    Raises:
        DtypeError: no dtype is possible for all of them.
    """
    common = inputs[0].dtype.names
    for other in inputs[1:]:
        if not common & other.dtype.names:
            typed = ", ".join(f"{each.dtype}{each}" for each in inputs)
            raise DtypeError(operation, f"dtypes {inputs[0].dtype} and {other.dtype} differ", typed)
        common &= other.dtype.names
    return DType(common)


def require_rank(operation: str, input: TensorType, rank: int, what: str, operands: str = "") -> None:
    """Demand a number of axes.

    Raises:
        ShapeError: it has another number. `what` says in words what is expected.
    """
    if input.shape.rank not in (None, rank) or input.shape.least_rank > rank:
        raise ShapeError(operation, f"expects {what}, got {input}", operands)


def _checked(context: Context, operation: str, operands: str, *wanted: tuple[TensorType, int, str]) -> list[TensorType]:
    for tensor, rank, what in wanted:
        require_rank(operation, tensor, rank, what, operands)
    return [with_rank(context, tensor, rank) for tensor, rank, _ in wanted]


@op(
    "mm",
    "torch.mm",
    "Tensor.mm",
    "torch.spmm",
    formula="y[i, j] = sum_k a[i, k]*b[k, j]",
    dtypes=multiplies("input", "mat2"),
)
def mm(context: Context, input: TensorType, mat2: TensorType) -> TensorType:
    a, b = _checked(context, "mm", f"{input} @ {mat2}", (input, 2, "two matrices"), (mat2, 2, "two matrices"))
    return multiplied(context, "mm", a, b)


@op(
    "bmm",
    "torch.bmm",
    "Tensor.bmm",
    formula="y[n, i, j] = sum_k a[n, i, k]*b[n, k, j]",
    dtypes=multiplies("input", "mat2"),
)
def bmm(context: Context, input: TensorType, mat2: TensorType) -> TensorType:
    return _batches_multiplied(context, "bmm", input, mat2)


def _batches_multiplied(context: Context, operation: str, input: TensorType, mat2: TensorType) -> TensorType:
    what = "two batches of matrices (3 axes)"
    operands = f"{input} @ {mat2}"
    a, b = _checked(context, operation, operands, (input, 3, what), (mat2, 3, what))
    left, right = a.shape.dims[0], b.shape.dims[0]

    def fault() -> ShapeError:
        return ShapeError(operation, f"batch sizes {left} and {right} differ", operands, dims=(left, right))

    batch = require_equal(context, (a, b), left, right, fault)
    same = Shape((batch, *a.shape.dims[1:])), Shape((batch, *b.shape.dims[1:]))
    return multiplied(context, operation, a.with_shape(same[0]), b.with_shape(same[1]))


@op("mv", "torch.mv", "Tensor.mv", formula="y[i] = sum_k a[i, k]*x[k]", dtypes=multiplies("input", "vec"))
def mv(context: Context, input: TensorType, vec: TensorType) -> TensorType:
    operands = f"{input} @ {vec}"
    a, b = _checked(context, "mv", operands, (input, 2, "a matrix and a vector"), (vec, 1, "a matrix and a vector"))
    return multiplied(context, "mv", a, b)


@op("dot", "torch.dot", "Tensor.dot", formula="y = sum_k a[k]*b[k]", dtypes=multiplies("input", "tensor"))
def dot(context: Context, input: TensorType, tensor: TensorType) -> TensorType:
    return _dotted(context, "dot", input, tensor)


@op("vdot", "torch.vdot", "Tensor.vdot", formula="y = sum_k conj(a[k])*b[k]", dtypes=multiplies("input", "other"))
def vdot(context: Context, input: TensorType, other: TensorType) -> TensorType:
    return _dotted(context, "vdot", input, other)


def _dotted(context: Context, operation: str, a: TensorType, b: TensorType) -> TensorType:
    operands = f"{a} @ {b}"
    a, b = _checked(context, operation, operands, (a, 1, "two vectors"), (b, 1, "two vectors"))
    return multiplied(context, operation, a, b)


@op(
    "inner",
    "torch.inner",
    "Tensor.inner",
    formula="y[..., ...'] = sum_k a[..., k]*b[...', k]",
    dtypes=multiplies("input", "other"),
)
def inner(context: Context, input: TensorType, other: TensorType) -> TensorType:
    operands = shown(input, other)
    dtype = result_type(input, other) if 0 in (input.shape.rank, other.shape.rank) else None
    a, b = input.shape, other.shape
    device = common_device((input, other))
    if a.rank == 0 or b.rank == 0:
        return TensorType(b if a.rank == 0 else a, dtype or ANY_DTYPE, device)
    if a.rank is None or b.rank is None:
        return context.unknown_tensor()
    last = a.dims[-1], b.dims[-1]

    def fault() -> ShapeError:
        return ShapeError("inner", f"last dimensions {last[0]} and {last[1]} differ", operands, dims=last)

    require_equal(context, (input, other), *last, fault)
    dtype = require_same_dtype("inner", input, other)
    return TensorType(Shape((*a.dims[:-1], *b.dims[:-1])), dtype, device)


@op("outer", "torch.outer", "torch.ger", "Tensor.outer", "Tensor.ger", formula="y[i, j] = a[i]*b[j]")
def outer(context: Context, input: TensorType, vec2: TensorType) -> TensorType:
    operands = shown(input, vec2)
    a, b = _checked(context, "outer", operands, (input, 1, "two vectors"), (vec2, 1, "two vectors"))
    shape = Shape((*a.shape.dims, *b.shape.dims))
    return TensorType(shape, result_type(a, b), common_device((a, b)), a.joined or b.joined)


@op("addmm", "torch.addmm", "Tensor.addmm", formula="y = beta*x + alpha*(a @ b)", in_place=("Tensor.addmm_",))
def addmm(
    context: Context, input: TensorType, mat1: TensorType, mat2: TensorType, *, beta: Value = ONE, alpha: Value = ONE
) -> TensorType:
    return _added(context, "addmm", input, mm(context, mat1, mat2))


@op("addmv", "torch.addmv", "Tensor.addmv", formula="y = beta*x + alpha*(a @ v)", in_place=("Tensor.addmv_",))
def addmv(
    context: Context, input: TensorType, mat: TensorType, vec: TensorType, *, beta: Value = ONE, alpha: Value = ONE
) -> TensorType:
    return _added(context, "addmv", input, mv(context, mat, vec))


@op("addr", "torch.addr", "Tensor.addr", formula="y[i, j] = beta*x[i, j] + alpha*a[i]*b[j]", in_place=("Tensor.addr_",))
def addr(
    context: Context, input: TensorType, vec1: TensorType, vec2: TensorType, *, beta: Value = ONE, alpha: Value = ONE
) -> TensorType:
    product = outer(context, vec1, vec2)
    added = _added(context, "addr", input, product)
    return added.with_dtype(result_type(input, product))


@op(
    "baddbmm",
    "torch.baddbmm",
    "Tensor.baddbmm",
    formula="y[n] = beta*x[n] + alpha*(a[n] @ b[n])",
    in_place=("Tensor.baddbmm_",),
)
def baddbmm(
    context: Context,
    input: TensorType,
    batch1: TensorType,
    batch2: TensorType,
    *,
    beta: Value = ONE,
    alpha: Value = ONE,
) -> TensorType:
    return _added(context, "baddbmm", input, _batches_multiplied(context, "baddbmm", batch1, batch2))


@op(
    "addbmm",
    "torch.addbmm",
    "Tensor.addbmm",
    formula="y = beta*x + alpha*sum_n a[n] @ b[n]",
    in_place=("Tensor.addbmm_",),
)
def addbmm(
    context: Context,
    input: TensorType,
    batch1: TensorType,
    batch2: TensorType,
    *,
    beta: Value = ONE,
    alpha: Value = ONE,
) -> TensorType:
    product = _batches_multiplied(context, "addbmm", batch1, batch2)
    return _added(context, "addbmm", input, product.with_shape(Shape(product.shape.dims[1:])))


def _added(context: Context, operation: str, input: TensorType, product: TensorType) -> TensorType:
    """The product with `input` added, which must broadcast to it."""
    operands = f"{input} + {product}"

    def fault(a: Dim, b: Dim) -> ShapeError:
        return ShapeError(operation, f"sizes {a} and {b} differ", operands, dims=(a, b))

    if input.shape.least_rank > len(product.shape.dims):
        raise ShapeError(operation, "the added tensor has more axes than the product", operands)
    require_expands(context, input.shape, product.shape, fault)
    return product.with_dtype(require_same_dtype(operation, input, product))


@op("chain_matmul", "torch.chain_matmul", formula="y = a_0 @ a_1 @ ...")
def chain_matmul(context: Context, *matrices: Value) -> TensorType:
    factors = tensors(context, matrices)
    for factor in factors or ():
        require_rank("chain_matmul", factor, 2, "matrices", shown(*(factors or ())))
    return _chained(context, "chain_matmul", factors)


@op("linalg.multi_dot", "torch.linalg.multi_dot", formula="y = a_0 @ a_1 @ ...")
def multi_dot(context: Context, tensors: Value) -> TensorType:
    return _chained(context, "linalg.multi_dot", _tensors(context, tensors))


def _tensors(context: Context, value: Value) -> tuple[TensorType, ...] | None:
    return tensors(context, value)


def _chained(context: Context, operation: str, matrices: Sequence[TensorType] | None) -> TensorType:
    if not matrices:
        return context.unknown_tensor()
    result = matrices[0]
    for matrix in matrices[1:]:
        result = multiplied(context, operation, result, matrix)
    return result
