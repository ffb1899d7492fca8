"""Products along chosen axes: tensordot, kron, cross products, and distances of all pairs."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.errors import ShapeError
from shaped.spec.values import UNKNOWN
from tests.spec.ops.against_torch import check_exact
from tests.spec.ops.shapes import apply, b, d, floats, h, n, of, shape_of, some, t

axes = st.integers(-4, 3)
sides = st.sampled_from([1, 2, 3])


@given(some(0, 3, sides), some(0, 3, sides), st.integers(0, 3), axes, axes)
def test_products_summed_over_chosen_axes_are_those_of_torch(
    shape: list[int], other: list[int], count: int, i: int, j: int
) -> None:
    pair = torch.ones(shape), torch.ones(other)
    check_exact("torch.tensordot", *pair, count)
    check_exact("torch.tensordot", *pair, ([i], [j]))
    check_exact("torch.tensordot", *pair, ([-1], [-2]))


@given(some(0, 3), some(0, 3))
def test_products_of_all_pairs_are_those_of_torch(shape: list[int], other: list[int]) -> None:
    check_exact("torch.kron", floats(shape), floats(other))
    check_exact("torch.cdist", torch.ones(shape), torch.ones(other))


three = st.sampled_from([1, 2, 3, 3, 3])


@given(some(1, 3, three), some(1, 3, three), axes)
def test_cross_products_need_an_axis_of_three_as_in_torch(shape: list[int], other: list[int], axis: int) -> None:
    check_exact("torch.cross", torch.ones(shape), torch.ones(other), axis)
    check_exact("torch.linalg.cross", torch.ones(shape), torch.ones(other))


def test_sums_over_named_axes() -> None:
    assert shape_of("torch.tensordot", of(b, t, d), of(d, n), ([2], [0])) == "(b, t, n)"
    assert shape_of("torch.tensordot", of(b, t, d), of(t, d, n)) == "(b, n)"
    assert shape_of("torch.tensordot", of(b, t, d), UNKNOWN) == "(...)"
    assert shape_of("torch.kron", of(n, d), of(t, h)) == "(n*t, d*h)"
    assert shape_of("torch.cdist", of(b, n, d), of(b, t, d)) == "(b, n, t)"


def test_axes_of_other_sizes_are_a_fault() -> None:
    with pytest.raises(ShapeError) as fault:
        apply("torch.tensordot", of(b, 3), of(4, d), 1)
    assert str(fault.value) == "tensordot: (b, 3), (4, d): sizes 3 of axis 1 and 4 of axis 0 differ"
    with pytest.raises(ShapeError, match="vectors of 3 and 4 elements"):
        apply("torch.cdist", of(b, n, 3), of(b, t, 4))
