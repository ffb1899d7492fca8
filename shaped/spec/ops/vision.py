"""Images: resizing, sampling at a grid, and exchange of channels with space, functions and modules."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.axis_layout import check_channels
from shaped.spec.dims import Dim
from shaped.spec.dtype_demands import Allowed, alike, takes
from shaped.spec.dtypes import FLOATS
from shaped.spec.op import Module, module, op
from shaped.spec.ops.arguments import listed, quotient
from shaped.spec.ops.options import is_less, never_divides, number, option_size, require_equal
from shaped.spec.ops.spatial import split_spatial
from shaped.spec.shape import Axis, Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context

# The number of spatial axes that a mode is for; the others take one to three.
MODES = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3, "lanczos": 2}


def scaled_size(context: Context, size: Dim, factor: Value) -> Dim:
    """floor(size * factor), where float arithmetic gives exactly that; else a size that was not followed.

    >>> from shaped.spec.context import Context
    >>> print(scaled_size(Context(), Dim.name("h"), 2.0), scaled_size(Context(), Dim.name("h"), 0.5))
    2*h h//2
    """
    if isinstance(factor, Dim):
        return size * factor
    value = number(factor)
    if value is None or not math.isfinite(value):
        return context.fresh()
    if size.constant is not None:
        return Dim.of(math.floor(float(size.constant * value)))
    top, bottom = value.as_integer_ratio()
    # Products with few binary digits are exact for all sizes in use; 0.1 is not such a factor.
    return size * top // bottom if bottom <= 1024 and abs(top) < 2**20 else context.fresh()


def _spatial_count(operation: str, input: TensorType, mode: Value, given: tuple[Value, ...] | None) -> int | None:
    """The number of spatial axes; None if it was not followed.

    Raises:
        ShapeError: there are other numbers of them than the mode or the given sizes have.
    """
    rank, least = input.shape.rank, input.shape.least_rank
    if least > 5 or (rank is not None and rank < 3):
        raise ShapeError(operation, f"{least} axes, 3 to 5 expected", str(input))
    wanted = MODES.get(mode) if isinstance(mode, str) else None
    if wanted is not None and rank is not None and rank != wanted + 2:
        raise ShapeError(operation, f"{rank} axes, {wanted + 2} expected for mode {mode!r}", str(input))
    count = rank - 2 if rank is not None else wanted
    if given is not None:
        if count is not None and len(given) != count:
            values = f"{len(given)} {'size' if len(given) == 1 else 'sizes'}"
            raise ShapeError(operation, f"{values} given for {count} spatial axes", str(input))
        return len(given)
    return count


@op(
    "interpolate",
    "torch.nn.functional.interpolate",
    formula="y[n,c,i] = x[n,c] resampled at (i + 1/2)*t/u - 1/2",
    dtypes=takes(input=Allowed(FLOATS | {"uint8"}, "a float dtype or uint8", ".float()?")),
)
def interpolate(
    context: Context,
    input: TensorType,
    size: Value = None,
    scale_factor: Value = None,
    mode: Value = "nearest",
    align_corners: Value = None,
    recompute_scale_factor: Value = None,
    antialias: Value = False,
) -> TensorType:
    """Resize the spatial axes (from axis 2) to sizes, or by factors.

    Raises:
        ShapeError: a rank, number of sizes or size that torch refuses, both of sizes and factors, or neither.
    """
    operation = "interpolate"
    if size is None and scale_factor is None:
        raise ShapeError(operation, "size or scale_factor expected", str(input))
    if size not in (None, UNKNOWN) and scale_factor not in (None, UNKNOWN):
        raise ShapeError(operation, "one of size and scale_factor expected, both given", str(input))
    given = listed(size) if size is not None else listed(scale_factor)
    count = _spatial_count(operation, input, mode, given)
    if count is None:
        return input.with_shape(Shape.of(context.fresh_pack()))
    parts = split_spatial(context, operation, input, count, batched=True)
    if UNKNOWN in (size, scale_factor):
        sizes = tuple(context.fresh() for _ in range(count))
    elif size is not None:
        sizes = tuple(option_size(context, each) for each in given or (size,) * count)
    else:
        factors = given or (scale_factor,) * count
        sizes = tuple(scaled_size(context, old, each) for old, each in zip(parts.sizes, factors, strict=True))
    for new in sizes:
        if mode != "area" and is_less(context, new, 1):
            raise ShapeError(operation, f"an output size is {new}", str(input), dims=(new,))
    check_channels(context, operation, input, count)
    channels = context.fresh() if parts.channels is None else parts.channels
    return input.with_shape(parts.shape(channels, sizes))


@op("upsample", "torch.nn.functional.upsample", formula="as interpolate")
def upsample(
    context: Context,
    input: TensorType,
    size: Value = None,
    scale_factor: Value = None,
    mode: Value = "nearest",
    align_corners: Value = None,
) -> TensorType:
    """An older name of `interpolate`."""
    return interpolate(context, input, size, scale_factor, mode, align_corners)


@op("upsample_nearest", "torch.nn.functional.upsample_nearest", formula="as interpolate")
def upsample_nearest(context: Context, input: TensorType, size: Value = None, scale_factor: Value = None) -> TensorType:
    """`interpolate` to the nearest element."""
    return interpolate(context, input, size, scale_factor)


@op("upsample_bilinear", "torch.nn.functional.upsample_bilinear", formula="as interpolate")
def upsample_bilinear(
    context: Context, input: TensorType, size: Value = None, scale_factor: Value = None
) -> TensorType:
    """`interpolate` with corners aligned."""
    return interpolate(context, input, size, scale_factor, "bilinear", True)


@op(
    "grid_sample",
    "torch.nn.functional.grid_sample",
    formula="y[n,c,i,j] = x[n,c] at grid[n,i,j]",
    dtypes=alike("input", "grid"),
)
def grid_sample(
    context: Context,
    input: TensorType,
    grid: TensorType,
    mode: Value = "bilinear",
    padding_mode: Value = "zeros",
    align_corners: Value = None,
) -> TensorType:
    """Sample (n, c, *sizes) at the places of a grid (n, *sizes', len(sizes)): (n, c, *sizes').

    Raises:
        ShapeError: other ranks, batch sizes, or coordinates than axes.
    """
    operation, operands = "grid_sample", f"input {input}, grid {grid}"
    for tensor in (input, grid):
        if tensor.shape.least_rank > 5 or (tensor.shape.rank is not None and tensor.shape.rank < 4):
            raise ShapeError(operation, f"{tensor.shape.least_rank} axes, 4 or 5 expected", operands)
    rank, own = input.shape.rank, grid.shape.rank
    if rank is not None and own is not None and rank != own:
        raise ShapeError(operation, f"{rank} and {own} axes, equal ranks expected", operands)
    known = rank if rank is not None else own
    if known is None:
        return input.with_shape(Shape.of(context.fresh_pack()))
    at = [grid.shape.at(axis) if own is not None else context.fresh() for axis in range(known)]
    sizes = [context.fresh() if size is None else size for size in at]
    check_channels(context, operation, input, known - 2)
    coordinates = grid.shape.at(-1)
    if coordinates is not None:
        _require_coordinates(context, input, grid, coordinates, known - 2)
    batch, channels = sizes[0], context.fresh()
    if rank is not None:
        first, channels = input.shape.dims[:2]
        grid_batch = batch
        batch = require_equal(
            context,
            (input, grid),
            first,
            grid_batch,
            lambda: ShapeError(
                operation, f"batch sizes {first} and {grid_batch} differ", operands, dims=(first, grid_batch)
            ),
        )
    return input.with_shape(Shape.of(batch, channels, *sizes[1:-1]))


def _require_coordinates(context: Context, input: TensorType, grid: TensorType, found: Dim, count: int) -> None:
    def fault() -> Fault:
        reason = f"the last axis of the grid is {found}, {count} coordinates expected"
        return ShapeError("grid_sample", reason, f"input {input}, grid {grid}", dims=(found,))

    require_equal(context, (input, grid), found, count, fault)


@op(
    "affine_grid",
    "torch.nn.functional.affine_grid",
    "torch.affine_grid_generator",
    formula="g[n,i,j] = theta[n] (x_j, y_i, 1)",
)
def affine_grid(context: Context, theta: TensorType, size: Value, align_corners: Value = None) -> TensorType:
    """The grid of affine maps (n, k, k+1) for an output of `size` (n, c, *sizes): (n, *sizes, k).

    Raises:
        ShapeError: other numbers of sizes, or maps that do not fit them.
    """
    operation = "affine_grid"
    given = listed(size)
    if given is None:
        return theta.with_shape(Shape.of(context.fresh_pack()))
    if len(given) not in (4, 5):
        raise ShapeError(operation, f"size has {len(given)} values, 4 or 5 expected", f"theta {theta}")
    batch, _, *spatial = (option_size(context, each) for each in given)
    count = len(spatial)
    operands = f"theta {theta}, size {Shape.of(*(option_size(context, each) for each in given))}"
    if theta.shape.rank is not None:
        if theta.shape.rank != 3:
            raise ShapeError(operation, f"theta has {theta.shape.rank} axes, 3 expected", operands)
        for found, wanted in zip(theta.shape.dims, (batch, Dim.of(count), Dim.of(count + 1)), strict=True):

            def fault(found: Dim = found, wanted: Dim = wanted) -> Fault:
                expected = Shape.of(batch, count, count + 1)
                reason = f"theta of shape {expected} expected: sizes {found} and {wanted} differ"
                return ShapeError(operation, reason, operands, dims=(found, wanted))

            require_equal(context, (theta,), found, wanted, fault)
    return theta.with_shape(Shape.of(batch, *spatial, count))


def _blocks(
    context: Context, operation: str, input: TensorType, factor: Value
) -> tuple[tuple[Axis, ...], tuple[Dim, ...], Dim]:
    """The axes before the channels, the channels, height and width, and the factor."""
    shape, block = input.shape, option_size(context, factor, low=1)
    if shape.rank is not None and shape.rank < 3:
        raise ShapeError(operation, f"{shape.rank} axes, at least 3 expected", str(input))
    if is_less(context, block, 1):
        raise ShapeError(operation, f"the factor is {block}, a positive int expected", str(input), dims=(block,))
    if shape.rank is None and len(shape.tail) < 3:
        hidden = (context.fresh() for _ in range(3 - len(shape.tail)))
        shape = Shape.of(context.fresh_pack(), *hidden, *shape.tail)
    known = shape.dims if shape.rank is not None else shape.tail
    return shape.axes[:-3], known[-3:], block


@op(
    "pixel_shuffle",
    "torch.nn.functional.pixel_shuffle",
    "torch.pixel_shuffle",
    formula="y[c, h*r+i, w*r+j] = x[c*r*r+i*r+j, h, w]",
)
def pixel_shuffle(context: Context, input: TensorType, upscale_factor: Value) -> TensorType:
    """(..., c*r*r, h, w) -> (..., c, h*r, w*r).

    Raises:
        ShapeError: fewer than three axes, or channels that r*r does not divide.
    """
    leading, (channels, height, width), factor = _blocks(context, "pixel_shuffle", input, upscale_factor)
    square = factor * factor
    if never_divides(context, channels, square):
        reason = f"{channels} channels do not divide by {square}"
        raise ShapeError("pixel_shuffle", reason, str(input), dims=(channels,))
    sizes = (quotient(context, channels, square), height * factor, width * factor)
    return input.with_shape(Shape((*leading, *sizes)))


@op(
    "pixel_unshuffle", "torch.nn.functional.pixel_unshuffle", "torch.pixel_unshuffle", formula="pixel_shuffle's inverse"
)
def pixel_unshuffle(context: Context, input: TensorType, downscale_factor: Value) -> TensorType:
    """(..., c, h*r, w*r) -> (..., c*r*r, h, w).

    Raises:
        ShapeError: fewer than three axes, or a height or width that r does not divide.
    """
    leading, (channels, height, width), factor = _blocks(context, "pixel_unshuffle", input, downscale_factor)
    for name, size in (("height", height), ("width", width)):
        if never_divides(context, size, factor):
            reason = f"{name} {size} does not divide by {factor}"
            raise ShapeError("pixel_unshuffle", reason, str(input), dims=(size,))
    sizes = (channels * factor * factor, quotient(context, height, factor), quotient(context, width, factor))
    return input.with_shape(Shape((*leading, *sizes)))


@op(
    "channel_shuffle",
    "torch.nn.functional.channel_shuffle",
    "torch.channel_shuffle",
    "torch.native_channel_shuffle",
    "torch.nn.functional.native_channel_shuffle",
    formula="y[n, i*g+j] = x[n, j*(c/g)+i]",
)
def channel_shuffle(context: Context, input: TensorType, groups: Value) -> TensorType:
    """The channels (axis 1), those of several groups interleaved.

    Raises:
        ShapeError: fewer than three axes, or channels that the groups do not divide.
    """
    shape, count = input.shape, option_size(context, groups, low=1)
    if shape.rank is not None and shape.rank < 3:
        raise ShapeError("channel_shuffle", f"{shape.rank} axes, at least 3 expected", str(input))
    channels = shape.at(1)
    if channels is not None and never_divides(context, channels, count):
        reason = f"{channels} channels do not divide into {count} groups"
        raise ShapeError("channel_shuffle", reason, str(input), dims=(channels, count))
    return input


@module("torch.nn.Upsample")
class Upsample(Module):
    """A resize of the spatial axes."""

    def __init__(
        self,
        context: Context,
        size: Value = None,
        scale_factor: Value = None,
        mode: Value = "nearest",
        align_corners: Value = None,
        recompute_scale_factor: Value = None,
    ) -> None:
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def forward(self, context: Context, input: TensorType) -> TensorType:
        """(n, c, *sizes) -> (n, c, *sizes')."""
        return interpolate(context, input, self.size, self.scale_factor, self.mode)


@module("torch.nn.UpsamplingNearest2d")
class UpsamplingNearest2d(Upsample):
    """A resize of an image to the nearest element."""

    def __init__(self, context: Context, size: Value = None, scale_factor: Value = None) -> None:
        super().__init__(context, size, scale_factor)


@module("torch.nn.UpsamplingBilinear2d")
class UpsamplingBilinear2d(Upsample):
    """A bilinear resize of an image."""

    def __init__(self, context: Context, size: Value = None, scale_factor: Value = None) -> None:
        super().__init__(context, size, scale_factor, "bilinear", True)


@module("torch.nn.PixelShuffle")
class PixelShuffle(Module):
    """Channels turned into space."""

    def __init__(self, context: Context, upscale_factor: Value) -> None:
        self.upscale_factor = option_size(context, upscale_factor, low=1)

    def forward(self, context: Context, input: TensorType) -> TensorType:
        """(..., c*r*r, h, w) -> (..., c, h*r, w*r)."""
        return pixel_shuffle(context, input, self.upscale_factor)


@module("torch.nn.PixelUnshuffle")
class PixelUnshuffle(Module):
    """Space turned into channels."""

    def __init__(self, context: Context, downscale_factor: Value) -> None:
        self.downscale_factor = option_size(context, downscale_factor, low=1)

    def forward(self, context: Context, input: TensorType) -> TensorType:
        """(..., c, h*r, w*r) -> (..., c*r*r, h, w)."""
        return pixel_unshuffle(context, input, self.downscale_factor)


@module("torch.nn.ChannelShuffle")
class ChannelShuffle(Module):
    """The channels of several groups interleaved."""

    def __init__(self, context: Context, groups: Value) -> None:
        self.groups = option_size(context, groups, low=1)

    def forward(self, context: Context, input: TensorType) -> TensorType:
        """(n, c, *sizes) -> the same."""
        return channel_shuffle(context, input, self.groups)
