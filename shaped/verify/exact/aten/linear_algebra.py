"""Rules of inverses, determinants, solutions and triangular factors, by exact elimination."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from shaped.verify.exact import field, functions
from shaped.verify.exact.arithmetic import divide, linear, matrix_product, square_root, subtract, times, where
from shaped.verify.exact.aten.registry import UnsupportedError, rule
from shaped.verify.exact.field import multiply, reduce
from shaped.verify.exact.value import Value, lift

aten = torch.ops.aten


def inverse(value: Value) -> Value:
    """The inverse of square matrices: d(A^-1) = -A^-1 dA A^-1."""
    residue, _ = field.inverse_and_determinant(value.residue)
    tangent: Tensor | None = None
    if value.tangent is not None:
        product = field.matrix_product(field.matrix_product(residue, value.tangent), residue)
        tangent = reduce(-product)
    return Value(torch.linalg.inv_ex(value.shadow).inverse, residue, tangent)


def determinant(value: Value) -> Value:
    """The determinant: d det A = det A tr(A^-1 dA) (Jacobi)."""
    inverted, residue = field.inverse_and_determinant(value.residue)
    tangent: Tensor | None = None
    if value.tangent is not None:
        tangent = multiply(residue, _trace_of_product(inverted, value.tangent))
    return Value(torch.linalg.det(value.shadow), residue, tangent)


def _trace_of_product(left: Tensor, right: Tensor) -> Tensor:
    return reduce(multiply(left, right.mT).sum((-2, -1)))


def _transposed(value: Value) -> Value:
    return value.move(lambda one: one.mT)


@rule("linalg_inv_ex")
def _inv_ex(value: Value, *, check_errors: bool = False) -> tuple[Value, Tensor]:
    return inverse(value), torch.zeros(value.shape[:-2], dtype=torch.int32)


@rule("_linalg_det")
def _det(value: Value) -> tuple[Value, Value, Tensor]:
    _, factors, pivots = aten._linalg_det(value.shadow)
    return determinant(value), _factored(value, factors, pivots), pivots


@rule("_linalg_slogdet")
def _slogdet(value: Value) -> tuple[Value, Value, Value, Tensor]:
    sign, _, factors, pivots = aten._linalg_slogdet(value.shadow)
    logarithm = functions.log(times(lift(sign), determinant(value)))
    return lift(sign), logarithm, _factored(value, factors, pivots), pivots


@rule("_linalg_solve_ex")
def _solve_ex(
    matrix: Value, right: Any, *, left: bool = True, check_errors: bool = False
) -> tuple[Value, Value, Tensor, Tensor]:
    other = lift(right)
    _, factors, pivots, info = aten._linalg_solve_ex(matrix.shadow, other.shadow, left=left)
    is_vector = other.ndim == 1 or (other.ndim == matrix.ndim - 1 and other.shape == matrix.shape[:-1])
    column = other.move(lambda one: one.unsqueeze(-1)) if is_vector else other
    inverted = inverse(matrix)
    result = matrix_product(inverted, column) if left else matrix_product(column, inverted)
    if is_vector:
        result = result.move(lambda one: one.squeeze(-1))
    return result, _factored(matrix, factors, pivots), pivots, info


@rule("linalg_lu_factor_ex")
def _lu_factor_ex(value: Value, *, pivot: bool = True, check_errors: bool = False) -> tuple[Value, Tensor, Tensor]:
    if not pivot:
        raise UnsupportedError("LU factors without pivots")
    factors, pivots, info = torch.linalg.lu_factor_ex(value.shadow)
    return _factored(value, factors, pivots), pivots, info


def _factored(value: Value, factors: Tensor, pivots: Tensor) -> Value:
    """L and U in one matrix as torch returns them: of a matrix or, if its memory is in rows, of its transpose.

    Args:
        value: the matrix.
        factors: what torch computed for its shadow.
        pivots: likewise; floats choose them.
    """
    permutation, lower, upper = torch.lu_unpack(factors, pivots)
    product = permutation @ lower @ upper

    def distance(other: Tensor) -> float:
        return float((product - other).norm()) if product.shape == other.shape else float("inf")

    of_transpose = distance(value.shadow.mT) < distance(value.shadow)
    return eliminated(matrix_product(lift(permutation.mT), _transposed(value) if of_transpose else value))


def eliminated(value: Value) -> Value:
    """L (below the diagonal, which is 1) and U (the rest) of a matrix whose rows are in order."""
    rest = value
    rows: list[Value] = []
    columns: list[Value] = []
    steps = min(value.shape[-2:])
    for _ in range(steps):
        first = rest.move(lambda one: one[..., :1, :])
        below = divide(rest.move(lambda one: one[..., 1:, :1]), first.move(lambda one: one[..., :, :1]))
        rows.append(first)
        columns.append(below)
        rest = subtract(rest.move(lambda one: one[..., 1:, 1:]), times(below, first.move(lambda one: one[..., :, 1:])))

    def assembled(parts: list[Tensor], sides: list[Tensor]) -> Tensor:
        result = parts[0].new_zeros(value.shape)
        for k, (row, side) in enumerate(zip(parts, sides)):
            result[..., k, k:] = row[..., 0, :]
            result[..., k + 1 :, k] = side[..., 0]
        return result

    if not steps:
        return value
    tangent: Tensor | None = None
    if value.tangent is not None:
        tangent = assembled([one.tangent for one in rows], [one.tangent for one in columns])  # type: ignore[misc]  # both carry one
    return Value(
        assembled([one.shadow for one in rows], [one.shadow for one in columns]),
        assembled([one.residue for one in rows], [one.residue for one in columns]),
        tangent,
    )


def _lower(value: Value, *, unit: bool) -> Value:
    """The lower triangle, its diagonal 1 if asked for."""
    result = linear(lambda one: one.tril(-1 if unit else 0), value)
    return _with_unit_diagonal(result) if unit else result


def _upper(value: Value, *, unit: bool) -> Value:
    result = linear(lambda one: one.triu(1 if unit else 0), value)
    return _with_unit_diagonal(result) if unit else result


def _with_unit_diagonal(value: Value) -> Value:
    diagonal = torch.eye(value.shape[-2], value.shape[-1], dtype=torch.bool)
    return where(diagonal, 1, value)


def _parts(factors: Value) -> tuple[Value, Value]:
    """L and U of a matrix that holds both."""
    size = min(factors.shape[-2:])
    lower = _lower(factors.move(lambda one: one[..., :, :size]), unit=True)
    return lower, _upper(factors.move(lambda one: one[..., :size, :]), unit=False)


@rule("linalg_lu")
def _lu(value: Value, *, pivot: bool = True) -> tuple[Value, Value, Value]:
    if not pivot:
        raise UnsupportedError("LU factors without pivots")
    factors, pivots, _ = torch.linalg.lu_factor_ex(value.shadow)
    permutation = torch.lu_unpack(factors, pivots, unpack_data=False)[0]
    return lift(permutation), *_parts(_factored(value, factors, pivots))


@rule("lu_unpack")
def _lu_unpack(
    factors: Value, pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Value | None, Value | None, Value | None]:
    permutation = torch.lu_unpack(factors.shadow, pivots, unpack_data=False)[0] if unpack_pivots else torch.zeros(0)
    lower, upper = _parts(factors) if unpack_data else (lift(torch.zeros(0)), lift(torch.zeros(0)))
    return lift(permutation), lower, upper


@rule("linalg_lu_solve")
def _lu_solve(factors: Value, pivots: Tensor, right: Any, *, left: bool = True, adjoint: bool = False) -> Value:
    permutation = lift(torch.lu_unpack(factors.shadow, pivots, unpack_data=False)[0])
    lower, upper = _parts(factors)
    inverted = matrix_product(matrix_product(inverse(upper), inverse(lower)), _transposed(permutation))
    inverted = _transposed(inverted) if adjoint else inverted
    return matrix_product(inverted, right) if left else matrix_product(right, inverted)


@rule("linalg_solve_triangular")
def _solve_triangular(matrix: Any, right: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Value:
    value = lift(matrix)
    inverted = inverse(_upper(value, unit=unitriangular) if upper else _lower(value, unit=unitriangular))
    return matrix_product(inverted, right) if left else matrix_product(right, inverted)


@rule("triangular_solve")
def _triangular_solve(
    right: Any, matrix: Value, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Value, Value]:
    inverted = inverse(_upper(matrix, unit=unitriangular) if upper else _lower(matrix, unit=unitriangular))
    return matrix_product(_transposed(inverted) if transpose else inverted, right), matrix


def _cholesky_factor(value: Value) -> Value:
    """The lower factor of the lower triangle."""
    rest = value
    columns: list[Value] = []
    for _ in range(value.shape[-1]):
        pivot = square_root(rest.move(lambda one: one[..., :1, :1]))
        below = divide(rest.move(lambda one: one[..., 1:, :1]), pivot)
        columns.append(pivot)
        columns.append(below)
        rest = subtract(rest.move(lambda one: one[..., 1:, 1:]), times(below, _transposed(below)))

    def assembled(parts: list[Tensor]) -> Tensor:
        result = parts[0].new_zeros(value.shape)
        for k in range(value.shape[-1]):
            result[..., k, k] = parts[2 * k][..., 0, 0]
            result[..., k + 1 :, k] = parts[2 * k + 1][..., 0]
        return result

    if not columns:
        return value
    tangent = None if value.tangent is None else assembled([one.tangent for one in columns])  # type: ignore[misc]  # all carry one
    return Value(assembled([one.shadow for one in columns]), assembled([one.residue for one in columns]), tangent)


@rule("linalg_cholesky_ex")
def _cholesky_ex(value: Value, *, upper: bool = False, check_errors: bool = False) -> tuple[Value, Tensor]:
    return _cholesky(value, upper), torch.zeros(value.shape[:-2], dtype=torch.int32)


@rule("cholesky")
def _cholesky(value: Value, upper: bool = False) -> Value:
    return _transposed(_cholesky_factor(_transposed(value))) if upper else _cholesky_factor(value)


def _gram(factor: Value, upper: bool) -> Value:
    """The matrix that a Cholesky factor is of."""
    lower = _transposed(_upper(factor, unit=False)) if upper else _lower(factor, unit=False)
    return matrix_product(lower, _transposed(lower))


@rule("cholesky_solve")
def _cholesky_solve(right: Any, factor: Value, upper: bool = False) -> Value:
    return matrix_product(inverse(_gram(factor, upper)), right)


@rule("cholesky_inverse")
def _cholesky_inverse(factor: Value, upper: bool = False) -> Value:
    return inverse(_gram(factor, upper))
