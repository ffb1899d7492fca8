"""Axes of size 1 stretched, and elements repeated."""

from __future__ import annotations

from collections.abc import Sequence

from shaped.errors import ShapeError
from shaped.spec.dims import ONE, Dim, product
from shaped.spec.expr import Expr, bracket, index_zero
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.places import new_axis, with_axes
from shaped.spec.meanings.reduction import sum_
from shaped.spec.meanings.reshape import reshaped, unflatten
from shaped.spec.meanings.sizes import SizeLike, as_dim, as_sizes, is_size
from shaped.spec.tensor import NotExpressible, Tensor, broadcast, build


def expanded(input: Tensor, sizes: Sequence[Dim]) -> Tensor:
    """Axes of size 1 stretched to `sizes`, new axes in front; -1 keeps a size.

    Raises:
        ShapeError: an axis of another size is not 1.
    """
    added = len(sizes) - input.rank
    if added < 0:
        raise ShapeError("expand", f"{len(sizes)} sizes for {input.rank} axes")
    axes = []
    for number, size in enumerate(sizes):
        own, own_size = (input.axes[number - added], input.sizes[number - added]) if number >= added else ((), ONE)
        if size in (-1, own_size):
            axes.append(own)
        elif own_size == 1:
            axes.append(new_axis(size))
        else:
            raise ShapeError("expand", f"an axis of size {own_size} cannot have size {size}", dims=(own_size, size))
    return with_axes(input, axes)


def summed_to(grad: Tensor, sizes: Sequence[Dim]) -> Tensor:
    """The adjoint of broadcasting from `sizes`: the axes that were added or stretched, summed."""
    added = grad.rank - len(sizes)
    if added:
        grad = grad.sum(tuple(range(added)))
    stretched = tuple(axis for axis, size in enumerate(sizes) if size == 1 and grad.sizes[axis] != 1)
    return grad.sum(stretched, keepdim=True) if stretched else grad


@meaning("expand")
def expand(input: Tensor, *size: SizeLike, implicit: bool = False) -> Tensor:
    return expanded(input, as_sizes(size))


@backward("expand")
def expand_backward(grad: Tensor, input: Tensor, *size: SizeLike, implicit: bool = False) -> Tensor:
    return summed_to(grad, input.sizes)


@meaning("expand_as")
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    return expanded(input, other.sizes)


@backward("expand_as")
def expand_as_backward(grad: Tensor, input: Tensor, other: Tensor) -> tuple[Tensor, None]:
    return summed_to(grad, input.sizes), None


@meaning("broadcast_to")
def broadcast_to(input: Tensor, size: Sequence[SizeLike]) -> Tensor:
    return expanded(input, as_sizes((size,)))


@backward("broadcast_to")
def broadcast_to_backward(grad: Tensor, input: Tensor, size: Sequence[SizeLike]) -> Tensor:
    return summed_to(grad, input.sizes)


@meaning("broadcast_tensors")
def broadcast_tensors(*tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]:
    operands = [tensors[0], *tensors[1:]] if isinstance(tensors[0], Tensor) else list(tensors[0])
    common = broadcast(*(each for each in operands if isinstance(each, Tensor)))
    sizes = [product([index.size for index in axis]) for axis in common]
    return tuple(expanded(each, sizes) for each in operands if isinstance(each, Tensor))


@meaning("repeat")
def repeat(input: Tensor, *repeats: SizeLike) -> Tensor:
    counts = as_sizes(repeats)
    added = len(counts) - input.rank
    if added < 0:
        raise ShapeError("repeat", f"{len(counts)} counts for {input.rank} axes")
    own = [()] * added + list(input.axes)
    return with_axes(input, [(*new_axis(count, "r"), *axis) for count, axis in zip(counts, own)])


@backward("repeat")
def repeat_backward(grad: Tensor, input: Tensor, *repeats: SizeLike) -> Tensor:
    counts = as_sizes(repeats)
    sizes = [ONE] * (len(counts) - input.rank) + list(input.sizes)
    apart = [part for count, size in zip(counts, sizes) for part in (count, size)]
    summed = grad.reshape(apart).sum(tuple(range(0, len(apart), 2)))
    return reshaped(summed, input.sizes)


@meaning("tile")
def tile(input: Tensor, *dims: SizeLike) -> Tensor:
    counts = as_sizes(dims)
    return repeat(input, *[ONE] * (input.rank - len(counts)), *counts)


@backward("tile")
def tile_backward(grad: Tensor, input: Tensor, *dims: SizeLike) -> Tensor:
    counts = as_sizes(dims)
    return repeat_backward(grad, input, *[ONE] * (input.rank - len(counts)), *counts)


@meaning("repeat_interleave", "torch.repeat_interleave")
def repeat_interleave(
    input: Tensor, repeats: SizeLike = None, dim: int | None = None, *, output_size: SizeLike = None
) -> Tensor:
    if not is_size(repeats):
        raise NotExpressible("repeat_interleave with a count for each element")
    if dim is None:
        input, dim = input.flatten(), 0
    axes = list(input.axes)
    number = input.axis(dim)
    axes[number] = (*axes[number], *new_axis(as_dim(repeats), "r"))
    return with_axes(input, axes)


@backward("repeat_interleave", "torch.repeat_interleave")
def repeat_interleave_backward(
    grad: Tensor, input: Tensor, repeats: SizeLike = None, dim: int | None = None, *, output_size: SizeLike = None
) -> Tensor:
    if dim is None:
        return reshaped(grad.reshape(-1, repeats).sum(1), input.sizes)
    axis = input.axis(dim)
    apart = unflatten(grad, axis, (input.sizes[axis], repeats))
    return sum_(apart, axis + 1)


@meaning("one_hot")
def one_hot(tensor: Tensor, num_classes: SizeLike = -1) -> Tensor:
    classes = as_dim(num_classes)
    if classes == -1:
        raise NotExpressible("one_hot without num_classes: the number of classes depends on the values")

    def entry(*places: Dim) -> Expr:
        return bracket(index_zero(tensor.whole_at(*places[:-1]) - places[-1]))

    return build((*tensor.sizes, classes), entry, "int")
