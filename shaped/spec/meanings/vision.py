"""Operations on images: channels moved into space and back, and resampling by the nearest pixel."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from shaped.errors import ShapeError
from shaped.spec.dims import Dim
from shaped.spec.meaning import MEANINGS, backward, meaning
from shaped.spec.meanings.adaptive_pooling import OutputSize
from shaped.spec.meanings.places import fresh_axis, new_axis, taken
from shaped.spec.meanings.reshape import flatten_ as flatten
from shaped.spec.meanings.reshape import reshape
from shaped.spec.meanings.sizes import SizeLike, as_dim, is_size
from shaped.spec.normal_form import divide
from shaped.spec.tensor import NotExpressible, Tensor


def _exact(size: Dim, by: Dim, what: str) -> Dim:
    """size / by.

    Raises:
        ShapeError: it leaves a rest.
        NotExpressible: it may leave one.
    """
    quotient, rest = divide(size, by)
    if rest.terms:
        if rest.constant is not None and by.constant is not None:
            raise ShapeError(what, f"{by} does not divide {size}", dims=(size, by))
        raise NotExpressible(f"{what} of an axis of size {size} by {by}, which need not divide it")
    return quotient


@meaning("pixel_shuffle")
def pixel_shuffle(input: Tensor, upscale_factor: SizeLike) -> Tensor:
    factor = as_dim(upscale_factor)
    *batch, channels, height, width = input.sizes
    depth = _exact(channels, factor * factor, "pixel_shuffle")
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
    rows, columns = (_exact(size, factor, "pixel_unshuffle") for size in (height, width))
    apart = input.reshape(*batch, channels, rows, factor, columns, factor)
    first = len(batch)
    order = [*range(first + 1), first + 2, first + 4, first + 1, first + 3]
    return reshape(apart.permute(*order), *batch, channels * factor * factor, rows, columns)


@backward("pixel_unshuffle")
def pixel_unshuffle_backward(grad: Tensor, input: Tensor, downscale_factor: SizeLike) -> Tensor:
    return pixel_shuffle(grad, downscale_factor)


@meaning("channel_shuffle")
def channel_shuffle(input: Tensor, groups: SizeLike) -> Tensor:
    share = _exact(input.sizes[1], as_dim(groups), "channel_shuffle")
    return flatten(input.unflatten(1, (groups, share)).transpose(1, 2), 1, 2)


@backward("channel_shuffle")
def channel_shuffle_backward(grad: Tensor, input: Tensor, groups: SizeLike) -> Tensor:
    share = _exact(input.sizes[1], as_dim(groups), "channel_shuffle")
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
    if mode != "nearest":
        if mode == "area":
            pool = MEANINGS[f"adaptive_avg_pool{input.rank - 2}d"].entry
            return pool(input, _output_sizes(input, size, scale_factor))  # type: ignore[no-any-return]  # it gives one
        raise NotExpressible(f"interpolate with mode {mode!r}")
    sizes = _output_sizes(input, size, scale_factor)
    axes = [fresh_axis(axis) for axis in input.axes[:2]] + [new_axis(each) for each in sizes]
    ratios = [_ratio(own, new) for own, new in zip(input.sizes[2:], sizes)]
    if scale_factor is not None and not recompute_scale_factor:
        factors = [scale_factor] * len(sizes) if isinstance(scale_factor, (int, float)) else list(scale_factor)
        ratios = [(Dim.of(Fraction(f).denominator), Dim.of(Fraction(f).numerator)) for f in factors]

    def places(*at: Dim) -> list[Dim]:
        space = [(place * above) // below for place, (above, below) in zip(at[2:], ratios)]
        return [*at[:2], *space]

    return taken(input, axes, places)


def _ratio(own: Dim, new: Dim) -> tuple[Dim, Dim]:
    """own / new as a fraction: pixel `i` of the new ones is `floor(i * own / new)` of the old."""
    for above, below in ((own, new), (new, own)):
        quotient, rest = divide(above, below)
        if not rest.terms:
            return (quotient, Dim.of(1)) if above is own else (Dim.of(1), quotient)
    return own, new
