"""Sums, means, products and extrema over axes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from shaped.spec.dims import Dim, product
from shaped.spec.expr import Exists, Expr, Product, Sum, index_zero, power, real, where, zero
from shaped.spec.index import fresh_index
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.comparison import as_bool
from shaped.spec.meanings.kinds import converted, elementwise, promoted, requested
from shaped.spec.tensor import NotExpressible, Tensor, build, pointwise, reduced, tensor, with_entry

Dims = int | Sequence[int] | None


def as_dims(dim: Dims) -> tuple[int, ...]:
    """The axes that an argument `dim` names; none for all axes."""
    if dim is None:
        return ()
    return (dim,) if isinstance(dim, int) else tuple(dim)


def chosen_axes(input: Tensor, dim: Dims) -> list[int]:
    """The axes that a reduction takes together, counted from the front: all of them if none is named.

    A tensor without axes has none, though torch lets dim be 0 or -1 for it.
    """
    named = {input.axis(each) for each in as_dims(dim)}
    return sorted(named & set(range(input.rank)) if named else range(input.rank))


def count(input: Tensor, dim: Dims) -> Dim:
    """The number of elements that a reduction takes together."""
    return product([input.sizes[axis] for axis in chosen_axes(input, dim)])


def repeated(grad: Tensor, input: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    """The adjoint of a sum: the gradient with the axes back that the reduction dropped, to be broadcast."""
    if keepdim:
        return grad
    chosen = chosen_axes(input, dim)
    kept = iter(grad.axes)
    axes = [() if axis in chosen else next(kept) for axis in range(input.rank)]
    return Tensor(axes, grad.body, grad.kind, grad.imaginary)


def broadcast_like(grad: Tensor, input: Tensor) -> Tensor:
    """`grad` repeated along the axes of `input`."""
    return elementwise(lambda g, x: g, grad, input, kind=grad.kind, on_complex=lambda g, x: g)


@meaning("sum", "nansum")
def sum_(input: Tensor, dim: Dims = None, keepdim: bool = False, dtype: object = None) -> Tensor:
    return converted(reduced(Sum, input, chosen_axes(input, dim), keepdim), requested(dtype, promoted(input, 0)))


@backward("sum", "nansum")
def sum_backward(grad: Tensor, input: Tensor, dim: Dims = None, keepdim: bool = False, dtype: object = None) -> Tensor:
    return broadcast_like(repeated(grad, input, dim, keepdim), input)


@meaning("mean", "nanmean")
def mean(input: Tensor, dim: Dims = None, keepdim: bool = False, dtype: object = None) -> Tensor:
    return sum_(input, dim, keepdim, dtype) / count(input, dim)


@backward("mean", "nanmean")
def mean_backward(grad: Tensor, input: Tensor, dim: Dims = None, keepdim: bool = False, dtype: object = None) -> Tensor:
    return broadcast_like(repeated(grad, input, dim, keepdim), input) / count(input, dim)


@meaning("prod")
def prod(input: Tensor, dim: Dims = None, keepdim: bool = False, dtype: object = None) -> Tensor:
    if input.imaginary is not None:
        raise NotExpressible("the product of complex numbers along an axis")
    return converted(reduced(Product, input, chosen_axes(input, dim), keepdim), requested(dtype, promoted(input, 0)))


@backward("prod")
def prod_backward(grad: Tensor, input: Tensor, dim: Dims = None, keepdim: bool = False, dtype: object = None) -> Tensor:
    """The gradient times the product of all the other factors, which is not the quotient where a factor is 0."""
    return repeated(grad, input, dim, keepdim) * product_of_others(input, dim)


def product_of_others(input: Tensor, dim: Dims) -> Tensor:
    """For each entry the product of the others that a reduction takes together with it."""
    chosen = chosen_axes(input, dim)

    def others(*places: Dim) -> Expr:
        result = real(1)
        for level, axis in enumerate(chosen):  # the products over all other places of this axis, and all of the later
            index = fresh_index(input.sizes[axis], "k")
            later = {each: fresh_index(input.sizes[each], "k") for each in chosen[level + 1 :]}
            at = {axis: index.dim, **{each: inner.dim for each, inner in later.items()}}
            body = input.at(*(at.get(each, place) for each, place in enumerate(places)))
            for inner in reversed(later.values()):
                body = Product(inner, body)
            result = result * Product(index, where(index_zero(index.dim - places[axis]), 1, body))
        return result

    return build(input.sizes, others)


@meaning("all")
def all(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    return ~any(~as_bool(input), dim, keepdim)


@meaning("any")
def any(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    given = as_bool(input)
    chosen = chosen_axes(given, dim) if as_dims(dim) or dim is None else []
    body = given.condition_at(*given.places)
    for axis in sorted(chosen, reverse=True):
        for index in reversed(given.axes[axis]):
            body = Exists(index, body)
    axes = [() if axis in chosen else indices for axis, indices in enumerate(given.axes)]
    kept = axes if keepdim else [indices for axis, indices in enumerate(axes) if axis not in chosen]
    return with_entry(kept, body)


@meaning("count_nonzero")
def count_nonzero(input: Tensor, dim: Dims = None) -> Tensor:
    return sum_(as_bool(input), dim)


@meaning("logsumexp")
def logsumexp(input: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    shift = input.amax(as_dims(dim), keepdim=True)  # it cancels, and is how torch rounds it
    result = (input - shift).exp().sum(as_dims(dim), keepdim=True).log() + shift
    return result if keepdim else dropped(result, as_dims(dim))


def dropped(input: Tensor, dims: Sequence[int]) -> Tensor:
    """The tensor without axes of size 1; without all if `dims` is empty."""
    chosen = chosen_axes(input, dims)
    axes = [axis for number, axis in enumerate(input.axes) if number not in chosen]
    return Tensor(axes, input.body, input.kind, input.imaginary)


@backward("logsumexp")
def logsumexp_backward(grad: Tensor, input: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    exponential = (input - input.amax(as_dims(dim), keepdim=True)).exp()
    weights = exponential / exponential.sum(as_dims(dim), keepdim=True)
    result: Tensor = repeated(grad, input, dim, keepdim) * weights
    return result


@meaning("var", domain="more elements than the correction")
def var(
    input: Tensor,
    dim: Dims | bool = None,
    unbiased: bool = True,
    keepdim: bool = False,
    correction: float | None = None,
) -> Tensor:
    return var_mean(input, dim, unbiased, keepdim, correction)[0]


@meaning("var_mean", domain="more elements than the correction")
def var_mean(
    input: Tensor,
    dim: Dims | bool = None,
    unbiased: bool = True,
    keepdim: bool = False,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    dims, divisor = _spread_over(input, dim, unbiased, correction)
    center = input.mean(dims, keepdim=True)
    return ((input - center) ** 2).sum(dims, keepdim) / divisor, input.mean(dims, keepdim)


def _spread_over(input: Tensor, dim: Dims | bool, unbiased: bool, correction: float | None) -> tuple[Dims, Tensor]:
    """The axes of a variance, and by what its sum of squares is divided."""
    if isinstance(dim, bool):  # var(x, False) means unbiased=False
        return _spread_over(input, None, dim, correction)
    return dim, tensor(count(input, dim)) - (int(unbiased) if correction is None else correction)


@backward("var")
def var_backward(
    grad: Tensor,
    input: Tensor,
    dim: Dims | bool = None,
    unbiased: bool = True,
    keepdim: bool = False,
    correction: float | None = None,
) -> Tensor:
    dims, divisor = _spread_over(input, dim, unbiased, correction)
    result: Tensor = repeated(grad, input, dims, keepdim) * 2 * (input - input.mean(dims, keepdim=True)) / divisor
    return result


@meaning("std", domain="more elements than the correction", kinks="all elements equal: 0")
def std(
    input: Tensor,
    dim: Dims | bool = None,
    unbiased: bool = True,
    keepdim: bool = False,
    correction: float | None = None,
) -> Tensor:
    return _root(var(input, dim, unbiased, keepdim, correction))


def _root(variance: Tensor) -> Tensor:
    """The root, whose gradient torch takes as 0 at 0."""
    return pointwise(lambda v: where(zero(v), 0, power(v, Fraction(1, 2))), variance)


@meaning("std_mean", domain="more elements than the correction", kinks="all elements equal: 0")
def std_mean(
    input: Tensor,
    dim: Dims | bool = None,
    unbiased: bool = True,
    keepdim: bool = False,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    variance, center = var_mean(input, dim, unbiased, keepdim, correction)
    return _root(variance), center


@backward("std")
def std_backward(
    grad: Tensor,
    input: Tensor,
    dim: Dims | bool = None,
    unbiased: bool = True,
    keepdim: bool = False,
    correction: float | None = None,
) -> Tensor:
    result = std(input, dim, unbiased, keepdim, correction)
    half = pointwise(lambda g, s: where(zero(s), 0, g / (2 * s)), grad, result)
    return var_backward(half, input, dim, unbiased, keepdim, correction)
