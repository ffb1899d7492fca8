"""The greatest and least element over axes, and where it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from shaped.spec.dims import Dim, product
from shaped.spec.expr import Condition, Exists, Expr, Greatest, Sum, both, index_nonnegative, negation, real, where
from shaped.spec.index import fresh_index, split
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.comparison import as_bool
from shaped.spec.meanings.kinds import converted
from shaped.spec.meanings.order import is_equal, is_greater
from shaped.spec.meanings.pairs import maximum, minimum
from shaped.spec.meanings.reduction import Dims, as_dims, repeated
from shaped.spec.tensor import Tensor, build, greatest, reduced, summed

if TYPE_CHECKING:
    from collections.abc import Callable


class ValuesAndIndices(NamedTuple):
    """The result of `max` along an axis."""

    values: Tensor
    indices: Tensor


@meaning("amax", kinks="several greatest: each an equal share")
def amax(input: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    result = _greatest(input, as_dims(dim), keepdim)
    return converted(result, input.kind) if input.kind != "bool" else as_bool(result)


def _greatest(input: Tensor, dims: Sequence[int], keepdim: bool) -> Tensor:
    """The greatest element over axes; over several by one index for all of them, so that ties share evenly."""
    chosen = sorted({input.axis(dim) for dim in dims} or set(range(input.rank)))
    if sum(len(input.axes[axis]) for axis in chosen) < 2:
        return reduced(Greatest, input, dims, keepdim)
    sizes = [input.sizes[axis] for axis in chosen]

    def entry(k: Dim) -> Expr:
        at = dict(zip(chosen, split(k, sizes)))
        return input.at(*(at.get(axis, place) for axis, place in enumerate(input.places)))

    axes = [() if axis in chosen else indices for axis, indices in enumerate(input.axes)]
    kept = axes if keepdim else [indices for axis, indices in enumerate(axes) if axis not in chosen]
    return Tensor(kept, greatest(product(sizes), entry), "int" if input.kind == "bool" else input.kind)


@meaning("amin", kinks="several least: each an equal share")
def amin(input: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    if input.kind == "bool":
        return ~amax(~input, dim, keepdim)
    return -amax(-input, dim, keepdim)


@meaning("aminmax", kinks="several least or greatest: each an equal share")
def aminmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return amin(input, as_dims(dim), keepdim), amax(input, as_dims(dim), keepdim)


@backward("amax")
def amax_backward(grad: Tensor, input: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    return _shared(grad, input, amax(input, dim, keepdim=True), dim, keepdim)


@backward("amin")
def amin_backward(grad: Tensor, input: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    return _shared(grad, input, amin(input, dim, keepdim=True), dim, keepdim)


def _shared(grad: Tensor, input: Tensor, extreme: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    """The gradient, in equal shares to the elements that are the extreme."""
    is_extreme = input == extreme
    ties = reduced(Sum, is_extreme, as_dims(dim), keepdim=True)
    return repeated(grad, input, dim, keepdim) * is_extreme / ties


_TIES = "several extremes: the first along an axis takes the gradient, over all axes they share it"


@meaning("max", kinks=_TIES)
def max(
    input: Tensor, dim: int | Tensor | None = None, keepdim: bool = False, other: Tensor | None = None
) -> Tensor | ValuesAndIndices:
    second = dim if isinstance(dim, Tensor) else other
    if second is not None:
        return maximum(input, second)
    return amax(input) if dim is None else _first_extreme(input, int(dim), keepdim, is_greater)


@meaning("min", kinks=_TIES)
def min(
    input: Tensor, dim: int | Tensor | None = None, keepdim: bool = False, other: Tensor | None = None
) -> Tensor | ValuesAndIndices:
    second = dim if isinstance(dim, Tensor) else other
    if second is not None:
        return minimum(input, second)
    return amin(input) if dim is None else _first_extreme(input, int(dim), keepdim, lambda x, y: is_greater(y, x))


@meaning("argmax")
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    given, axis = (input.flatten(), 0) if dim is None else (input, dim)
    return _first_extreme(given, axis, keepdim, is_greater).indices


@meaning("argmin")
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    given, axis = (input.flatten(), 0) if dim is None else (input, dim)
    return _first_extreme(given, axis, keepdim, lambda x, y: is_greater(y, x)).indices


def _first_extreme(
    input: Tensor, dim: int, keepdim: bool, is_better: Callable[[Expr, Expr], Condition]
) -> ValuesAndIndices:
    """The extreme along an axis and its index: sums in which a bracket keeps the first extreme alone.

    So the derivative goes to that element, as in torch. The index is a number that no axis can be indexed with.
    """
    axis = input.axis(dim)
    if not input.rank:
        return ValuesAndIndices(input, build((), lambda: real(0), "int"))

    def is_first(before: tuple[Dim, ...], k: Dim, after: tuple[Dim, ...]) -> Condition:
        value, other = input.at(*before, k, *after), fresh_index(input.sizes[axis], "l")
        rival = input.at(*before, other.dim, *after)
        is_earlier = both(index_nonnegative(k - other.dim - 1), is_equal(rival, value))
        return negation(Exists(other, is_better(rival, value) | is_earlier))

    def picked(places: tuple[Dim, ...], what: Callable[[Expr, Dim], Expr]) -> Expr:
        before, after = places[:axis], places[axis + keepdim :]
        return summed(
            input.sizes[axis],
            lambda k: where(is_first(before, k, after), what(input.at(*before, k, *after), k), 0),
        )

    sizes: list[Dim | int] = [*input.sizes[:axis], *([1] if keepdim else []), *input.sizes[axis + 1 :]]
    return ValuesAndIndices(
        build(sizes, lambda *places: picked(places, lambda value, k: value), input.kind),
        build(sizes, lambda *places: picked(places, lambda value, k: real(k)), "int"),
    )
