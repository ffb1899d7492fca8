"""Parts of a tensor along an axis."""

from __future__ import annotations

from collections.abc import Sequence

from shaped.errors import ShapeError
from shaped.spec.dims import ZERO, Dim, ceildiv
from shaped.spec.expr import Expr, bracket, index_zero, real, where
from shaped.spec.index import is_nonnegative
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.places import fresh_axis, in_range, new_axis, taken
from shaped.spec.meanings.sizes import DivisionNeeded, SizeLike, as_dim, as_int, is_size
from shaped.spec.normal_form import divide
from shaped.spec.tensor import NotExpressible, Tensor, build, summed

MOST_PIECES = 64  # a program that takes a tensor to pieces one by one has a term for each


def _from_start(place: Dim, size: Dim) -> Dim:
    """A place that may be counted from the end, counted from the start."""
    if is_nonnegative(place):
        return place
    if is_nonnegative(-place - 1):
        return place + size
    raise NotExpressible(f"index {place}, which may count from the end or not")


@meaning("narrow")
def narrow(input: Tensor, dim: int, start: SizeLike, length: SizeLike) -> Tensor:
    axis, first, size = input.axis(dim), as_dim(start), as_dim(length)
    first = _from_start(first, input.sizes[axis])
    if first == 0 and size == input.sizes[axis]:
        return input
    if is_nonnegative(first + size - input.sizes[axis] - 1):
        sizes = first, size, input.sizes[axis]
        raise ShapeError("narrow", f"from {first} on, {size} elements exceed the size {sizes[2]}", dims=sizes)
    axes = [fresh_axis(each) for each in input.axes]
    axes[axis] = new_axis(size)
    return taken(input, axes, lambda *at: (*at[:axis], at[axis] + first, *at[axis + 1 :]))


@backward("narrow")
def narrow_backward(grad: Tensor, input: Tensor, dim: int, start: SizeLike, length: SizeLike) -> Tensor:
    axis, first, size = input.axis(dim), as_dim(start), as_dim(length)
    first = _from_start(first, input.sizes[axis])
    return _set_back([grad], input.sizes, axis, [first], [size])


def joined(pieces: Sequence[Tensor], dim: int) -> Tensor:
    """Pieces one after the other, as `cat`, said as a sum of what is 0 outside of its piece."""
    axis = pieces[0].axis(dim)
    sizes = [each.sizes[axis] for each in pieces]
    whole = (*pieces[0].sizes[:axis], sum(sizes, ZERO), *pieces[0].sizes[axis + 1 :])
    return _set_back(pieces, whole, axis, [sum(sizes[:number], ZERO) for number in range(len(sizes))], sizes)


def _set_back(
    grads: Sequence[Tensor], whole: Sequence[Dim], axis: int, starts: Sequence[Dim], sizes: Sequence[Dim]
) -> Tensor:
    """Pieces of a tensor of the sizes `whole` at their places, 0 elsewhere."""

    def gradient(*at: Dim) -> Expr:
        total = real(0)
        for grad, start, size in zip(grads, starts, sizes):
            place = at[axis] - start
            inside = index_zero(place) if size == 1 else in_range(place, size)
            term = where(inside, grad.at(*at[:axis], place, *at[axis + 1 :]), 0)
            total = total + term
        return total

    return build(whole, gradient)


@meaning("select")
def select(input: Tensor, dim: int, index: SizeLike) -> Tensor:
    axis, place = input.axis(dim), as_dim(index)
    size = input.sizes[axis]
    place = _from_start(place, size)
    if is_nonnegative(place - size) or is_nonnegative(-place - 1):
        raise ShapeError("select", f"index {as_dim(index)} is out of range for size {size}", dims=(size,))
    axes = [fresh_axis(each) for number, each in enumerate(input.axes) if number != axis]
    return taken(input, axes, lambda *at: (*at[:axis], place, *at[axis:]))


@backward("select")
def select_backward(grad: Tensor, input: Tensor, dim: int, index: SizeLike) -> Tensor:
    axis = input.axis(dim)
    return narrow_backward(grad.unsqueeze(axis), input, axis, index, 1)


def pieces(input: Tensor, sizes: Sequence[Dim], axis: int) -> tuple[Tensor, ...]:
    """The tensor in pieces of these sizes along an axis."""
    start, found = ZERO, list[Tensor]()
    for size in sizes:
        found.append(narrow(input, axis, start, size))
        start = start + size
    return tuple(found)


def equal_pieces(size: Dim, piece: Dim) -> list[Dim]:
    """The sizes of pieces of one size, the last may be smaller.

    Raises:
        NotExpressible: how many there are is not the same for all sizes.
    """
    count, rest = divide(size, piece)
    number = count.constant
    if size.constant is not None and piece.constant is not None:
        number = ceildiv(size, piece).constant
        rest = ZERO
    if rest.terms or number is None:
        raise NotExpressible(f"the number of pieces of size {piece} in {size}, which depends on the sizes")
    if number > MOST_PIECES:
        raise NotExpressible(f"{number} pieces: at most {MOST_PIECES} are followed")
    return [piece] * (number - 1) + [size - piece * (number - 1)] if number else [ZERO]


def chunk_sizes(size: Dim, chunks: int) -> list[Dim]:
    """The sizes of the pieces that `chunk` makes.

    Raises:
        NotExpressible: how many there are is not the same for all sizes.
    """
    piece, rest = divide(size, Dim.of(chunks))
    if size.constant is not None:
        piece, rest = ceildiv(size, chunks), ZERO
        if not piece.terms:
            return [ZERO] * chunks
    if rest.terms:
        raise DivisionNeeded("chunk", size, Dim.of(chunks))
    return equal_pieces(size, piece)


