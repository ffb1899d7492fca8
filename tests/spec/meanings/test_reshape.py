"""The same elements as another shape: as torch, and without division where the sizes refine each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.errors import ShapeError
from shaped.spec.dims import Dim
from shaped.spec.meanings.sizes import DivisionNeeded
from shaped.spec.tensor import variable
from tests.spec.meanings.against_torch import assert_as_torch, assert_backward

SIZES = {"b": 2, "t": 3, "h": 2, "d": 5}


def factorisations(total: int) -> st.SearchStrategy[list[int]]:
    """Shapes with this many elements."""

    @st.composite
    def draw_shape(draw: st.DrawFn) -> list[int]:
        left, shape = total, list[int]()
        while left > 1:
            size = draw(st.sampled_from([each for each in range(2, left + 1) if left % each == 0]))
            shape.insert(draw(st.integers(0, len(shape))), size)
            left //= size
            if draw(st.booleans()):
                shape.append(1)
        return shape

    return draw_shape()


@given(st.lists(factorisations(24), min_size=2, max_size=5))
def test_any_chain_of_reshapes_is_as_torch(shapes: list[list[int]]) -> None:
    def program(x: Any) -> Any:
        for shape in shapes[1:]:
            x = x.reshape(shape)
            x = x.transpose(0, -1) if len(shape) > 1 else x
        return x

    assert_as_torch(program, " ".join(map(str, shapes[0])))


@pytest.mark.parametrize(
    ("program", "axes"),
    [
        (lambda x: x.view(-1, 4), "b t 4"),
        (lambda x, b, t, h: x.view(b, t, h, -1).transpose(1, 2), "b t h*d"),
        (lambda x, b, t, h, d: x.transpose(1, 2).reshape(b, t, h * d), "b h t d"),
        (lambda x, b, t: x.view(b * t, -1).view(b, t, -1), "b t d"),
        (lambda x, b, t: x.flatten(0, 1).unflatten(0, (b, t)), "b t d"),
        (lambda x: x.ravel(), "b t d"),
        (lambda x: x.reshape(3, 2), "2 3"),
        (lambda x: x.reshape(0), "0 3"),
        (lambda x: x.reshape(()), "1 1"),
        (lambda x: torch.view_as_complex(x), "b t 2"),
        (lambda x: x.reshape_as(x.transpose(0, 1)), "b t"),
    ],
)
def test_reshaping_symbolic_sizes_is_as_torch(program: Callable[..., Any], axes: str) -> None:
    assert_as_torch(program, axes, **SIZES)


def test_splitting_heads_and_merging_them_again_gives_the_same_expression() -> None:
    x = variable("x", ("b", "t", Dim.name("h") * Dim.name("d")))
    heads = x.view(x.shape[0], x.shape[1], Dim.name("h"), -1).transpose(1, 2)
    merged = heads.transpose(1, 2).reshape(x.shape)
    assert str(merged.at(*merged.places)) == str(x.at(*merged.places))
    assert heads.sizes == (Dim.name("b"), Dim.name("h"), Dim.name("t"), Dim.name("d"))


def test_another_number_of_elements_is_a_fault() -> None:
    with pytest.raises(ShapeError, match="n elements"):
        variable("x", ("n",)).reshape(Dim.name("m"))
    with pytest.raises(ShapeError, match="4 does not divide 6"):
        variable("x", (2, 3)).reshape(4, -1)


def test_parts_that_need_not_divide_are_refused() -> None:
    with pytest.raises(DivisionNeeded, match="need not divide") as refused:
        variable("x", ("b", "n")).reshape(Dim.name("b"), 2, -1)
    assert (refused.value.size, refused.value.by) == (Dim.name("n"), Dim.of(2))
    h, d = Dim.name("h"), Dim.name("d")
    with pytest.raises(DivisionNeeded) as refused:
        variable("x", (d,)).reshape(h, d // h)
    assert (refused.value.size, refused.value.by) == (d, h)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("reshape", [(-1, 2)]), ("reshape", [(3, -1)]), ("flatten", [1]), ("unflatten", [0, (2, -1)]), ("ravel", [])],
)
def test_the_backward_of_a_reshape_is_the_reshape_back(name: str, arguments: list[Any]) -> None:
    assert_backward(name, "6 t d", *arguments, bound=0, **SIZES)
