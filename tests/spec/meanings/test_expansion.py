"""Axes stretched and elements repeated: as torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from shaped.errors import ShapeError
from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.against_torch import assert_as_torch, assert_backward

SIZES = {"b": 2, "t": 3, "n": 4}


@pytest.mark.parametrize(
    ("program", "axes"),
    [
        (lambda x, n: x.expand(n, -1, 4), "1 b 1"),
        (lambda x, n: x.expand(n, 2, 3), "2 1"),
        (lambda x: x.expand_as(x.new_zeros(5, *x.shape)), "b t"),
        (lambda x: torch.broadcast_to(x, (3, 2, 4)), "2 1"),
        (lambda x: torch.broadcast_tensors(x, x.transpose(0, 1)), "n 1"),
        (lambda x: x.repeat(2, 3, 1), "b t"),
        (lambda x, n: x.repeat(n, 1).reshape(-1), "b t"),
        (lambda x: torch.tile(x, (2,)), "b t"),
        (lambda x: x.repeat_interleave(3, 1), "b t"),
        (lambda x: torch.repeat_interleave(x, 2), "b t"),
    ],
)
def test_repeating_is_as_torch(program: Callable[..., Any], axes: str) -> None:
    assert_as_torch(program, axes, **SIZES)


def test_one_hot_is_as_torch() -> None:
    assert_as_torch(lambda i: torch.nn.functional.one_hot(i, 4), "int: b t < n", **SIZES)
    with pytest.raises(NotExpressible, match="num_classes"):
        torch.nn.functional.one_hot(variable("i", ("b",), "int"))  # type: ignore[call-overload]  # a spec tensor


def test_an_axis_that_is_not_1_cannot_be_stretched() -> None:
    with pytest.raises(ShapeError, match="size t cannot have size n"):
        variable("x", ("t",)).expand(variable("y", ("n",)).shape)


@pytest.mark.parametrize(
    ("name", "axes", "arguments"),
    [
        ("expand", "1 t 1", [2, 4, 3, 5]),
        ("broadcast_to", "2 1", [(3, 2, 4)]),
        ("repeat", "b t", [2, 3, 1]),
        ("tile", "b t", [(2,)]),
        ("torch.repeat_interleave", "b t", [3, 1]),
        ("torch.repeat_interleave", "b t", [2]),
    ],
)
def test_the_backward_of_repeating_sums(name: str, axes: str, arguments: list[Any]) -> None:
    if name == "expand":
        axes, arguments = "1 3 1", [2, 4, 3, 5]
    assert_backward(name, axes, *arguments, **SIZES)
