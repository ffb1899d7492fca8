"""Determinants, inverses and powers of matrices of a small, known size, written out."""

from __future__ import annotations

from itertools import permutations

from shaped.errors import ShapeError
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.contraction import matmul
from shaped.spec.meanings.creation import eye
from shaped.spec.meanings.joining import stack
from shaped.spec.meanings.movement import transpose
from shaped.spec.meanings.sizes import SizeLike, as_int
from shaped.spec.meanings.splitting import select
from shaped.spec.tensor import NotExpressible, Tensor

_LARGEST = 4  # rows of a matrix: its determinant has as many terms as there are permutations of these
_MOST_FACTORS = 16  # of a power


def _rows(A: Tensor) -> list[list[Tensor]]:
    """The entries of square matrices, each a tensor over the batch.

    Raises:
        ShapeError: the matrices are not square.
        NotExpressible: their size is not known, or large.
    """
    if A.rank < 2 or A.sizes[-1] != A.sizes[-2]:
        raise ShapeError("linalg", "square matrices are needed")
    size = as_int(A.sizes[-1], "the determinant of a matrix of size")
    if size > _LARGEST:
        raise NotExpressible(f"the determinant of a matrix of size {size}: at most {_LARGEST} are written out")
    return [[select(select(A, -2, row), -1, column) for column in range(size)] for row in range(size)]


def _determinant(rows: list[list[Tensor]]) -> Tensor | int:
    """Leibniz' sum over permutations."""
    total: Tensor | int = 0
    for order in permutations(range(len(rows))):
        inversions = sum(a > b for number, a in enumerate(order) for b in order[number + 1 :])
        term: Tensor | int = -1 if inversions % 2 else 1
        for row, column in enumerate(order):
            term = term * rows[row][column]
        total = total + term
    return total


@meaning("linalg.det")
def det(A: Tensor) -> Tensor:
    found = _determinant(_rows(A))
    if isinstance(found, int):
        raise NotExpressible("the determinant of a matrix without rows")
    return found


@backward("linalg.det")
def det_backward(grad: Tensor, A: Tensor) -> Tensor:
    """Jacobi's formula, for matrices that have an inverse."""
    scaled: Tensor = grad * det(A)
    return scaled.unsqueeze(-1).unsqueeze(-1) * transpose(inv(A), -2, -1)  # type: ignore[no-any-return]  # a product


@meaning("linalg.inv", domain="det A != 0")
def inv(A: Tensor) -> Tensor:
    """The adjugate over the determinant."""
    rows = _rows(A)
    size = len(rows)

    def cofactor(row: int, column: int) -> Tensor | int:
        minor = [[rows[i][j] for j in range(size) if j != column] for i in range(size) if i != row]
        found = _determinant(minor)
        return -found if (row + column) % 2 else found

    whole = det(A)
    entries = [[cofactor(column, row) / whole for column in range(size)] for row in range(size)]
    return stack([stack(each, -1) for each in entries], -2)


@backward("linalg.inv")
def inv_backward(grad: Tensor, A: Tensor) -> Tensor:
    inverse = transpose(inv(A), -2, -1)
    return -matmul(matmul(inverse, grad), inverse)


@meaning("linalg.matrix_power")
def matrix_power(A: Tensor, n: SizeLike) -> Tensor:
    if A.rank < 2 or A.sizes[-1] != A.sizes[-2]:
        raise ShapeError("matrix_power", "square matrices are needed")
    power = as_int(n, "the power of a matrix")
    if abs(power) > _MOST_FACTORS:
        raise NotExpressible(f"the power {power} of a matrix: at most {_MOST_FACTORS} factors are written out")
    if power == 0:
        return eye(A.sizes[-1]).expand(A.sizes)  # type: ignore[no-any-return]  # a tensor
    base = A if power > 0 else inv(A)
    found = base
    for _ in range(abs(power) - 1):
        found = matmul(found, base)
    return found


@meaning("logdet", domain="det A > 0")
def logdet(input: Tensor) -> Tensor:
    return det(input).log()  # type: ignore[no-any-return]  # a tensor


@meaning("vander")
def vander(x: Tensor, N: SizeLike = None, increasing: bool = False) -> Tensor:
    count = as_int(x.sizes[0] if N is None else N, "the number of powers")
    powers = range(count) if increasing else reversed(range(count))
    return stack([x**power for power in powers], -1)
