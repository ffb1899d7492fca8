"""Operations on images: channels moved into space and back, and resampling by the nearest pixel."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from shaped.spec.dims import ONE, ZERO, Dim, minimum
from shaped.spec.expr import Expr, index_nonnegative, real, where
from shaped.spec.meaning import MEANINGS, backward, meaning
from shaped.spec.meanings.adaptive_pooling import OutputSize
from shaped.spec.meanings.places import fresh_axis, new_axis, place_of, taken
from shaped.spec.meanings.reshape import flatten_ as flatten
from shaped.spec.meanings.reshape import reshape
from shaped.spec.meanings.sizes import SizeLike, as_dim, is_size, quotient
from shaped.spec.normal_form import divide
from shaped.spec.tensor import NotExpressible, Tensor, with_entry


@meaning("pixel_shuffle")
def pixel_shuffle(input: Tensor, upscale_factor: SizeLike) -> Tensor:
    factor = as_dim(upscale_factor)
    *batch, channels, height, width = input.sizes
    depth = quotient("pixel_shuffle", channels, factor * factor)
    apart = input.reshape(*batch, depth, factor, factor, height, width)
    first = len(batch)
    order = [*range(first + 1), first + 3, first + 1, first + 4, first + 2]
    return reshape(apart.permute(*order), *batch, depth, height * factor, width * factor)


@backward("pixel_shuffle")
def pixel_shuffle_backward(grad: Tensor, input: Tensor, upscale_factor: SizeLike) -> Tensor:
    return pixel_unshuffle(grad, upscale_factor)


@meaning("pixel_unshuffle")
def pixel_unshuffle(input: Tensor, downscale_factor: SizeLike) -> Tensor:
    factor = as_dim(downscale_factor)
    *batch, channels, height, width = input.sizes
    rows, columns = (quotient("pixel_unshuffle", size, factor) for size in (height, width))
    apart = input.reshape(*batch, channels, rows, factor, columns, factor)
    first = len(batch)
    order = [*range(first + 1), first + 2, first + 4, first + 1, first + 3]
    return reshape(apart.permute(*order), *batch, channels * factor * factor, rows, columns)


@backward("pixel_unshuffle")
def pixel_unshuffle_backward(grad: Tensor, input: Tensor, downscale_factor: SizeLike) -> Tensor:
    return pixel_shuffle(grad, downscale_factor)


@meaning("channel_shuffle")
def channel_shuffle(input: Tensor, groups: SizeLike) -> Tensor:
    share = quotient("channel_shuffle", input.sizes[1], as_dim(groups))
    return flatten(input.unflatten(1, (groups, share)).transpose(1, 2), 1, 2)


@backward("channel_shuffle")
def channel_shuffle_backward(grad: Tensor, input: Tensor, groups: SizeLike) -> Tensor:
    share = quotient("channel_shuffle", input.sizes[1], as_dim(groups))
    return flatten(grad.unflatten(1, (share, groups)).transpose(1, 2), 1, 2)


def _output_sizes(input: Tensor, size: OutputSize, scale_factor: float | Sequence[float] | None) -> list[Dim]:
    """The sizes in space that a size or a factor gives."""
    space = input.sizes[2:]
    if scale_factor is None:
        given = [size] * len(space) if is_size(size) else list(size)
        return [as_dim(each) for each in given]
    factors = [scale_factor] * len(space) if isinstance(scale_factor, (int, float)) else list(scale_factor)
    found = []
    for own, factor in zip(space, factors, strict=True):
        exact = Fraction(factor)
        found.append((own * exact.numerator) // exact.denominator)
    return found


@meaning("interpolate")
def interpolate(
    input: Tensor,
    size: OutputSize = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    if antialias:
        raise NotExpressible("interpolate with antialias")
    sizes = _output_sizes(input, size, scale_factor)
    if mode == "area":
        pool = MEANINGS[f"adaptive_avg_pool{input.rank - 2}d"].entry
        return pool(input, sizes)  # type: ignore[no-any-return]  # it gives one
    ratios = [_ratio(own, new) for own, new in zip(input.sizes[2:], sizes)]
    if scale_factor is not None and not recompute_scale_factor:
        factors = [scale_factor] * len(sizes) if isinstance(scale_factor, (int, float)) else list(scale_factor)
        ratios = [(Dim.of(Fraction(f).denominator), Dim.of(Fraction(f).numerator)) for f in factors]
    if mode in ("linear", "bilinear", "trilinear"):
        for axis, (new, ratio) in enumerate(zip(sizes, ratios), start=2):
            input = _linear(input, axis, new, ratio, align_corners=bool(align_corners))
        return input
    if mode not in ("nearest", "nearest-exact"):
        raise NotExpressible(f"interpolate with mode {mode!r}")
    axes = [fresh_axis(axis) for axis in input.axes[:2]] + [new_axis(each) for each in sizes]

    def nearest(place: Dim, ratio: tuple[Dim, Dim]) -> Dim:
        above, below = ratio
        return (place * above) // below if mode == "nearest" else ((2 * place + 1) * above) // (2 * below)

    return taken(input, axes, lambda *at: [*at[:2], *(nearest(place, each) for place, each in zip(at[2:], ratios))])


def _linear(input: Tensor, axis: int, new: Dim, ratio: tuple[Dim, Dim], *, align_corners: bool) -> Tensor:
    """Linear interpolation along one axis: between the pixels on either side of `(i + 1/2)*ratio - 1/2`.

    With `align_corners` the first and last pixels stand on each other: it is `i*(old - 1)/(new - 1)`. Before the first
    and behind the last pixel that pixel is taken.
    """
    old = input.sizes[axis]
    above, below = (old - 1, new - 1) if align_corners else ratio
    if align_corners and new == 1:
        above, below = ZERO, ONE
    axes = [fresh_axis(each) for each in input.axes]
    axes[axis] = new_axis(new)
    places = [place_of(each) for each in axes]
    # The place in the old pixels as a fraction, and the pixel before it.
    numerator = places[axis] * above if align_corners else (2 * places[axis] + 1) * above - below
    denominator = below if align_corners else 2 * below
    pixel = numerator // denominator
    part = real(numerator - pixel * denominator) / real(denominator)

    def at(place: Dim) -> Expr:
        return input.at(*places[:axis], place, *places[axis + 1 :])

    last = old - 1
    before = where(index_nonnegative(numerator), at(minimum(pixel, last)), at(ZERO))
    after = where(index_nonnegative(numerator), at(minimum(pixel + 1, last)), at(ZERO))
    return with_entry(axes, (1 - part) * before + part * after, input.kind)


def _ratio(own: Dim, new: Dim) -> tuple[Dim, Dim]:
    """own / new as a fraction: pixel `i` of the new ones is `floor(i * own / new)` of the old."""
    for above, below in ((own, new), (new, own)):
        quotient, rest = divide(above, below)
        if not rest.terms:
            return (quotient, ONE) if above is own else (ONE, quotient)
    return own, new
