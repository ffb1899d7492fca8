"""Diagonals and triangles."""

from __future__ import annotations

from shaped.errors import ShapeError
from shaped.spec.dims import ZERO, Dim, maximum, minimum
from shaped.spec.expr import index_nonnegative, index_zero
from shaped.spec.index import is_nonnegative
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.creation import filled
from shaped.spec.meanings.places import chosen, entry, fresh_axis, new_axis, nothing, place_of, taken
from shaped.spec.meanings.reduction import sum_
from shaped.spec.meanings.reshape import reshaped
from shaped.spec.meanings.sizes import SizeLike, as_dim
from shaped.spec.tensor import NotExpressible, Tensor, TensorLike, with_entry


def _starts(offset: Dim) -> tuple[Dim, Dim]:
    """The row and the column at which a diagonal starts.

    Raises:
        NotExpressible: whether it is above or below the main one depends on a size.
    """
    if is_nonnegative(offset):
        return ZERO, offset
    if is_nonnegative(-offset):
        return -offset, ZERO
    raise NotExpressible(f"the diagonal {offset}, which may be above or below the main one")


@meaning("diagonal")
def diagonal(input: Tensor, offset: SizeLike = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    first, second = input.axis(dim1), input.axis(dim2)
    if first == second:
        raise ShapeError("diagonal", "two different axes are needed")
    row, column = _starts(as_dim(offset))
    length = minimum(input.sizes[first] - row, input.sizes[second] - column)
    if not is_nonnegative(length):
        length = maximum(length, ZERO)
    kept = [number for number in range(input.rank) if number not in (first, second)]
    axes = [*(fresh_axis(input.axes[number]) for number in kept), new_axis(length)]

    def places(*at: Dim) -> list[Dim]:
        found = dict(zip(kept, at)) | {first: at[-1] + row, second: at[-1] + column}
        return [found[number] for number in range(input.rank)]

    return taken(input, axes, places)


_diagonal = diagonal  # `diag` has a parameter of this name


@backward("diagonal")
def diagonal_backward(grad: Tensor, input: Tensor, offset: SizeLike = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    return _embedded(grad, as_dim(offset), input.axis(dim1), input.axis(dim2), input.sizes)


def _embedded(values: Tensor, offset: Dim, first: int, second: int, sizes: tuple[Dim, ...]) -> Tensor:
    """The tensor of these sizes with `values` on a diagonal of two axes, 0 elsewhere."""
    row, _ = _starts(offset)
    others = iter(values.axes[:-1])
    axes = [
        new_axis(size) if number in (first, second) else fresh_axis(next(others)) for number, size in enumerate(sizes)
    ]
    places = [place_of(axis) for axis in axes]
    at = [place for number, place in enumerate(places) if number not in (first, second)]
    own = entry(values, (*at, places[first] - row))
    on_diagonal = index_zero(places[second] - places[first] - offset)
    return with_entry(axes, chosen(on_diagonal, own, nothing(values.kind)), values.kind)


@meaning("linalg.diagonal")
def linalg_diagonal(A: Tensor, *, offset: SizeLike = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    return diagonal(A, offset, dim1, dim2)


@backward("linalg.diagonal")
def linalg_diagonal_backward(
    grad: Tensor, A: Tensor, *, offset: SizeLike = 0, dim1: int = -2, dim2: int = -1
) -> Tensor:
    return diagonal_backward(grad, A, offset, dim1, dim2)


@meaning("diag_embed")
def diag_embed(input: Tensor, offset: SizeLike = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    rank, shift = input.rank + 1, as_dim(offset)
    first, second = dim1 % rank, dim2 % rank
    if first > second:
        first, second, shift = second, first, -shift
    size = input.sizes[-1] + _starts(shift)[0] + _starts(shift)[1]
    others = iter(input.sizes[:-1])
    sizes = tuple(size if number in (first, second) else next(others) for number in range(rank))
    return _embedded(input, shift, first, second, sizes)


@backward("diag_embed")
def diag_embed_backward(grad: Tensor, input: Tensor, offset: SizeLike = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    return diagonal(grad, offset, dim1, dim2)


@meaning("diag")
def diag(input: Tensor, diagonal: SizeLike = 0) -> Tensor:
    if input.rank not in (1, 2):
        raise ShapeError("diag", f"1 or 2 axes are needed, not {input.rank}")
    return diag_embed(input, diagonal) if input.rank == 1 else _diagonal(input, diagonal)


@backward("diag")
def diag_backward(grad: Tensor, input: Tensor, diagonal: SizeLike = 0) -> Tensor:
    return grad.diagonal(diagonal) if input.rank == 1 else diagonal_backward(grad, input, diagonal)


@meaning("diagflat")
def diagflat(input: Tensor, offset: SizeLike = 0) -> Tensor:
    return diag_embed(input.reshape(-1), offset)


@backward("diagflat")
def diagflat_backward(grad: Tensor, input: Tensor, offset: SizeLike = 0) -> Tensor:
    return reshaped(diagonal(grad, offset), input.sizes)


def _triangle(input: Tensor, sign: int, diagonal: Dim) -> Tensor:
    if input.rank < 2:
        raise ShapeError("tril" if sign < 0 else "triu", f"at least 2 axes are needed, not {input.rank}")
    axes = [fresh_axis(axis) for axis in input.axes]
    places = [place_of(axis) for axis in axes]
    is_kept = index_nonnegative((places[-1] - places[-2] - diagonal) * sign)
    return with_entry(axes, chosen(is_kept, entry(input, places), nothing(input.kind)), input.kind)


@meaning("tril")
def tril(input: Tensor, diagonal: SizeLike = 0) -> Tensor:
    return _triangle(input, -1, as_dim(diagonal))


@backward("tril")
def tril_backward(grad: Tensor, input: Tensor, diagonal: SizeLike = 0) -> Tensor:
    return tril(grad, diagonal)


@meaning("triu")
def triu(input: Tensor, diagonal: SizeLike = 0) -> Tensor:
    return _triangle(input, 1, as_dim(diagonal))


@backward("triu")
def triu_backward(grad: Tensor, input: Tensor, diagonal: SizeLike = 0) -> Tensor:
    return triu(grad, diagonal)


@meaning("trace")
def trace(input: Tensor) -> Tensor:
    if input.rank != 2:
        raise ShapeError("trace", f"2 axes are needed, not {input.rank}")
    return sum_(diagonal(input))


@backward("trace")
def trace_backward(grad: Tensor, input: Tensor) -> Tensor:
    return _embedded(grad.expand(diagonal(input).sizes), ZERO, 0, 1, input.sizes)


@meaning("fill_diagonal")
def fill_diagonal(input: Tensor, fill_value: TensorLike, wrap: bool = False) -> Tensor:
    if wrap or input.rank < 2:
        raise NotExpressible("fill_diagonal that goes on after the last column")
    axes = [fresh_axis(axis) for axis in input.axes]
    places = [place_of(axis) for axis in axes]
    value = entry(filled((), fill_value, None, input.kind), ())
    body = entry(input, places)
    new = value
    for place in places[1:]:
        new = chosen(index_zero(place - places[0]), new, body)
    return with_entry(axes, new, input.kind)