@meaning("chunk")
def chunk(input: Tensor, chunks: SizeLike, dim: int = 0) -> tuple[Tensor, ...]:
    axis = input.axis(dim)
    return pieces(input, chunk_sizes(input.sizes[axis], as_int(chunks, "the number of chunks")), axis)


@backward("chunk")
def chunk_backward(grads: Sequence[Tensor], input: Tensor, chunks: SizeLike, dim: int = 0) -> Tensor:
    return joined(grads, dim)


def section_sizes(size: Dim, sections: SizeLike | Sequence[SizeLike]) -> list[Dim]:
    """The sizes of the pieces that `split` makes.

    Raises:
        ShapeError: sizes are given, and do not add up to the axis' size.
    """
    if is_size(sections):
        return equal_pieces(size, as_dim(sections))
    sizes = [as_dim(each) for each in sections]
    total = sum(sizes, ZERO)
    if total != size:
        raise ShapeError("split", f"the sizes add up to {total}, not {size}", dims=(total, size))
    return sizes


@meaning("split")
def split(tensor: Tensor, split_size_or_sections: SizeLike | Sequence[SizeLike], dim: int = 0) -> tuple[Tensor, ...]:
    axis = tensor.axis(dim)
    return pieces(tensor, section_sizes(tensor.sizes[axis], split_size_or_sections), axis)


@backward("split")
def split_backward(
    grads: Sequence[Tensor], tensor: Tensor, split_size_or_sections: SizeLike | Sequence[SizeLike], dim: int = 0
) -> Tensor:
    return joined(grads, dim)


@meaning("split_with_sizes")
def split_with_sizes(input: Tensor, split_sizes: Sequence[SizeLike], dim: int = 0) -> tuple[Tensor, ...]:
    return split(input, split_sizes, dim)


@backward("split_with_sizes")
def split_with_sizes_backward(
    grads: Sequence[Tensor], input: Tensor, split_sizes: Sequence[SizeLike], dim: int = 0
) -> Tensor:
    return joined(grads, dim)


@meaning("tensor_split")
def tensor_split(input: Tensor, indices_or_sections: SizeLike | Sequence[SizeLike], dim: int = 0) -> tuple[Tensor, ...]:
    if isinstance(indices_or_sections, Tensor):
        raise NotExpressible("tensor_split at places that a tensor says")
    axis = input.axis(dim)
    size = input.sizes[axis]
    if is_size(indices_or_sections):
        sections = as_int(indices_or_sections, "the number of sections")
        whole, rest = divide(size, Dim.of(sections))
        longer = rest.constant
        if longer is None:
            raise NotExpressible(f"{sections} sections of an axis of size {size}, which need not be a multiple of it")
        return pieces(input, [whole + 1] * longer + [whole] * (sections - longer), axis)
    ends = [as_dim(end) for end in indices_or_sections]
    return pieces(input, [end - start for start, end in zip([ZERO, *ends], [*ends, size])], axis)


@backward("tensor_split")
def tensor_split_backward(
    grads: Sequence[Tensor], input: Tensor, indices_or_sections: SizeLike | Sequence[SizeLike], dim: int = 0
) -> Tensor:
    return joined(grads, dim)


@meaning("hsplit")
def hsplit(input: Tensor, indices_or_sections: SizeLike | Sequence[SizeLike]) -> tuple[Tensor, ...]:
    return tensor_split(input, indices_or_sections, 0 if input.rank == 1 else 1)


@meaning("vsplit")
def vsplit(input: Tensor, indices_or_sections: SizeLike | Sequence[SizeLike]) -> tuple[Tensor, ...]:
    return tensor_split(input, indices_or_sections, 0)


@meaning("dsplit")
def dsplit(input: Tensor, indices_or_sections: SizeLike | Sequence[SizeLike]) -> tuple[Tensor, ...]:
    return tensor_split(input, indices_or_sections, 2)


@meaning("unbind")
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    count = as_int(input.sizes[input.axis(dim)], "unbind of an axis of size")
    if count > MOST_PIECES:
        raise NotExpressible(f"{count} pieces: at most {MOST_PIECES} are followed")
    return tuple(select(input, dim, place) for place in range(count))


@backward("unbind")
def unbind_backward(grads: Sequence[Tensor], input: Tensor, dim: int = 0) -> Tensor:
    from shaped.spec.meanings.joining import stack

    return stack(tuple(grads), input.axis(dim))


@meaning("unfold")
def unfold(input: Tensor, dimension: int, size: SizeLike, step: SizeLike) -> Tensor:
    axis, length, stride = input.axis(dimension), as_dim(size), as_dim(step)
    if not input.rank:
        raise NotExpressible("unfold of a tensor without axes")
    windows = (input.sizes[axis] - length) // stride + 1
    axes = [fresh_axis(each) for each in input.axes]
    axes[axis] = new_axis(windows)
    axes.append(new_axis(length, "k"))
    return taken(input, axes, lambda *at: (*at[:axis], at[axis] * stride + at[-1], *at[axis + 1 : -1]))


@backward("unfold")
def unfold_backward(grad: Tensor, input: Tensor, dimension: int, size: SizeLike, step: SizeLike) -> Tensor:
    axis, length, stride = input.axis(dimension), as_dim(size), as_dim(step)

    def gradient(*at: Dim) -> Expr:
        def term(window: Dim, tap: Dim) -> Expr:
            hit = bracket(index_zero(window * stride + tap - at[axis]))
            return hit * grad.at(*at[:axis], window, *at[axis + 1 :], tap)

        return summed(grad.sizes[axis], lambda window: summed(length, lambda tap: term(window, tap)))

    return build(input.sizes, gradient)
