"""Tensors of one shape and dtype, drawn so that a failing example shrinks to zeros, then to small whole numbers."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import torch
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from shaped.testing.printing import print_tensors_as_literals
from shaped.testing.special import MOST_AXES, Application, Rows, points_of

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn
    from torch import Tensor

    from shaped.verify.signature import NumberKind

MOST_DRAWN_ENTRIES = 32  # of a tensor whose entries are drawn one by one; a larger one is filled from a seed
SINGLE_ENTRIES = 4  # of a tensor filled from a seed that are drawn beside it, so that it shrinks to few entries
MOST_SEED = 2**16
# The entries that are 1 where the rest is 0, by seed; larger seeds give noise.
_SPARSE = (slice(0), slice(1), slice(-1, None), slice(2), slice(None, None, 2), slice(None))
FIRST_NOISE = len(_SPARSE)
LARGEST = 4  # the magnitude of an entry, before a special point changes it

Number = bool | int | float | complex


def _simplest_first() -> tuple[float, ...]:
    """0, 1, -1, 2, -2, ..., then halves, quarters and eighths: exact in every dtype with 5 bits of precision."""
    found = [0.0]
    for denominator in (1, 2, 4, 8):
        for numerator in range(1, LARGEST * denominator + 1):
            if denominator == 1 or numerator % 2:
                found += [numerator / denominator, -numerator / denominator]
    return tuple(found)


SIMPLE_NUMBERS = _simplest_first()


def kind_of_dtype(dtype: torch.dtype) -> NumberKind:
    """What numbers a tensor of the dtype has."""
    if dtype.is_floating_point:
        return "float"
    if dtype.is_complex:
        return "complex"
    return "bool" if dtype is torch.bool else "int"


def has_infinity(dtype: torch.dtype) -> bool:
    """Whether a dtype has infinities: those of floats, but for some of 8 bits."""
    return dtype.is_floating_point and bool(torch.tensor(math.inf).to(dtype).to(torch.float32).isinf())


def tensors(
    shape: Sequence[int] | SearchStrategy[tuple[int, ...]] = (),
    dtype: torch.dtype | None = None,
    *,
    low: int | None = None,
    high: int | None = None,
    elements: SearchStrategy[Number] | None = None,
    special: bool = True,
    minus_infinity: bool = False,
) -> SearchStrategy[Tensor]:
    """Tensors of a shape.

    About half of them are at a special point: equal entries, zeros, large or tiny magnitudes, uneven entries, repeated
    indices, along all rows of an axis or one of them.

    Args:
        shape: the shape, or a strategy of shapes.
        dtype: torch's default dtype if it is not given.
        low: the least entry of an integer tensor; -4 (0 without a sign) if it is not given.
        high: the greatest entry of an integer tensor, itself included; 4, or `low` if that is more.
        elements: the entries; then the only special points are equal entries.
        special: draw special points.
        minus_infinity: draw entries and whole rows of -inf, as masks have them.

    >>> from hypothesis import find
    >>> find(tensors((2, 2)), lambda x: bool(x.sum() > 1))
    tensor([[0., 0.],
            [0., 2.]])
    """
    dtype = dtype or torch.get_default_dtype()
    kind = kind_of_dtype(dtype)
    if kind != "int" and (low is not None or high is not None):
        raise ValueError(f"low and high are for integer tensors, not for {dtype}: give elements=st.floats(low, high)")
    if minus_infinity and not has_infinity(dtype):
        raise ValueError(f"minus_infinity is for floating-point tensors, not for {dtype}")
    print_tensors_as_literals()
    least, greatest = _bounds(dtype, low, high) if kind == "int" else (0, 0)
    entry = _entry(kind, least, greatest, minus_infinity) if elements is None else _Entry(kind, 0, 0, False, elements)
    return _tensors(shape, dtype, entry, special)


@st.composite
def _tensors(
    draw: DrawFn,
    shape: Sequence[int] | SearchStrategy[tuple[int, ...]],
    dtype: torch.dtype,
    entry: _Entry,
    special: bool,
) -> Tensor:
    drawn = tuple(draw(shape) if isinstance(shape, SearchStrategy) else shape)
    changes = draw(_special_points(entry.kind, entry.minus_infinity, entry.elements is None)) if special else ()
    count = math.prod(drawn)
    if count <= MOST_DRAWN_ENTRIES:
        x = entry.tensor(draw(_entries(entry, count)))
    elif entry.elements is not None:
        # Few of the user's numbers, all over the tensor.
        palette = entry.tensor(draw(_entries(entry, MOST_DRAWN_ENTRIES)))
        x = palette[_noise(draw(_SEED), count, MOST_DRAWN_ENTRIES)]
    else:
        x = entry.filled(draw(_SEED), count)
        for index, value in draw(_single_entries(entry, count)):
            x[index] = torch.tensor(entry.number(value), dtype=x.dtype)
    x = x.reshape(drawn)
    for change in changes:
        if change is not None:
            x = change(x)
    return _rounded(x, dtype)


_SEED = st.integers(0, MOST_SEED)


def _bounds(dtype: torch.dtype, low: int | None, high: int | None) -> tuple[int, int]:
    limits = torch.iinfo(dtype)
    least = max(-LARGEST, limits.min) if low is None else low
    if low is None and high is not None:
        least = min(least, high)
    greatest = max(LARGEST, least) if high is None else high
    if not limits.min <= least <= greatest <= limits.max:
        raise ValueError(f"there is no {dtype} from {least} to {greatest}: give low <= high inside the dtype's range")
    return least, greatest


class _Entry:
    """One entry of a tensor: drawn as an index into the simplest numbers of its kind, or as the user's element.

    The tensor is made in the widest dtype of the kind, so that special points are rounded once.
    """

    def __init__(
        self,
        kind: NumberKind,
        low: int,
        high: int,
        minus_infinity: bool,
        elements: SearchStrategy[Number] | None = None,
    ) -> None:
        self.kind, self.low, self.high = kind, low, high
        self.elements = elements
        self.minus_infinity = minus_infinity
        self.wide = {"float": torch.float64, "complex": torch.complex128, "int": torch.int64, "bool": torch.bool}[kind]
        self.table: tuple[Number, ...] = (False, True)
        if kind == "complex":
            self.table = tuple(complex(a, b) for a, b in _pairs_by_size(len(SIMPLE_NUMBERS)))
        elif kind == "float":
            self.table = (*SIMPLE_NUMBERS, *([-math.inf] * (len(SIMPLE_NUMBERS) // 8) if minus_infinity else []))
        self.tabulated = torch.tensor(self.table, dtype=self.wide)
        self.strategy: SearchStrategy[Number]
        if elements is not None:
            self.strategy = elements
        elif kind == "int":
            self.strategy = st.integers(low, high)
        else:
            self.strategy = st.integers(0, len(self.table) - 1)
        self.tuples = functools.lru_cache(maxsize=MOST_DRAWN_ENTRIES + 1)(
            lambda count: st.tuples(*[self.strategy] * count)
        )

    def number(self, drawn: Number) -> Number:
        """The entry that was drawn."""
        return drawn if self.elements is not None or self.kind == "int" else self.table[cast(int, drawn)]

    def tensor(self, drawn: Sequence[Number]) -> Tensor:
        """The entries that were drawn, as a vector."""
        return torch.tensor([self.number(one) for one in drawn], dtype=self.wide)

    def filled(self, seed: int, count: int) -> Tensor:
        """A vector that the seed gives: of the simplest number alone, with a single other one, or of noise."""
        if self.kind == "int":
            simplest = min(max(self.low, 0), self.high)
            others = [number for number in (simplest + 1, simplest - 1) if self.low <= number <= self.high]
            numbers = torch.tensor([simplest, *others])
            if seed < FIRST_NOISE or len(numbers) == 1:
                return numbers[_noise(seed, count, len(numbers))]
            return torch.randint(self.low, self.high + 1, (count,), generator=torch.Generator().manual_seed(seed))
        return self.tabulated[_noise(seed, count, len(self.table))]


_entry = functools.lru_cache(maxsize=256)(_Entry)


def _noise(seed: int, count: int, below: int) -> Tensor:
    """Indices into numbers, the simplest first. The first seeds give what a failing example is to be shrunk to."""
    if seed >= FIRST_NOISE:
        return torch.randint(below, (count,), generator=torch.Generator().manual_seed(seed))
    indices = torch.zeros(count, dtype=torch.int64)
    if below > 1:
        indices[_SPARSE[seed]] = 1
    return indices


def _pairs_by_size(count: int) -> list[tuple[float, float]]:
    """Pairs of simple numbers, the simplest first."""
    order = sorted(((i, j) for i in range(count) for j in range(count)), key=lambda pair: (sum(pair), pair[1]))
    return [(SIMPLE_NUMBERS[i], SIMPLE_NUMBERS[j]) for i, j in order]


def _entries(entry: _Entry, count: int) -> SearchStrategy[tuple[Number, ...]]:
    return entry.tuples(count)


def _single_entries(entry: _Entry, count: int) -> SearchStrategy[tuple[tuple[int, Number], ...]]:
    return st.tuples(*[st.tuples(st.integers(0, count - 1), entry.strategy)] * SINGLE_ENTRIES)


@functools.lru_cache(maxsize=64)
def _special_points(
    kind: NumberKind, minus_infinity: bool, all_points: bool
) -> SearchStrategy[tuple[Application | None, ...]]:
    """Two changes of rows, each None in half of the draws, and first, so that a failing example shrinks to none.

    Two, as faults hide where rows differ: one of zeros, one large. And Hypothesis draws much of each example as it drew
    the one before: measured, 100 examples miss one of ten kinds of points in 2 of 30 runs with one change, in 1 of 40
    with two.
    """
    points = points_of(kind, minus_infinity=minus_infinity)
    if not all_points:
        points = tuple(point for point in points if point.name.startswith("equal"))
    weighted = [point for point in points for _ in range(point.weight)]
    found = [Application(*one) for one in itertools.product(weighted, range(MOST_AXES), Rows)]
    return st.tuples(*[st.sampled_from([*[None] * len(found), *found])] * 2)


def _rounded(x: Tensor, dtype: torch.dtype) -> Tensor:
    """The tensor in the dtype; finite entries beyond its range become the nearest of it."""
    if not dtype.is_floating_point or dtype.itemsize > 2:
        return x.to(dtype)
    most = torch.finfo(dtype).max
    return torch.where(x.isinf(), x, x.clamp(-most, most)).to(dtype)
