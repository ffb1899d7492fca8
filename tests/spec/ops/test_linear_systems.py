"""Solutions of linear systems."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.errors import ShapeError
from tests.spec.ops.against_torch import check, check_exact
from tests.spec.ops.shapes import apply, b, n, of, shape_of, some, t

sides = st.sampled_from([1, 2, 3])


@st.composite
def systems(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor]:
    """A batch of square matrices and a right side that mostly fits."""
    batch, side = draw(some(0, 2, sides)), draw(sides)
    right = draw(st.sampled_from([batch, [1] * len(batch), batch[1:], [3, *batch]]))
    rows = draw(st.sampled_from([side] * 5 + [4]))
    columns = draw(st.sampled_from([[1], [2], [side], []]))
    return torch.eye(side).expand(*batch, side, side).contiguous(), torch.ones(*right, rows, *columns)


@given(systems(), st.booleans())
def test_solutions_have_the_shapes_of_torch(system: tuple[torch.Tensor, torch.Tensor], left: bool) -> None:
    check_exact("torch.linalg.solve", *system, left=left)
    check_exact("torch.linalg.solve_triangular", *system, upper=True, left=left)
    check_exact("torch.cholesky_solve", system[1], system[0])
    check("torch.linalg.lstsq", *system)
    check("torch.triangular_solve", system[1], system[0])


@given(some(1, 3), some(1, 3))
def test_products_of_vectors_along_an_axis_are_those_of_torch(shape: list[int], other: list[int]) -> None:
    check_exact("torch.linalg.vecdot", torch.ones(shape), torch.ones(other))


def test_named_systems_are_solved() -> None:
    assert shape_of("torch.linalg.solve", of(b, n, n), of(b, n, t)) == "(b, n, t)"
    assert shape_of("torch.linalg.solve", of(n, n), of(n)) == "(n,)"


def test_a_right_side_of_other_length_is_a_fault() -> None:
    with pytest.raises(ShapeError) as fault:
        apply("torch.linalg.solve", of(b, 3, 3), of(b, 4, t))
    assert str(fault.value) == "linalg.solve: (b, 3, 3), (b, 4, t): 3 equations, the right side has 4"
