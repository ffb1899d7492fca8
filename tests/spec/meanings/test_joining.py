"""Tensors joined along an axis: as torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from shaped.errors import ShapeError
from shaped.spec.tensor import variable
from tests.spec.meanings.against_torch import assert_as_torch, assert_backward

SIZES = {"b": 2, "n": 3, "m": 4}


@pytest.mark.parametrize(
    ("program", "axes"),
    [
        (lambda x, y: torch.cat([x, y], 1), ["b n", "b m"]),
        (lambda x, y: torch.cat([x, y[:, :1], x[:, 1:]], -1), ["b n", "b m"]),
        (lambda x, y: torch.cat([x, y]), ["bool: n", "float: m"]),
        (lambda x, y: torch.cat([x, y]), ["complex: n", "float: m"]),
        (lambda x, y: torch.cat([x, y]), ["n", "0"]),
        (lambda x, y: torch.stack([x, y, x], -1), ["b n", "b n"]),
        (lambda x, y: torch.hstack([x, y]), ["b n", "b m"]),
        (lambda x, y: torch.hstack([x, y]), ["n", "m"]),
        (lambda x, y: torch.vstack([x, y]), ["n", "b n"]),
        (lambda x, y: torch.dstack([x, y]), ["b n", "b n"]),
        (lambda x, y: torch.column_stack([x, y]), ["n", "n 2"]),
        (lambda x, y: torch.block_diag(x, y), ["b n", "m 2"]),
        (lambda x, y: torch.meshgrid(x, y, indexing="ij"), ["n", "m"]),
        (lambda x, y: torch.meshgrid(x, y, indexing="xy"), ["n", "m"]),
        (lambda x, y: torch.cartesian_prod(x, y), ["n", "m"]),
        (lambda x: torch.combinations(x), ["4"]),
        (lambda x: torch.combinations(x, 2, with_replacement=True), ["3"]),
        (lambda x, y: torch.atleast_3d(x, y), ["n", "b n"]),
    ],
)
def test_joining_is_as_torch(program: Callable[..., Any], axes: list[str]) -> None:
    assert_as_torch(program, *axes, **SIZES)


def test_sizes_that_differ_are_a_fault() -> None:
    with pytest.raises(ShapeError, match="sizes n and m differ"):
        torch.cat([variable("x", ("n", 2)), variable("y", ("m", 3))], 1)  # type: ignore[list-item]  # spec tensors


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_the_backward_of_joining_takes_the_parts(dim: int) -> None:
    assert_backward("cat", ("b n", "b n"), dim, bound=0, **SIZES)
    assert_backward("stack", ("b n", "b n", "b n"), dim, bound=0, **SIZES)
