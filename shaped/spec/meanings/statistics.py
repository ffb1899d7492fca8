"""Norms of vectors and matrices, and covariances."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from shaped.spec.expr import Expr, apply, bracket, power, where, zero
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.complex_numbers import modulus
from shaped.spec.meanings.extremes import amax, amin
from shaped.spec.meanings.kinds import number
from shaped.spec.meanings.order import is_true
from shaped.spec.meanings.reduction import Dims, as_dims, broadcast_like, repeated, sum_
from shaped.spec.tensor import NotExpressible, Number, Tensor, pointwise, tensor

_INFINITY = float("inf")
_KINKS = "norm 0: 0; an element 0, ord below 2: 0; several extremes, ord infinite: each an equal share"


@meaning("linalg.vector_norm", kinks=_KINKS)
def vector_norm(x: Tensor, ord: float = 2, dim: Dims = None, keepdim: bool = False, dtype: object = None) -> Tensor:
    if ord == _INFINITY:
        return amax(_moduli(x), as_dims(dim), keepdim)
    if ord == -_INFINITY:
        return amin(_moduli(x), as_dims(dim), keepdim)
    if ord == 0:
        counted = pointwise(lambda u: bracket(is_true(u)), _moduli(x), kind="float")
        return sum_(counted, dim, keepdim)
    exponent = _exponent(ord)
    total = sum_(_powers(x, exponent), dim, keepdim)
    return total if exponent == 1 else pointwise(lambda s: root_or_0(s, 1 / exponent), total)


def _exponent(ord: Number) -> Fraction:
    body = number(ord)
    value = getattr(body, "value", None)
    if not isinstance(value, Fraction):
        raise NotExpressible(f"a norm of order {ord}")
    return value


def _moduli(x: Tensor) -> Tensor:
    if x.imaginary is not None:
        return pointwise(modulus, x, complex_parts=True)
    return pointwise(lambda u: apply("abs", u), x)


def _squares(x: Tensor) -> Tensor:
    if x.imaginary is not None:
        return pointwise(lambda u: u[0] ** 2 + u[1] ** 2, x, complex_parts=True)
    return pointwise(lambda u: u**2, x)


def _powers(x: Tensor, exponent: Fraction) -> Tensor:
    """|x|^exponent, by squares, which need no sign; its gradient at 0 is 0."""
    if exponent == 1:
        return _moduli(x)
    return _squares(x) if exponent == 2 else pointwise(lambda u: root_or_0(u, exponent / 2), _squares(x))


def root_or_0(x: Expr, exponent: Fraction) -> Expr:
    """A power of a number that is not negative, where its gradient at 0 is taken as 0."""
    return where(zero(x), 0, power(x, exponent))


@backward("linalg.vector_norm")
def vector_norm_backward(
    grad: Tensor, x: Tensor, ord: float = 2, dim: Dims = None, keepdim: bool = False, dtype: object = None
) -> Tensor:
    result = vector_norm(x, ord, dim, keepdim=True)
    upstream = repeated(grad, x, dim, keepdim)
    if ord in (_INFINITY, -_INFINITY):
        is_extreme = _moduli(x) == result
        return upstream * _directions(x) * is_extreme / sum_(is_extreme, dim, keepdim=True)
    if ord == 0:
        return broadcast_like(upstream, x) * 0
    exponent = _exponent(ord)

    def scale(g: Expr, norm: Expr, square: Expr) -> Expr:
        """g (|x|/norm)^exponent norm/|x|^2, by which each element is scaled."""
        return where(
            zero(norm), 0, where(zero(square), 0, g * power(square, exponent / 2 - 1) / power(norm, exponent - 1))
        )

    if exponent == 1:
        return upstream * _directions(x)
    if exponent == 2:
        return x * pointwise(lambda g, n: where(zero(n), 0, g / n), upstream, result)
    return x * pointwise(scale, upstream, result, _squares(x))


def _directions(x: Tensor) -> Tensor:
    """x / |x|, 0 at 0."""
    result: Tensor = x.sgn()
    return result


@meaning("norm", kinks=_KINKS)
def norm(
    input: Tensor, p: float | str | None = "fro", dim: Dims = None, keepdim: bool = False, dtype: object = None
) -> Tensor:
    if p == "nuc":
        raise NotExpressible("the nuclear norm")
    return vector_norm(input, 2 if p is None or isinstance(p, str) else p, dim, keepdim)


@backward("norm")
def norm_backward(
    grad: Tensor,
    input: Tensor,
    p: float | str | None = "fro",
    dim: Dims = None,
    keepdim: bool = False,
    dtype: object = None,
) -> Tensor:
    return vector_norm_backward(grad, input, 2 if p is None or isinstance(p, str) else p, dim, keepdim)


@meaning("linalg.matrix_norm", kinks=_KINKS)
def matrix_norm(
    A: Tensor,
    ord: float | str = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    dtype: object = None,
) -> Tensor:
    if ord == "fro":
        return vector_norm(A, 2, dim, keepdim)
    if ord not in (1, -1, _INFINITY, -_INFINITY):
        raise NotExpressible(f"the matrix norm of order {ord}")
    rows, columns = (A.axis(each) for each in dim)
    added, compared = (rows, columns) if ord in (1, -1) else (columns, rows)
    sums = sum_(_moduli(A), added, keepdim=True)
    extreme = (amax if float(ord) > 0 else amin)(sums, compared, keepdim=True)
    return extreme if keepdim else sum_(extreme, (rows, columns))


@meaning("linalg.norm", kinks=_KINKS)
def linalg_norm(
    A: Tensor, ord: float | str | None = None, dim: Dims = None, keepdim: bool = False, dtype: object = None
) -> Tensor:
    if ord is None:
        return vector_norm(A, 2, dim, keepdim)
    pair = (-2, -1) if dim is None and A.rank == 2 else as_dims(dim)
    if len(pair) == 2:
        return matrix_norm(A, ord, pair, keepdim)
    if isinstance(ord, str):
        raise ValueError(f"linalg.norm: the order {ord!r} is one of matrices, two axes expected in dim")
    return vector_norm(A, ord, dim, keepdim)


@meaning("cov", domain="more observations than the correction")
def cov(input: Tensor, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    rows = input if input.rank == 2 else Tensor(((), *(input.axes or ((),))), input.body, input.kind)
    weights = [each for each in (fweights, aweights) if each is not None]
    weight = weights[0] * weights[1] if len(weights) == 2 else weights[0] if weights else None
    total = tensor(rows.sizes[1]) if weight is None else sum_(weight)
    mean = sum_(rows if weight is None else rows * weight, 1, keepdim=True) / total
    lost = correction if aweights is None or weight is None else correction * sum_(weight * aweights) / total
    centered = rows - mean
    covariance: Tensor = centered @ (centered if weight is None else centered * weight).transpose(0, 1)
    result = covariance / (total - lost)
    return _of_one_variable(result) if not rows.axes[0] else result


def _of_one_variable(matrix: Tensor) -> Tensor:
    """torch gives the variance of a single variable without axes."""
    return Tensor((), matrix.body, matrix.kind)


@meaning("corrcoef", domain="no variable is constant")
def corrcoef(input: Tensor) -> Tensor:
    covariance = cov(input)
    if not covariance.rank:
        return covariance / covariance
    deviation: Tensor = covariance.diagonal().sqrt()
    result: Tensor = covariance / deviation.unsqueeze(1) / deviation
    return result
