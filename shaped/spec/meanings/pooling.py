"""Pooling: the mean, the greatest entry or the norm of windows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from shaped.errors import ShapeError
from shaped.spec.dims import ZERO, Dim, maximum, minimum, product
from shaped.spec.expr import Expr, bracket, index_zero, multiply, power, real, where
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.places import fresh_axis, new_axis, place_of
from shaped.spec.meanings.sizes import SizeLike, as_dim, is_size, per_axis
from shaped.spec.meanings.windows import GreatestIn, Places, Windows, inside, over, places, sliding
from shaped.spec.tensor import Axis, NotExpressible, Tensor, build, summed, with_entry

PerAxis = SizeLike | Sequence[SizeLike]


def _sliding(
    input: Tensor,
    rank: int,
    kernel_size: PerAxis,
    stride: PerAxis | None,
    padding: PerAxis,
    dilation: PerAxis,
    ceil: bool,
) -> list[Windows]:
    if input.rank not in (rank + 1, rank + 2):
        raise ShapeError("pool", f"{rank + 1} or {rank + 2} axes are needed, not {input.rank}")
    kernel = per_axis(kernel_size, rank)
    step = kernel if stride is None or (not is_size(stride) and not tuple(stride)) else stride
    return sliding(input.sizes[-rank:], kernel, step, padding, dilation, ceil)


def _axes(input: Tensor, space: Sequence[Dim]) -> tuple[list[Axis], Places, Places]:
    """The axes of the result, the place of the batch and channel, and that in space."""
    leading = [fresh_axis(axis) for axis in input.axes[: input.rank - len(space)]]
    axes = [*leading, *(new_axis(size) for size in space)]
    found = tuple(place_of(axis) for axis in axes)
    return axes, found[: len(leading)], found[len(leading) :]


def _no_indices(return_indices: bool) -> None:
    if return_indices:
        raise NotExpressible("the places of the greatest entries")


def _greatest(input: Tensor, windows: Sequence[Windows], batch: Places, at: Places) -> GreatestIn:
    return GreatestIn(
        tuple(each.kernel for each in windows),
        lambda axis, tap: windows[axis].inside(at[axis], tap),
        lambda taps: input.at(*batch, *places(windows, at, taps)),
    )


def _max_pool(input: Tensor, windows: Sequence[Windows]) -> Tensor:
    axes, batch, at = _axes(input, [each.count() for each in windows])
    return with_entry(axes, _greatest(input, windows, batch, at).value())


def _max_pool_backward(grad: Tensor, input: Tensor, windows: Sequence[Windows]) -> Tensor:
    """Each window's gradient at its greatest entry, split where several are greatest: torch takes the first."""
    rank = len(windows)

    def gradient(*own: Dim) -> Expr:
        batch, at = own[:-rank], own[-rank:]

        def from_window(window: Places) -> Expr:
            shared = _greatest(input, windows, batch, window)
            taken = over(summed, shared.sizes, lambda taps: _hits(windows, window, taps, at) * shared.share(taps))
            return grad.at(*batch, *window) * taken

        return over(summed, grad.sizes[-rank:], from_window)

    return build(input.sizes, gradient)


def _hits(windows: Sequence[Windows], window: Places, taps: Places, at: Places) -> Expr:
    """1 where a tap of a window is at a place, else 0."""
    return multiply(*(bracket(index_zero(place - found)) for place, found in zip(at, places(windows, window, taps))))


def _avg_pool(input: Tensor, windows: Sequence[Windows], count_include_pad: bool, divisor: SizeLike) -> Tensor:
    axes, batch, at = _axes(input, [each.count() for each in windows])

    def tap(taps: Places) -> Expr:
        return where(inside(windows, at, taps), input.at(*batch, *places(windows, at, taps)), 0)

    total = over(summed, [each.kernel for each in windows], tap)
    return with_entry(axes, total * _share(windows, at, count_include_pad, divisor))


