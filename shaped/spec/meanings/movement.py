"""Axes in another order, added, dropped or turned round."""

from __future__ import annotations

from collections.abc import Sequence

from shaped.errors import ShapeError
from shaped.spec.atoms import Symbol
from shaped.spec.dims import Dim
from shaped.spec.expr import index_nonnegative
from shaped.spec.index import is_nonnegative
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.places import chosen, entry, fresh_axis, place_of, with_axes
from shaped.spec.meanings.reshape import ravel, reshaped
from shaped.spec.meanings.sizes import SizeLike, as_axes, as_dim, as_int, axis_size, is_size, may_be_one
from shaped.spec.substitution import substitute
from shaped.spec.tensor import NotExpressible, Tensor, with_entry


@meaning("permute")
def permute(input: Tensor, *dims: int | Sequence[int]) -> Tensor:
    order = as_axes(input, dims)
    if len(order) != input.rank:
        raise ShapeError("permute", f"{len(order)} axes are named of {input.rank}")
    return with_axes(input, [input.axes[axis] for axis in order])


@backward("permute")
def permute_backward(grad: Tensor, input: Tensor, *dims: int | Sequence[int]) -> Tensor:
    order = as_axes(input, dims)
    return permute(grad, *(order.index(axis) for axis in range(input.rank)))


@meaning("transpose")
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    axes = list(input.axes)
    if axes:
        first, second = input.axis(dim0), input.axis(dim1)
        axes[first], axes[second] = axes[second], axes[first]
    return with_axes(input, axes)


@backward("transpose")
def transpose_backward(grad: Tensor, input: Tensor, dim0: int, dim1: int) -> Tensor:
    return transpose(grad, dim0, dim1)


@meaning("t")
def t(input: Tensor) -> Tensor:
    if input.rank > 2:
        raise ShapeError("t", f"at most 2 axes, not {input.rank}")
    return with_axes(input, input.axes[::-1])


@backward("t")
def t_backward(grad: Tensor, input: Tensor) -> Tensor:
    return t(grad)


@meaning("Tensor.T")
def reversed_axes(input: Tensor) -> Tensor:
    return with_axes(input, input.axes[::-1])


@backward("Tensor.T")
def reversed_axes_backward(grad: Tensor, input: Tensor) -> Tensor:
    return with_axes(grad, grad.axes[::-1])


@meaning("Tensor.H")
def conjugate_transpose(input: Tensor) -> Tensor:
    if input.rank not in (0, 2):
        raise ShapeError("H", f"2 axes, not {input.rank}")
    imaginary = None if input.imaginary is None else -input.imaginary
    return Tensor(input.axes[::-1], input.body, input.kind, imaginary)


@meaning("Tensor.mT")
def matrix_transpose(input: Tensor) -> Tensor:
    if input.kind == "complex":
        raise NotExpressible("mT or mH of a complex tensor: write transpose(-2, -1), with conj() for mH")
    if input.rank < 2:
        raise ShapeError("mT", f"at least 2 axes, not {input.rank}")
    return transpose(input, -2, -1)


@backward("Tensor.mT")
def matrix_transpose_backward(grad: Tensor, input: Tensor) -> Tensor:
    return transpose(grad, -2, -1)


