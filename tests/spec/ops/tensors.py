"""Hypothesis strategies for tensors of torch: shapes, dtypes, axes, and numbers."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from hypothesis import strategies as st

DTYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
)
REAL = DTYPES[:-2]
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)

sizes = st.sampled_from([0, 1, 1, 2, 3, 4])
shapes = st.lists(sizes, max_size=3).map(tuple)
# Without elements torch lets some dtypes pass that it refuses otherwise.
filled_shapes = st.lists(sizes.filter(bool), max_size=3).map(tuple)
dtypes = st.sampled_from(DTYPES)
axes = st.integers(-4, 3)
numbers: st.SearchStrategy[float] = st.one_of(st.booleans(), st.integers(0, 3), st.just(0.5))


@st.composite
def tensors(
    draw: st.DrawFn, shape: st.SearchStrategy[tuple[int, ...]] = shapes, dtype: Sequence[torch.dtype] = DTYPES
) -> torch.Tensor:
    """A tensor of ones."""
    return torch.ones(draw(shape), dtype=draw(st.sampled_from(dtype)))


@st.composite
def broadcast_shapes(draw: st.DrawFn, count: int = 2) -> tuple[tuple[int, ...], ...]:
    """Shapes that mostly broadcast, and sometimes do not."""
    common = draw(shapes)
    found = []
    for _ in range(count):
        cut = draw(st.integers(0, len(common)))
        found.append(tuple(draw(st.sampled_from([size, size, size, 1, 5])) for size in common[cut:]))
    return tuple(found)


@st.composite
def operands(
    draw: st.DrawFn, count: int = 2, dtype: Sequence[torch.dtype] = DTYPES, *, same_dtype: bool = False
) -> list[torch.Tensor]:
    """Tensors whose shapes mostly broadcast."""
    common = draw(st.sampled_from(dtype))
    return [
        torch.ones(shape, dtype=common if same_dtype else draw(st.sampled_from(dtype)))
        for shape in draw(broadcast_shapes(count))
    ]


def tensor_or_number(tensor: torch.Tensor) -> st.SearchStrategy[torch.Tensor | float]:
    """The tensor, or a Python number in its place."""
    return st.one_of(st.just(tensor), numbers)