def _share(windows: Sequence[Windows], at: Places, count_include_pad: bool, divisor: SizeLike) -> Expr:
    """One over what the sum of a window is divided by."""
    if divisor is not None:
        return power(real(as_dim(divisor)), -1)
    return multiply(*(power(real(_length(each, place, count_include_pad)), -1) for each, place in zip(windows, at)))


def _length(windows: Windows, window: Dim, count_include_pad: bool) -> Dim:
    """How many taps of a window count: those on the axis, or on it and its padding."""
    start = windows.place(window, ZERO)
    if count_include_pad:
        if not windows.rounds_up:
            return windows.kernel
        return minimum(windows.kernel, windows.size + windows.after - start)
    if windows.before == 0 and windows.after == 0 and not windows.rounds_up:
        return windows.kernel
    return minimum(start + windows.kernel, windows.size) - maximum(start, ZERO)


def _avg_pool_backward(
    grad: Tensor, input: Tensor, windows: Sequence[Windows], count_include_pad: bool, divisor: SizeLike
) -> Tensor:
    rank = len(windows)

    def gradient(*own: Dim) -> Expr:
        batch, at = own[:-rank], own[-rank:]

        def from_window(window: Places) -> Expr:
            kernel = [each.kernel for each in windows]
            count = over(
                summed, kernel, lambda taps: where(inside(windows, window, taps), _hits(windows, window, taps, at), 0)
            )
            return grad.at(*batch, *window) * _share(windows, window, count_include_pad, divisor) * count

        return over(summed, grad.sizes[-rank:], from_window)

    return build(input.sizes, gradient)


def _declare(rank: int) -> None:
    @meaning(f"max_pool{rank}d", kinks="two greatest entries in a window: the first")
    def max_pool(
        input: Tensor,
        kernel_size: PerAxis,
        stride: PerAxis | None = None,
        padding: PerAxis = 0,
        dilation: PerAxis = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Tensor:
        _no_indices(return_indices)
        return _max_pool(input, _sliding(input, rank, kernel_size, stride, padding, dilation, ceil_mode))

    @backward(f"max_pool{rank}d")
    def max_pool_backward(
        grad: Tensor,
        input: Tensor,
        kernel_size: PerAxis,
        stride: PerAxis | None = None,
        padding: PerAxis = 0,
        dilation: PerAxis = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Tensor:
        windows = _sliding(input, rank, kernel_size, stride, padding, dilation, ceil_mode)
        return _max_pool_backward(grad, input, windows)

    @meaning(f"avg_pool{rank}d")
    def avg_pool(
        input: Tensor,
        kernel_size: PerAxis,
        stride: PerAxis | None = None,
        padding: PerAxis = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: SizeLike = None,
    ) -> Tensor:
        windows = _sliding(input, rank, kernel_size, stride, padding, 1, ceil_mode)
        return _avg_pool(input, windows, count_include_pad, divisor_override)

    @backward(f"avg_pool{rank}d")
    def avg_pool_backward(
        grad: Tensor,
        input: Tensor,
        kernel_size: PerAxis,
        stride: PerAxis | None = None,
        padding: PerAxis = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: SizeLike = None,
    ) -> Tensor:
        windows = _sliding(input, rank, kernel_size, stride, padding, 1, ceil_mode)
        return _avg_pool_backward(grad, input, windows, count_include_pad, divisor_override)

    @meaning(f"lp_pool{rank}d", domain="the sum of powers > 0")
    def lp_pool(
        input: Tensor, norm_type: float, kernel_size: PerAxis, stride: PerAxis | None = None, ceil_mode: bool = False
    ) -> Tensor:
        taps = product(list(per_axis(kernel_size, rank)))
        mean = avg_pool(input**norm_type, kernel_size, stride, 0, ceil_mode)
        return (mean * taps) ** (1 / as_fraction(norm_type))


def as_fraction(value: float) -> Fraction:
    """The exponent of a norm."""
    return Fraction(value)


for _rank in (1, 2, 3):
    _declare(_rank)
