"""Convolutions, their transposes and the backwards of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shaped.spec.dims import Dim
from shaped.spec.expr import Expr, bracket, index_zero, where
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.labels import require_equal, require_rank
from shaped.spec.meanings.places import fresh_axis, new_axis, place_of, with_axes
from shaped.spec.meanings.sizes import SizeLike, as_dim, per_axis, quotient
from shaped.spec.meanings.windows import Places, Windows, inside, over, places, sliding
from shaped.spec.tensor import Axis, Tensor, summed, with_entry

PerAxis = SizeLike | Sequence[SizeLike]
Grads = tuple[Tensor, ...]


@dataclass(frozen=True)
class _Channels:
    """The channels of a convolution in groups: group `g` reads and writes its own.

    Args:
        groups: how many there are.
        read: channels that a group reads.
        written: channels that a group writes.
    """

    groups: Dim
    read: Dim
    written: Dim

    @staticmethod
    def of(groups: SizeLike, read: Dim, written: Dim) -> _Channels:
        """The channels per group, of which the input has `read * groups` and the output `written` in all.

        Raises:
            ShapeError: the groups do not divide the channels.
        """
        count = as_dim(groups)
        return _Channels(count, read, quotient("conv", written, count))

    def reading(self, group: Dim, channel: Dim) -> Dim:
        """The channel that a group reads as its own number `channel`."""
        return group * self.read + channel

    def writing(self, group: Dim, channel: Dim) -> Dim:
        """The channel that a group writes as its own number `channel`."""
        return group * self.written + channel


@dataclass(frozen=True)
class _Convolution:
    """A convolution of batches: `y[n, o, i] = sum(c, k) w[o, c, k] * x[n, c, i*s + k*d - p]`.

    Args:
        channels: the channels that are read and written.
        windows: the windows along each axis of space.
        space: the sizes of the output in space.
    """

    channels: _Channels
    windows: tuple[Windows, ...]
    space: tuple[Dim, ...]

    @property
    def kernel(self) -> tuple[Dim, ...]:
        """How many taps there are along each axis."""
        return tuple(each.kernel for each in self.windows)

    def _axes(self, count: Dim, spatial: Sequence[Dim], batch: Axis) -> tuple[list[Axis], Axis, Axis]:
        """The axes of a tensor with channels in groups of `count`; the group and the channel in it."""
        group, channel = new_axis(self.channels.groups, "g"), new_axis(count, "c")
        return [batch, (*group, *channel), *(new_axis(size) for size in spatial)], group, channel

    def forward(self, input: Tensor, weight: Tensor) -> Tensor:
        """The output for a batch."""
        channels = self.channels
        axes, group, out = self._axes(channels.written, self.space, fresh_axis(input.axes[0]))
        own, at = place_of(group), tuple(place_of(axis) for axis in axes[2:])
        to = channels.writing(own, place_of(out))

        def term(channel: Dim, taps: Places) -> Expr:
            read = input.at(place_of(axes[0]), channels.reading(own, channel), *places(self.windows, at, taps))
            return where(inside(self.windows, at, taps), read, 0) * weight.at(to, channel, *taps)

        return with_entry(axes, self._sum(channels.read, self.kernel, term))

    def transposed(self, output: Tensor, weight: Tensor, sizes: Sequence[Dim]) -> Tensor:
        """The adjoint of `forward` for this weight, of an output: an input of these sizes in space."""
        channels = self.channels
        axes, group, read = self._axes(channels.read, sizes, fresh_axis(output.axes[0]))
        own, at = place_of(group), tuple(place_of(axis) for axis in axes[2:])

        def term(channel: Dim, taps: Places) -> Expr:
            to = channels.writing(own, channel)

            def from_window(window: Places) -> Expr:
                hit = output.at(place_of(axes[0]), to, *window)
                for place, found in zip(at, places(self.windows, window, taps)):
                    hit = hit * bracket(index_zero(place - found))
                return where(inside(self.windows, window, taps), hit, 0)

            return over(summed, self.space, from_window) * weight.at(to, place_of(read), *taps)

        return with_entry(axes, self._sum(channels.written, self.kernel, term))

    def weight_gradient(self, input: Tensor, grad: Tensor, weight: Tensor) -> Tensor:
        """The gradient of the weight, for the upstream gradient of the output."""
        channels = self.channels
        group, out = new_axis(channels.groups, "g"), new_axis(channels.written, "o")
        axes: list[Axis] = [(*group, *out), *(new_axis(size) for size in weight.sizes[1:])]
        own = place_of(group)
        read = channels.reading(own, place_of(axes[1]))
        to, taps = channels.writing(own, place_of(out)), tuple(place_of(axis) for axis in axes[2:])

        def term(item: Dim, window: Places) -> Expr:
            seen = input.at(item, read, *places(self.windows, window, taps))
            return where(inside(self.windows, window, taps), seen, 0) * grad.at(item, to, *window)

        return with_entry(axes, self._sum(input.sizes[0], self.space, term))

    @staticmethod
    def _sum(first: Dim, others: Sequence[Dim], term: Callable[[Dim, Places], Expr]) -> Expr:
        return summed(first, lambda one: over(summed, others, lambda rest: term(one, rest)))


Options = tuple[PerAxis, "PerAxis | str", PerAxis, SizeLike]  # stride, padding, dilation, groups


def _convolution(input: Tensor, weight: Tensor, options: Options) -> _Convolution:
    stride, padding, dilation, groups = options
    channels = _Channels.of(groups, weight.sizes[1], weight.sizes[0])
    require_equal("conv", "input channels", input.sizes[1], weight.sizes[1] * channels.groups)
    windows = tuple(sliding(input.sizes[2:], weight.sizes[2:], stride, padding, dilation))
    return _Convolution(channels, windows, tuple(each.count() for each in windows))


def _convolve(rank: int, input: Tensor, weight: Tensor, bias: Tensor | None, options: Options) -> Tensor:
    require_rank(f"conv{rank}d", weight, rank + 2)
    require_rank(f"conv{rank}d", input, rank + 1, rank + 2)
    batch = input if input.rank == rank + 2 else input.unsqueeze(0)
    return _as_given(input, _with_bias(_convolution(batch, weight, options).forward(batch, weight), bias))


def _as_given(input: Tensor, result: Tensor) -> Tensor:
    """The result without the axis of the batch where the input had none."""
    return with_axes(result, result.axes[1:]) if input.rank < result.rank else result


def _with_bias(result: Tensor, bias: Tensor | None) -> Tensor:
    return result if bias is None else result + bias.reshape(-1, *[1] * (result.rank - 2))


def _convolve_backward(
    rank: int, grad: Tensor, input: Tensor, weight: Tensor, bias: Tensor | None, options: Options
) -> Grads:
    batch, upstream = (each if each.rank == rank + 2 else each.unsqueeze(0) for each in (input, grad))
    convolution = _convolution(batch, weight, options)
    to_input = convolution.transposed(upstream, weight, batch.sizes[2:])
    to_weight = convolution.weight_gradient(batch, upstream, weight)
    return _as_given(input, to_input), to_weight, *_bias_gradient(upstream, bias)


def _bias_gradient(grad: Tensor, bias: Tensor | None) -> Grads:
    return () if bias is None else (grad.sum((0, *range(2, grad.rank))),)


TransposedOptions = tuple[PerAxis, PerAxis, PerAxis, SizeLike, PerAxis]
"""Stride, padding, output padding, groups and dilation, in torch's order."""


