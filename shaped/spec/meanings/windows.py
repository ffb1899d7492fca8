"""Windows that slide over the last axes of a tensor: where they lie, what convolution and pooling share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shaped.errors import ShapeError
from shaped.spec.bounds import is_positive
from shaped.spec.dims import ZERO, Dim, ceildiv
from shaped.spec.expr import INFINITY, TRUE, Condition, Expr, both, bracket, real, where, zero
from shaped.spec.index import is_nonnegative
from shaped.spec.meanings.places import in_range
from shaped.spec.meanings.sizes import SizeLike, per_axis
from shaped.spec.tensor import NotExpressible, greatest, summed

Places = tuple[Dim, ...]


@dataclass(frozen=True)
class Windows:
    """Windows along one axis: tap `k` of window `i` is at `i*stride + k*dilation - before`.

    Args:
        size: the size of the axis.
        kernel: how many taps a window has.
        stride: from one window to the next.
        dilation: from one tap to the next.
        before: padding in front.
        after: padding behind.
        rounds_up: a last window may reach beyond the padding (torch's `ceil_mode`).
    """

    size: Dim
    kernel: Dim
    stride: Dim
    dilation: Dim
    before: Dim
    after: Dim
    rounds_up: bool = False

    def count(self) -> Dim:
        """How many windows there are.

        Raises:
            ShapeError: there are none.
            NotExpressible: it rounds up and the last window may start in the padding, for some sizes.
        """
        free = self.size + self.before + self.after - self.dilation * (self.kernel - 1) - 1
        if is_nonnegative(-free - 1):
            raise ShapeError("windows", f"a window of {self.kernel} taps is longer than the axis of size {self.size}")
        if not self.rounds_up:
            return free // self.stride + 1
        count = ceildiv(free, self.stride) + 1
        # The last window has to start inside the axis or the padding in front of it.
        excess = (count - 1) * self.stride - self.size - self.before
        if is_nonnegative(-excess - 1):
            return count
        if is_nonnegative(excess):
            return count - 1
        raise NotExpressible(f"ceil_mode for an axis of size {self.size}, where the last window may start behind it")

    def place(self, window: Dim, tap: Dim) -> Dim:
        """The place of a tap on the axis, outside of its range in the padding."""
        return window * self.stride + tap * self.dilation - self.before

    def inside(self, window: Dim, tap: Dim) -> Condition:
        """Whether a tap lies on the axis."""
        if self.before == 0 and self.after == 0 and not self.rounds_up:
            return TRUE
        return in_range(self.place(window, tap), self.size)


def inside(windows: Sequence[Windows], at: Places, taps: Places) -> Condition:
    """Whether a tap lies on all axes."""
    found: Condition = TRUE
    for each, window, tap in zip(windows, at, taps):
        found = both(found, each.inside(window, tap))
    return found


def places(windows: Sequence[Windows], at: Places, taps: Places) -> Places:
    """The place of a tap."""
    return tuple(each.place(window, tap) for each, window, tap in zip(windows, at, taps))


def over(
    take: Callable[[Dim, Callable[[Dim], Expr]], Expr], sizes: Sequence[Dim], body: Callable[[Places], Expr]
) -> Expr:
    """A sum, product or greatest value (`take`) over all places of these sizes."""

    def nested(at: Places) -> Expr:
        if len(at) == len(sizes):
            return body(at)
        return take(sizes[len(at)], lambda place: nested((*at, place)))

    return nested(())


def paddings(
    padding: SizeLike | Sequence[SizeLike] | str, kernel: Sequence[Dim], dilation: Sequence[Dim]
) -> list[tuple[Dim, Dim]]:
    """How much is added before and after each axis, also for `same` and `valid`."""
    if padding == "valid":
        return [(ZERO, ZERO)] * len(kernel)
    if padding == "same":
        totals = [stretch * (taps - 1) for stretch, taps in zip(dilation, kernel)]
        return [(total // 2, total - total // 2) for total in totals]
    return [(each, each) for each in per_axis(padding, len(kernel))]


def sliding(
    sizes: Sequence[Dim],
    kernel: Sequence[Dim],
    stride: SizeLike | Sequence[SizeLike],
    padding: SizeLike | Sequence[SizeLike] | str = 0,
    dilation: SizeLike | Sequence[SizeLike] = 1,
    rounds_up: bool = False,
) -> list[Windows]:
    """The windows along each of these axes.

    Raises:
        ShapeError: a stride or dilation is not positive.
    """
    count = len(sizes)
    strides, dilations = per_axis(stride, count), per_axis(dilation, count)
    for name, values in (("stride", strides), ("dilation", dilations)):
        for value in values:
            if not is_positive(value):
                if is_nonnegative(-value):
                    raise ShapeError(name, f"must be positive, not {value}")
                raise NotExpressible(f"a {name} of {value}, which need not be positive")
    return [
        Windows(size, taps, step, stretch, before, after, rounds_up)
        for size, taps, step, stretch, (before, after) in zip(
            sizes, kernel, strides, dilations, paddings(padding, kernel, dilations)
        )
    ]


@dataclass(frozen=True)
class GreatestIn:
    """The greatest entry of a window, axis by axis, and how its gradient is shared among equals: evenly, as `amax`.

    Args:
        sizes: how many taps there are along each axis.
        has: whether a tap of an axis belongs to the window: the axis and the tap.
        entry: the entry at taps that belong to it.
    """

    sizes: tuple[Dim, ...]
    has: Callable[[int, Dim], Condition]
    entry: Callable[[Places], Expr]

    def value(self, taps: Places = ()) -> Expr:
        """The greatest entry whose first taps are these."""
        axis = len(taps)
        if axis == len(self.sizes):
            return self.entry(taps)
        return greatest(self.sizes[axis], lambda tap: where(self.has(axis, tap), self.value((*taps, tap)), -INFINITY))

    def share(self, taps: Places) -> Expr:
        """The share of a tap in the gradient."""
        total = real(1)
        for axis in range(len(taps)):
            before, top = taps[:axis], self.value(taps[:axis])

            def is_top(tap: Dim, axis: int = axis, before: Places = before, top: Expr = top) -> Expr:
                return where(self.has(axis, tap), bracket(zero(self.value((*before, tap)) - top)), 0)

            total = total * is_top(taps[axis]) / summed(self.sizes[axis], is_top)
        return total
