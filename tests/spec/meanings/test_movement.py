"""Axes in another order, added, dropped and turned round: as torch, entry by entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from shaped.spec.dims import Dim
from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.against_torch import assert_as_torch, assert_backward

SIZES = {"b": 2, "t": 3, "d": 4, "n": 5}


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x.transpose(0, -1),
        lambda x: torch.swapaxes(x, 0, 1),
        lambda x: x.permute(2, 0, 1),
        lambda x: x.permute((1, 2, 0)),
        lambda x: torch.movedim(x, (0, 1), (2, 0)),
        lambda x: torch.movedim(x, -1, 0),
        lambda x: x.unsqueeze(0).unsqueeze(-1),
        lambda x: x.unsqueeze(1).squeeze(1),
        lambda x: torch.flip(x, (0, 2)),
        lambda x: x.flatten(0, 1).flip(0),
        lambda x: torch.fliplr(x),
        lambda x: torch.flipud(x),
        lambda x: x[0].t(),
        lambda x: torch.rot90(x),
        lambda x: torch.rot90(x, -1, (2, 0)),
        lambda x: torch.rot90(x, 2, (1, 2)),
    ],
)
def test_moving_axes_is_as_torch(program: Callable[..., Any]) -> None:
    assert_as_torch(program, "b t d", **SIZES)
    assert_as_torch(program, "bool: b t d", **SIZES)
    assert_as_torch(program, "complex: b t d", **SIZES)


@pytest.mark.parametrize(("shifts", "dims"), [(1, 0), (-1, 1), (2, 2), (7, None), ((-1, 2), (0, 2)), ((1, 1), (2, 2))])
def test_rolling_is_as_torch_for_any_shift(shifts: Any, dims: Any) -> None:
    assert_as_torch(lambda x: torch.roll(x, shifts, dims), "b t d", **SIZES)
    assert_backward("roll", "b t d", shifts, dims, **SIZES)


def test_an_empty_axis_rolls_to_itself() -> None:
    assert_as_torch(lambda x: torch.roll(x, 2, 0), "0 t", **SIZES)


def test_a_conjugate_transpose_is_as_torch() -> None:
    assert_as_torch(lambda x: x.mT, "b t d", **SIZES)
    assert_as_torch(lambda x: x.H, "complex: b t", **SIZES)
    assert_as_torch(lambda x: x.mH, "complex: b t d", **SIZES)


def test_dropping_an_axis_that_may_be_1_is_refused() -> None:
    with pytest.raises(NotExpressible, match="size n"):
        variable("x", ("n", 3)).squeeze(0)
    assert variable("x", (1, Dim.name("n") + 1)).squeeze().sizes == (Dim.name("n") + 1,)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("permute", [(2, 0, 1)]),
        ("transpose", [0, 2]),
        ("Tensor.mT", []),
        ("movedim", [(0, 1), (2, 0)]),
        ("unsqueeze", [1]),
        ("flip", [(0, 2)]),
        ("fliplr", []),
        ("flipud", []),
        ("rot90", [1, (0, 2)]),
        ("rot90", [3, (0, 2)]),
    ],
)
def test_the_backward_of_moving_axes_moves_them_back(name: str, arguments: list[Any]) -> None:
    assert_backward(name, "b t d", *arguments, bound=0, **SIZES)


def test_the_backward_of_dropping_an_axis_adds_it() -> None:
    assert_backward("squeeze", "b 1 d", 1, bound=0, **SIZES)
    assert_backward("t", "b d", bound=0, **SIZES)