def _transposed(input: Tensor, weight: Tensor, options: TransposedOptions) -> tuple[_Convolution, tuple[Dim, ...]]:
    """The convolution whose adjoint it is, and the sizes of its input in space."""
    stride, padding, output_padding, groups, dilation = options
    rank = input.rank - 2
    strides, added, dilations = per_axis(stride, rank), per_axis(output_padding, rank), per_axis(dilation, rank)
    sizes = tuple(
        (size - 1) * step - 2 * before + stretch * (taps - 1) + more + 1
        for size, step, before, stretch, taps, more in zip(
            input.sizes[2:], strides, per_axis(padding, rank), dilations, weight.sizes[2:], added
        )
    )
    channels = _Channels.of(groups, weight.sizes[1], weight.sizes[0])
    require_equal("conv_transpose", "input channels", input.sizes[1], weight.sizes[0])
    windows = tuple(sliding(sizes, weight.sizes[2:], stride, padding, dilation))
    return _Convolution(channels, windows, input.sizes[2:]), sizes


def _transpose(rank: int, input: Tensor, weight: Tensor, bias: Tensor | None, options: TransposedOptions) -> Tensor:
    require_rank(f"conv_transpose{rank}d", weight, rank + 2)
    require_rank(f"conv_transpose{rank}d", input, rank + 1, rank + 2)
    batch = input if input.rank == rank + 2 else input.unsqueeze(0)
    convolution, sizes = _transposed(batch, weight, options)
    return _as_given(input, _with_bias(convolution.transposed(batch, weight, sizes), bias))


def _transpose_backward(
    rank: int, grad: Tensor, input: Tensor, weight: Tensor, bias: Tensor | None, options: TransposedOptions
) -> Grads:
    batch, upstream = (each if each.rank == rank + 2 else each.unsqueeze(0) for each in (input, grad))
    convolution, _ = _transposed(batch, weight, options)
    to_input = convolution.forward(upstream, weight)
    to_weight = convolution.weight_gradient(upstream, batch, weight)
    return _as_given(input, to_input), to_weight, *_bias_gradient(upstream, bias)


def _declare(rank: int) -> None:
    @meaning(f"conv{rank}d")
    def convolve(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: PerAxis = 1,
        padding: PerAxis | str = 0,
        dilation: PerAxis = 1,
        groups: SizeLike = 1,
    ) -> Tensor:
        return _convolve(rank, input, weight, bias, (stride, padding, dilation, groups))

    @backward(f"conv{rank}d")
    def convolve_backward(
        grad: Tensor,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: PerAxis = 1,
        padding: PerAxis | str = 0,
        dilation: PerAxis = 1,
        groups: SizeLike = 1,
    ) -> Grads:
        return _convolve_backward(rank, grad, input, weight, bias, (stride, padding, dilation, groups))

    @meaning(f"conv_transpose{rank}d")
    def transpose(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: PerAxis = 1,
        padding: PerAxis = 0,
        output_padding: PerAxis = 0,
        groups: SizeLike = 1,
        dilation: PerAxis = 1,
    ) -> Tensor:
        return _transpose(rank, input, weight, bias, (stride, padding, output_padding, groups, dilation))

    @backward(f"conv_transpose{rank}d")
    def transpose_backward(
        grad: Tensor,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: PerAxis = 1,
        padding: PerAxis = 0,
        output_padding: PerAxis = 0,
        groups: SizeLike = 1,
        dilation: PerAxis = 1,
    ) -> Grads:
        return _transpose_backward(rank, grad, input, weight, bias, (stride, padding, output_padding, groups, dilation))


for _rank in (1, 2, 3):
    _declare(_rank)
