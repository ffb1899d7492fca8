"""Products of matrices and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from shaped.errors import ShapeError
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.expansion import summed_to
from shaped.spec.meanings.labels import contract, require_equal, require_rank
from shaped.spec.meanings.movement import transpose
from shaped.spec.shape import Shape
from shaped.spec.tensor import Tensor, TensorLike, broadcast

Grads = tuple[Tensor, ...]


def _adjoint(matrix: Tensor) -> Tensor:
    return transpose(matrix.conj(), -2, -1)


@meaning("matmul")
def matmul(input: Tensor, other: Tensor) -> Tensor:
    if not input.rank or not other.rank:
        raise ShapeError("matmul", "both tensors need at least 1 axis")
    inner = input.sizes[-1], other.sizes[-1 if other.rank == 1 else -2]
    require_equal("matmul", "inner dimensions", *inner, operands=f"{Shape(input.sizes)} @ {Shape(other.sizes)}")
    batch = max(input.rank, other.rank) - 2
    left = [*range(batch - input.rank + 2, batch), "i", "k"] if input.rank > 1 else ["k"]
    right = [*range(batch - other.rank + 2, batch), "k", "j"] if other.rank > 1 else ["k"]
    output = [*range(batch), *(["i"] if input.rank > 1 else []), *(["j"] if other.rank > 1 else [])]
    return contract("matmul", [input, other], [left, right], output)


@meaning("rmatmul")
def rmatmul(input: Tensor, other: Tensor) -> Tensor:
    return matmul(other, input)


@backward("matmul")
def matmul_backward(grad: Tensor, input: Tensor, other: Tensor) -> Grads:
    left = input.unsqueeze(0) if input.rank == 1 else input
    right = other.unsqueeze(1) if other.rank == 1 else other
    if other.rank == 1:
        grad = grad.unsqueeze(-1)
    if input.rank == 1:
        grad = grad.unsqueeze(-2)
    to_left = summed_to(grad @ _adjoint(right), left.sizes)
    to_right = summed_to(_adjoint(left) @ grad, right.sizes)
    return to_left.reshape(input.sizes), to_right.reshape(other.sizes)


@backward("rmatmul")
def rmatmul_backward(grad: Tensor, input: Tensor, other: Tensor) -> Grads:
    to_left, to_right = matmul_backward(grad, other, input)
    return to_right, to_left


@meaning("mm")
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    require_rank("mm", input, 2)
    require_rank("mm", mat2, 2)
    return matmul(input, mat2)


@backward("mm")
def mm_backward(grad: Tensor, input: Tensor, mat2: Tensor) -> Grads:
    return grad @ _adjoint(mat2), _adjoint(input) @ grad


@meaning("bmm")
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    require_rank("bmm", input, 3)
    require_rank("bmm", mat2, 3)
    require_equal("bmm", "batch sizes", input.sizes[0], mat2.sizes[0])
    return matmul(input, mat2)


@backward("bmm")
def bmm_backward(grad: Tensor, input: Tensor, mat2: Tensor) -> Grads:
    return grad @ _adjoint(mat2), _adjoint(input) @ grad


@meaning("mv")
def mv(input: Tensor, vec: Tensor) -> Tensor:
    require_rank("mv", input, 2)
    require_rank("mv", vec, 1)
    return matmul(input, vec)


@backward("mv")
def mv_backward(grad: Tensor, input: Tensor, vec: Tensor) -> Grads:
    return grad.outer(vec.conj()), _adjoint(input) @ grad


@meaning("dot")
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    require_rank("dot", input, 1)
    require_rank("dot", tensor, 1)
    return matmul(input, tensor)


@backward("dot")
def dot_backward(grad: Tensor, input: Tensor, tensor: Tensor) -> Grads:
    return grad * tensor.conj(), grad * input.conj()


@meaning("vdot")
def vdot(input: Tensor, other: Tensor) -> Tensor:
    return dot(input.conj(), other)


@backward("vdot")
def vdot_backward(grad: Tensor, input: Tensor, other: Tensor) -> Grads:
    return grad.conj() * other, grad * input


@meaning("inner")
def inner(input: Tensor, other: Tensor) -> Tensor:
    if not input.rank or not other.rank:
        return input * other
    require_equal("inner", "last sizes", input.sizes[-1], other.sizes[-1])
    left: list[object] = [("left", axis) for axis in range(input.rank - 1)]
    right: list[object] = [("right", axis) for axis in range(other.rank - 1)]
    return contract("inner", [input, other], [[*left, "k"], [*right, "k"]], [*left, *right])


@meaning("outer")
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    require_rank("outer", input, 1)
    require_rank("outer", vec2, 1)
    return contract("outer", [input, vec2], ["i", "j"], "ij")


@backward("outer")
def outer_backward(grad: Tensor, input: Tensor, vec2: Tensor) -> Grads:
    return grad @ vec2.conj(), grad.t() @ input.conj()


def _added(input: Tensor, product: Tensor, beta: TensorLike, alpha: TensorLike) -> Tensor:
    scaled = product if alpha == 1 else product * alpha
    if beta == 0:  # torch leaves `input` aside, also where it is nan
        return scaled
    broadcast(input, product)
    return (input if beta == 1 else input * beta) + scaled


def _added_backward(grad: Tensor, input: Tensor, beta: TensorLike) -> Tensor:
    return summed_to(grad * beta, input.sizes)


@meaning("addmm")
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: TensorLike = 1, alpha: TensorLike = 1) -> Tensor:
    return _added(input, mm(mat1, mat2), beta, alpha)


@backward("addmm")
def addmm_backward(
    grad: Tensor, input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: TensorLike = 1, alpha: TensorLike = 1
) -> Grads:
    return _added_backward(grad, input, beta), *mm_backward(grad * alpha, mat1, mat2)


@meaning("addmv")
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: TensorLike = 1, alpha: TensorLike = 1) -> Tensor:
    return _added(input, mv(mat, vec), beta, alpha)


@backward("addmv")
def addmv_backward(
    grad: Tensor, input: Tensor, mat: Tensor, vec: Tensor, *, beta: TensorLike = 1, alpha: TensorLike = 1
) -> Grads:
    return _added_backward(grad, input, beta), *mv_backward(grad * alpha, mat, vec)


@meaning("addr")
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: TensorLike = 1, alpha: TensorLike = 1) -> Tensor:
    return _added(input, outer(vec1, vec2), beta, alpha)


@backward("addr")
def addr_backward(
    grad: Tensor, input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: TensorLike = 1, alpha: TensorLike = 1
) -> Grads:
    return _added_backward(grad, input, beta), *outer_backward(grad * alpha, vec1, vec2)


@meaning("baddbmm")
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: TensorLike = 1, alpha: TensorLike = 1) -> Tensor:
    return _added(input, bmm(batch1, batch2), beta, alpha)


@backward("baddbmm")
def baddbmm_backward(
    grad: Tensor, input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: TensorLike = 1, alpha: TensorLike = 1
) -> Grads:
    return _added_backward(grad, input, beta), *bmm_backward(grad * alpha, batch1, batch2)


@meaning("addbmm")
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: TensorLike = 1, alpha: TensorLike = 1) -> Tensor:
    return _added(input, bmm(batch1, batch2).sum(0), beta, alpha)


@backward("addbmm")
def addbmm_backward(
    grad: Tensor, input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: TensorLike = 1, alpha: TensorLike = 1
) -> Grads:
    scaled = grad * alpha
    return _added_backward(grad, input, beta), scaled @ _adjoint(batch2), _adjoint(batch1) @ scaled


@meaning("chain_matmul")
def chain_matmul(*matrices: Tensor) -> Tensor:
    return reduce(mm, matrices)


@meaning("linalg.multi_dot")
def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    return reduce(matmul, tensors)
