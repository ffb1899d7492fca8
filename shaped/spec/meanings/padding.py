"""Padding, and the patches of images as columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shaped.errors import ShapeError
from shaped.spec.dims import ZERO, Dim, product
from shaped.spec.expr import TRUE, Condition, Expr, both, bracket, index_nonnegative, index_zero, where
from shaped.spec.index import is_nonnegative
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.creation import filled
from shaped.spec.meanings.movement import squeeze
from shaped.spec.meanings.places import at_least, chosen, entry, fresh_axis, in_range, new_axis, place_of
from shaped.spec.meanings.reshape import reshape
from shaped.spec.meanings.sizes import SizeLike, as_dim, per_axis
from shaped.spec.tensor import Body, NotExpressible, Tensor, TensorLike, build, summed, with_entry

Padding = list[tuple[Dim, Dim]]


def _pairs(input: Tensor, pad: Sequence[SizeLike]) -> Padding:
    """How much is added before and after, for each axis."""
    dims = [as_dim(each) for each in pad]
    if len(dims) % 2 or len(dims) > 2 * input.rank:
        raise ShapeError("pad", f"{len(dims)} numbers of a padding for {input.rank} axes")
    pairs = [(dims[number], dims[number + 1]) for number in range(0, len(dims), 2)]
    return [(ZERO, ZERO)] * (input.rank - len(pairs)) + pairs[::-1]


@meaning("pad")
def pad(input: Tensor, pad: Sequence[SizeLike], mode: str = "constant", value: TensorLike | None = None) -> Tensor:
    for axis, (before, after) in enumerate(_pairs(input, pad)):
        if before != 0 or after != 0:
            if mode == "constant":
                input = _with_constant(input, axis, before, after, 0 if value is None else value)
            else:
                input = _continued(input, axis, before, after, _continuation(mode))
    return input


def _with_constant(input: Tensor, axis: int, before: Dim, after: Dim, value: TensorLike) -> Tensor:
    axes = [fresh_axis(each) for each in input.axes]
    axes[axis] = new_axis(input.sizes[axis] + before + after)
    places = [place_of(each) for each in axes]
    places[axis] = places[axis] - before
    inside = in_range(places[axis], input.sizes[axis])
    outside = entry(filled((), value, None, input.kind), ())
    return with_entry(axes, chosen(inside, entry(input, places), outside), input.kind)


# Where a place beyond the start (below 0) and beyond the end of an axis of a size is read instead.
Continuation = tuple[Callable[[Dim, Dim], Dim], Callable[[Dim, Dim], Dim]]


def _continuation(mode: str) -> Continuation:
    """How a mode goes on beyond both ends."""
    if mode == "reflect":
        return (lambda place, size: -place), (lambda place, size: 2 * size - 2 - place)
    if mode == "replicate":
        return (lambda place, size: ZERO), (lambda place, size: size - 1)
    if mode == "circular":
        return (lambda place, size: place + size), (lambda place, size: place - size)
    raise NotExpressible(f"pad with mode {mode!r}")


def _continued(input: Tensor, axis: int, before: Dim, after: Dim, continuation: Continuation) -> Tensor:
    size = input.sizes[axis]
    if not (is_nonnegative(before) and is_nonnegative(after)):
        raise NotExpressible("negative padding with another mode than 'constant'")
    axes = [fresh_axis(each) for each in input.axes]
    axes[axis] = new_axis(size + before + after)
    places = [place_of(each) for each in axes]
    place = places[axis] - before

    def at(own: Dim) -> Body:
        return entry(input, (*places[:axis], own, *places[axis + 1 :]))

    under, over = continuation
    body = at(place)
    if after != 0:
        body = chosen(at_least(size - 1, place), body, at(over(place, size)))
    if before != 0:
        body = chosen(index_nonnegative(place), body, at(under(place, size)))
    return with_entry(axes, body, input.kind)


@backward("pad")
def pad_backward(
    grad: Tensor, input: Tensor, pad: Sequence[SizeLike], mode: str = "constant", value: TensorLike | None = None
) -> Tensor:
    """The upstream gradient of the inside, and for other modes than `constant` that of what is read there."""
    for axis, (before, after) in reversed(list(enumerate(_pairs(input, pad)))):
        if before != 0 or after != 0:
            grad = _axis_backward(grad, axis, before, after, input.sizes[axis], mode)
    return grad


def _axis_backward(grad: Tensor, axis: int, before: Dim, after: Dim, size: Dim, mode: str) -> Tensor:
    sizes = list(grad.sizes)
    sizes[axis] = size

    def gradient(*places: Dim) -> Expr:
        def at(place: Dim) -> Expr:
            return grad.at(*places[:axis], place, *places[axis + 1 :])

        own = places[axis]
        total = where(in_range(own + before, grad.sizes[axis]), at(own + before), 0)
        if mode == "constant":
            return total
        under, over = _continuation(mode)
        # The places before the start and beyond the end that are read at `own`.
        first = summed(before, lambda k: bracket(index_zero(under(k - before, size) - own)) * at(k))
        last = summed(after, lambda k: bracket(index_zero(over(size + k, size) - own)) * at(before + size + k))
        return total + (first if before != 0 else 0) + (last if after != 0 else 0)

    return build(sizes, gradient)


def _windows(size: Dim, kernel: Dim, dilation: Dim, padding: Dim, stride: Dim) -> Dim:
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


@meaning("functional.unfold")
def unfold(
    input: Tensor,
    kernel_size: SizeLike | Sequence[SizeLike],
    dilation: SizeLike | Sequence[SizeLike] = 1,
    padding: SizeLike | Sequence[SizeLike] = 0,
    stride: SizeLike | Sequence[SizeLike] = 1,
) -> Tensor:
    if input.rank == 3:
        return squeeze(unfold(input.unsqueeze(0), kernel_size, dilation, padding, stride), 0)
    kernel, dilations, paddings, strides = (per_axis(each, 2) for each in (kernel_size, dilation, padding, stride))
    windows = [_windows(*each) for each in zip(input.sizes[2:], kernel, dilations, paddings, strides)]
    batch, channels = fresh_axis(input.axes[0]), fresh_axis(input.axes[1])
    taps, steps = [new_axis(size, "k") for size in kernel], [new_axis(size, "l") for size in windows]
    places: list[Dim] = []
    inside: Condition = TRUE
    for tap, step, stretch, before, stride_, size in zip(taps, steps, dilations, paddings, strides, input.sizes[2:]):
        place = place_of(step) * stride_ + place_of(tap) * stretch - before
        places.append(place)
        if before != 0:
            inside = both(inside, in_range(place, size))
    body = where(inside, input.at(place_of(batch), place_of(channels), *places), 0)
    columns = tuple(index for axis in steps for index in axis)
    return with_entry([batch, (*channels, *(index for axis in taps for index in axis)), columns], body, input.kind)


@backward("functional.unfold")
def unfold_backward(
    grad: Tensor,
    input: Tensor,
    kernel_size: SizeLike | Sequence[SizeLike],
    dilation: SizeLike | Sequence[SizeLike] = 1,
    padding: SizeLike | Sequence[SizeLike] = 0,
    stride: SizeLike | Sequence[SizeLike] = 1,
) -> Tensor:
    return fold(grad, input.sizes[-2:], kernel_size, dilation, padding, stride)


@meaning("functional.fold")
def fold(
    input: Tensor,
    output_size: SizeLike | Sequence[SizeLike],
    kernel_size: SizeLike | Sequence[SizeLike],
    dilation: SizeLike | Sequence[SizeLike] = 1,
    padding: SizeLike | Sequence[SizeLike] = 0,
    stride: SizeLike | Sequence[SizeLike] = 1,
) -> Tensor:
    if input.rank == 2:
        image = fold(input.unsqueeze(0), output_size, kernel_size, dilation, padding, stride)
        return squeeze(image, 0)
    output, kernel, dilations, paddings, strides = (
        per_axis(each, 2) for each in (output_size, kernel_size, dilation, padding, stride)
    )
    windows = [_windows(*each) for each in zip(output, kernel, dilations, paddings, strides)]
    patches = reshape(input, input.sizes[0], -1, *kernel, *windows)
    if product(windows) != input.sizes[2]:
        sizes = product(windows), input.sizes[2]
        raise ShapeError("fold", f"{sizes[0]} patches fit, {sizes[1]} are given", dims=sizes)

    def folded(batch: Dim, channel: Dim, *places: Dim) -> Expr:
        def term(taps: tuple[Dim, ...], steps: tuple[Dim, ...]) -> Expr:
            if len(taps) == len(places):
                return patches.at(batch, channel, *taps, *steps)
            axis = len(taps)
            return summed(
                kernel[axis],
                lambda k: summed(
                    windows[axis],
                    lambda i: (
                        bracket(index_zero(i * strides[axis] + k * dilations[axis] - paddings[axis] - places[axis]))
                        * term((*taps, k), (*steps, i))
                    ),
                ),
            )

        return term((), ())

    return build((input.sizes[0], patches.sizes[1], *output), folded)


@backward("functional.fold")
def fold_backward(
    grad: Tensor,
    input: Tensor,
    output_size: SizeLike | Sequence[SizeLike],
    kernel_size: SizeLike | Sequence[SizeLike],
    dilation: SizeLike | Sequence[SizeLike] = 1,
    padding: SizeLike | Sequence[SizeLike] = 0,
    stride: SizeLike | Sequence[SizeLike] = 1,
) -> Tensor:
    return unfold(grad, kernel_size, dilation, padding, stride)
