"""Pooling to a given size: the axis is shared out to windows as evenly as whole numbers allow.

Window `i` of `u` on an axis of size `t` goes from `floor(i*t/u)` up to, not including, `ceil((i+1)*t/u)`.
"""

from __future__ import annotations

from collections.abc import Sequence

from shaped.errors import ShapeError
from shaped.spec.dims import Dim, ceildiv
from shaped.spec.expr import (
    TRUE,
    Condition,
    Expr,
    both,
    bracket,
    index_nonnegative,
    index_zero,
    multiply,
    power,
    real,
    where,
)
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.places import fresh_axis, new_axis, place_of
from shaped.spec.meanings.sizes import SizeLike, as_dim, is_size
from shaped.spec.meanings.windows import GreatestIn, Places, over
from shaped.spec.normal_form import divide
from shaped.spec.tensor import Axis, NotExpressible, Tensor, build, summed, with_entry

OutputSize = SizeLike | Sequence[SizeLike]


class _Share:
    """The windows along one axis.

    Args:
        size: the size of the axis.
        count: how many windows share it.
    """

    def __init__(self, size: Dim, count: Dim) -> None:
        whole, rest = divide(size, count)
        self.size, self.count = size, count
        # The length of every window where it is the same for all.
        self.whole = None if rest.terms else whole

    def range(self, window: Dim) -> tuple[Dim, Dim]:
        """The first place of a window and the first behind it."""
        if self.whole is not None:
            return window * self.whole, window * self.whole + self.whole
        return (window * self.size) // self.count, ceildiv((window + 1) * self.size, self.count)

    def length(self, window: Dim) -> Dim:
        """How many places a window has."""
        start, end = self.range(window)
        return end - start

    def taps(self) -> Dim:
        """How many places are looked at for a window."""
        return self.size if self.whole is None else self.whole

    def place(self, window: Dim, tap: Dim) -> tuple[Dim, Condition]:
        """The place of a tap, and whether it belongs to the window."""
        if self.whole is not None:
            return window * self.whole + tap, TRUE
        return tap, self.has(window, tap)

    def has(self, window: Dim, place: Dim) -> Condition:
        """Whether a window has a place."""
        start, end = self.range(window)
        return both(index_nonnegative(place - start), index_nonnegative(end - 1 - place))


def _shares(input: Tensor, rank: int, output_size: OutputSize) -> list[_Share]:
    if input.rank not in (rank + 1, rank + 2):
        raise ShapeError("adaptive pool", f"{rank + 1} or {rank + 2} axes are needed, not {input.rank}")
    given = [output_size] if output_size is None or is_size(output_size) else list(output_size)
    given = given * rank if len(given) == 1 else given
    if len(given) != rank:
        raise ShapeError("adaptive pool", f"{len(given)} sizes for {rank} axes")
    sizes = input.sizes[-rank:]
    return [_Share(size, size if each is None else as_dim(each)) for each, size in zip(given, sizes)]


def _axes(input: Tensor, shares: Sequence[_Share]) -> tuple[list[Axis], Places, Places]:
    """The axes of the result, the place of the batch and channel, and that in space."""
    rank = len(shares)
    axes = [fresh_axis(axis) for axis in input.axes[:-rank]] + [new_axis(share.count) for share in shares]
    found = tuple(place_of(axis) for axis in axes)
    return axes, found[:-rank], found[-rank:]


def _summed(input: Tensor, shares: Sequence[_Share], batch: Places, at: Places) -> Expr:
    """The sum of a window."""

    def entry(taps: Places) -> Expr:
        places = [share.place(window, tap) for share, window, tap in zip(shares, at, taps)]
        belongs: Condition = TRUE
        for _, has in places:
            belongs = both(belongs, has)
        return where(belongs, input.at(*batch, *(place for place, _ in places)), 0)

    return over(summed, [share.taps() for share in shares], entry)


def _greatest(input: Tensor, shares: Sequence[_Share], batch: Places, at: Places) -> GreatestIn:
    return GreatestIn(
        tuple(share.taps() for share in shares),
        lambda axis, tap: shares[axis].place(at[axis], tap)[1],
        lambda taps: input.at(*batch, *(share.place(one, tap)[0] for share, one, tap in zip(shares, at, taps))),
    )


def _share_of(shares: Sequence[_Share], at: Places) -> Expr:
    return multiply(*(power(real(share.length(window)), -1) for share, window in zip(shares, at)))


def _no_indices(return_indices: bool) -> None:
    if return_indices:
        raise NotExpressible("the places of the greatest entries")


def _declare(rank: int) -> None:
    @meaning(f"adaptive_avg_pool{rank}d")
    def adaptive_avg_pool(input: Tensor, output_size: OutputSize) -> Tensor:
        shares = _shares(input, rank, output_size)
        axes, batch, at = _axes(input, shares)
        return with_entry(axes, _summed(input, shares, batch, at) * _share_of(shares, at))

    @backward(f"adaptive_avg_pool{rank}d")
    def adaptive_avg_pool_backward(grad: Tensor, input: Tensor, output_size: OutputSize) -> Tensor:
        shares = _shares(input, rank, output_size)

        def gradient(*own: Dim) -> Expr:
            def from_window(window: Places) -> Expr:
                belongs: Condition = TRUE
                for share, one, place in zip(shares, window, own[-rank:]):
                    belongs = both(belongs, share.has(one, place))
                return where(belongs, grad.at(*own[:-rank], *window) * _share_of(shares, window), 0)

            return over(summed, [share.count for share in shares], from_window)

        return build(input.sizes, gradient)

    @meaning(f"adaptive_max_pool{rank}d", kinks="two greatest entries in a window: the first")
    def adaptive_max_pool(input: Tensor, output_size: OutputSize, return_indices: bool = False) -> Tensor:
        _no_indices(return_indices)
        shares = _shares(input, rank, output_size)
        axes, batch, at = _axes(input, shares)
        return with_entry(axes, _greatest(input, shares, batch, at).value())

    @backward(f"adaptive_max_pool{rank}d")
    def adaptive_max_pool_backward(
        grad: Tensor, input: Tensor, output_size: OutputSize, return_indices: bool = False
    ) -> Tensor:
        """Each window's gradient at its greatest entry, split where several are greatest: torch takes the first."""
        shares = _shares(input, rank, output_size)

        def gradient(*own: Dim) -> Expr:
            def from_window(window: Places) -> Expr:
                shared = _greatest(input, shares, own[:-rank], window)

                def from_tap(taps: Places) -> Expr:
                    places = [share.place(one, tap)[0] for share, one, tap in zip(shares, window, taps)]
                    hits = multiply(*(bracket(index_zero(place - at)) for place, at in zip(places, own[-rank:])))
                    return hits * shared.share(taps)

                return grad.at(*own[:-rank], *window) * over(summed, shared.sizes, from_tap)

            return over(summed, [share.count for share in shares], from_window)

        return build(input.sizes, gradient)


for _rank in (1, 2, 3):
    _declare(_rank)