@meaning("movedim")
def movedim(input: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    sources = as_axes(input, source if isinstance(source, int) else tuple(source))
    destinations = as_axes(input, destination if isinstance(destination, int) else tuple(destination))
    if len(sources) != len(destinations):
        raise ShapeError("movedim", f"{len(sources)} axes for {len(destinations)} places")
    others = iter(axis for axis in range(input.rank) if axis not in sources)
    moved = dict(zip(destinations, sources))
    return permute(input, *(moved[axis] if axis in moved else next(others) for axis in range(input.rank)))


@backward("movedim")
def movedim_backward(
    grad: Tensor, input: Tensor, source: int | Sequence[int], destination: int | Sequence[int]
) -> Tensor:
    return movedim(grad, destination, source)


@meaning("unsqueeze")
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    if not -input.rank - 1 <= dim <= input.rank:
        raise ShapeError("unsqueeze", f"there is no place {dim} for an axis among {input.rank} axes")
    axes = list(input.axes)
    axes.insert(dim % (input.rank + 1), ())
    return with_axes(input, axes)


@backward("unsqueeze")
def unsqueeze_backward(grad: Tensor, input: Tensor, dim: int) -> Tensor:
    return reshaped(grad, input.sizes)


@meaning("squeeze")
def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    chosen_axes = range(input.rank) if dim is None else as_axes(input, dim if isinstance(dim, int) else tuple(dim))
    for axis in chosen_axes:
        if input.axes and input.axes[axis] and may_be_one(input.sizes[axis]):
            raise NotExpressible(f"squeeze of an axis of size {input.sizes[axis]}, which goes only where that is 1")
    kept = [axis for number, axis in enumerate(input.axes) if axis or number not in chosen_axes]
    return with_axes(input, kept)


@backward("squeeze")
def squeeze_backward(grad: Tensor, input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    return reshaped(grad, input.sizes)


@meaning("flip")
def flip(input: Tensor, *dims: int | Sequence[int]) -> Tensor:
    turned = {index for axis in as_axes(input, dims) for index in input.axes[axis]}
    values: dict[Symbol, Dim] = {index: index.size - 1 - index.dim for index in turned}
    imaginary = None if input.imaginary is None else substitute(input.imaginary, values)
    return Tensor(input.axes, substitute(input.body, values), input.kind, imaginary)


@backward("flip")
def flip_backward(grad: Tensor, input: Tensor, *dims: int | Sequence[int]) -> Tensor:
    return flip(grad, *dims)


@meaning("fliplr")
def fliplr(input: Tensor) -> Tensor:
    return flip(input, 1)


@backward("fliplr")
def fliplr_backward(grad: Tensor, input: Tensor) -> Tensor:
    return flip(grad, 1)


@meaning("flipud")
def flipud(input: Tensor) -> Tensor:
    return flip(input, 0)


@backward("flipud")
def flipud_backward(grad: Tensor, input: Tensor) -> Tensor:
    return flip(grad, 0)


@meaning("roll")
def roll(input: Tensor, shifts: SizeLike | Sequence[SizeLike], dims: int | Sequence[int] | None = None) -> Tensor:
    amounts = [as_dim(shifts)] if is_size(shifts) else [as_dim(shift) for shift in shifts]
    if dims is None or dims == ():
        if len(amounts) != 1:
            raise ShapeError("roll", f"{len(amounts)} shifts without axes")
        return reshaped(_rolled(ravel(input), amounts[0], 0), input.sizes)
    axes = [input.axis(dims)] if isinstance(dims, int) else [input.axis(dim) for dim in dims]
    if len(axes) != len(amounts):
        raise ShapeError("roll", f"{len(amounts)} shifts for {len(axes)} axes")
    for amount, axis in zip(amounts, axes):
        input = _rolled(input, amount, axis)
    return input


def _rolled(input: Tensor, shift: Dim, dim: int) -> Tensor:
    size = axis_size(input.axes[dim])
    if size == 0:
        return input
    axes = [fresh_axis(axis) for axis in input.axes]
    places = [place_of(axis) for axis in axes]
    source = places[dim] - shift

    def at(place: Dim) -> tuple[Dim, ...]:
        return (*places[:dim], place, *places[dim + 1 :])

    if is_nonnegative(shift) and is_nonnegative(size - shift):
        body = chosen(index_nonnegative(source), entry(input, at(source)), entry(input, at(source + size)))
    elif is_nonnegative(-shift) and is_nonnegative(size + shift):
        body = chosen(index_nonnegative(size - 1 - source), entry(input, at(source)), entry(input, at(source - size)))
    else:
        body = entry(input, at(source % size))
    return with_entry(axes, body, input.kind)


@backward("roll")
def roll_backward(
    grad: Tensor, input: Tensor, shifts: SizeLike | Sequence[SizeLike], dims: int | Sequence[int] | None = None
) -> Tensor:
    back = -as_dim(shifts) if is_size(shifts) else [-as_dim(shift) for shift in shifts]
    return roll(grad, back, dims)


@meaning("rot90")
def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    first, second = as_axes(input, tuple(dims))
    turns = as_int(k, "the number of turns") % 4
    if turns == 2:
        return flip(input, first, second)
    if turns == 1:
        return transpose(flip(input, second), first, second)
    return flip(transpose(input, first, second), second) if turns else input


@backward("rot90")
def rot90_backward(grad: Tensor, input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    return rot90(grad, -k, dims)
