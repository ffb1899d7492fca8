"""Parts along an axis: as torch, also in pieces of symbolic sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from shaped.errors import ShapeError
from shaped.spec.dims import Dim
from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.against_torch import assert_as_torch, assert_backward

SIZES = {"b": 2, "h": 3, "n": 6}


@pytest.mark.parametrize(
    ("program", "axes"),
    [
        (lambda x: x.chunk(4, -1), "b 4*h"),
        (lambda x: x.chunk(3, -1), "b 7"),
        (lambda x: x.chunk(5, 1), "b 4"),
        (lambda x, h: x.split(h, -1), "b 4*h"),
        (lambda x, h: x.split([h, 3 * h], -1), "b 4*h"),
        (lambda x, n: x.split([1, n - 1], -1), "b n"),
        (lambda x: x.split(3, -1), "b 7"),
        (lambda x: torch.split_with_sizes(x, [1, 6], 1), "b 7"),
        (lambda x: torch.tensor_split(x, 3, 1), "b 7"),
        (lambda x: torch.tensor_split(x, (2, 3), 1), "b 7"),
        (lambda x: torch.hsplit(x, 2), "b 4"),
        (lambda x: torch.vsplit(x, 2), "4 b"),
        (lambda x: torch.unbind(x, 1), "b 3"),
        (lambda x: x.select(1, -1), "b n"),
        (lambda x: x.narrow(1, 1, 2), "b n"),
        (lambda x, n: x.narrow(1, 2, n - 2), "b n"),
        (lambda x: x.narrow(1, -2, 2), "b n"),
        (lambda x: x.unfold(1, 3, 2), "b 9"),
        (lambda x, h: x.unfold(1, h, 1), "b n"),
    ],
)
def test_parts_are_those_of_torch(program: Callable[..., Any], axes: str) -> None:
    assert_as_torch(program, axes, **SIZES)


def test_a_number_of_pieces_that_depends_on_a_size_is_refused() -> None:
    with pytest.raises(NotExpressible, match="n elements in parts of 2"):
        variable("x", ("n",)).chunk(2)
    with pytest.raises(NotExpressible, match="depends on the sizes"):
        variable("x", ("n",)).split(2)


def test_sections_that_do_not_add_up_are_a_fault() -> None:
    with pytest.raises(ShapeError, match="add up to 2, not n"):
        variable("x", ("n",)).split([1, 1])


def test_a_place_whose_sign_is_open_is_refused() -> None:
    with pytest.raises(NotExpressible, match="count from the end or not"):
        variable("x", ("n",)).select(0, Dim.name("a") - Dim.name("b"))


@pytest.mark.parametrize(
    ("name", "axes", "arguments"),
    [
        ("narrow", "b 6", [1, 2, 3]),
        ("select", "b 6", [1, -2]),
        ("chunk", "b 4*h", [4, 1]),
        ("split", "b 7", [[2, 5], 1]),
        ("tensor_split", "b 7", [3, 1]),
        ("unbind", "b 3", [1]),
    ],
)
def test_the_backward_of_parts_puts_them_back(name: str, axes: str, arguments: list[Any]) -> None:
    assert_backward(name, axes, *arguments, bound=0, **SIZES)


def test_the_backward_of_overlapping_windows_sums() -> None:
    assert_as_torch(lambda x: x.unfold(1, 3, 1), "b n", **SIZES)
    assert_backward("unfold", "b 9", 1, 4, 2, **SIZES)
