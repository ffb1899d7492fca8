"""Diagonals and triangles: as torch."""

from __future__ import annotations

import pytest
import torch

from tests.spec.meanings.against_torch import assert_as_torch, assert_backward

SIZES = {"b": 2, "n": 3, "m": 4}
OFFSETS = pytest.mark.parametrize("offset", [0, 1, -1, 2, -2])


@OFFSETS
def test_diagonals_are_those_of_torch(offset: int) -> None:
    assert_as_torch(lambda x: torch.diagonal(x, offset, 0, -1), "4 b 5", **SIZES)
    assert_as_torch(lambda x: torch.diagonal(x, offset), "4 5 b", **SIZES)
    assert_as_torch(lambda x: torch.diag(x, offset), "4 3")
    assert_as_torch(lambda x: torch.diag(x, offset), "n", **SIZES)
    assert_as_torch(lambda x: torch.diagflat(x, offset), "b n", **SIZES)
    assert_as_torch(lambda x: torch.diag_embed(x, offset, 0, -1), "b n", **SIZES)
    assert_as_torch(lambda x: torch.diag_embed(x, offset, -1, 0), "b n", **SIZES)


@OFFSETS
@pytest.mark.parametrize("kind", ["float", "bool", "complex"])
def test_triangles_are_those_of_torch(offset: int, kind: str) -> None:
    assert_as_torch(lambda x: torch.tril(x, offset), f"{kind}: b n m", **SIZES)
    assert_as_torch(lambda x: torch.triu(x, offset), f"{kind}: b n m", **SIZES)


def test_the_trace_is_that_of_torch() -> None:
    assert_as_torch(lambda x: torch.trace(x), "n m", bound=1e-15, **SIZES)


def test_a_filled_diagonal_is_that_of_torch() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        y.fill_diagonal_(2.0)
        return y

    assert_as_torch(program, "n m", **SIZES)
    assert_as_torch(program, "n n n", **SIZES)


@OFFSETS
def test_the_backwards_are_those_of_torch(offset: int) -> None:
    assert_backward("diagonal", "4 5 b", offset, bound=0, **SIZES)
    assert_backward("diag", "n", offset, bound=0, **SIZES)
    assert_backward("diag", "4 5", offset, bound=0, **SIZES)
    assert_backward("diag_embed", "b n", offset, 0, 2, bound=0, **SIZES)
    assert_backward("tril", "b n m", offset, bound=0, **SIZES)
    assert_backward("triu", "b n m", offset, bound=0, **SIZES)
    assert_backward("trace", "n m", bound=0, **SIZES)
