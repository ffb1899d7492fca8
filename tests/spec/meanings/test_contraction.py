"""Products of matrices: as torch, over ranks and broadcast batches, complex ones too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from shaped.errors import ShapeError
from shaped.spec.tensor import variable
from tests.spec.meanings.against_torch import SUM_BOUND, assert_as_torch, assert_backward

SIZES = {"b": 2, "h": 3, "n": 3, "m": 5, "k": 4}
PAIRS = [
    ("n k", "k m"),
    ("k", "k m"),
    ("n k", "k"),
    ("k", "k"),
    ("b n k", "b k m"),
    ("b n k", "k m"),
    ("n k", "b k m"),
    ("2 1 n k", "h k m"),
    ("k", "b k m"),
    ("b n k", "k"),
    ("complex: n k", "complex: k m"),
    ("complex: b n k", "complex: k"),
]


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_matrix_products_of_all_ranks_are_those_of_torch(left: str, right: str) -> None:
    assert_as_torch(lambda x, y: x @ y, left, right, bound=SUM_BOUND, **SIZES)
    assert_backward("matmul", left, right, **SIZES)


def test_a_merged_axis_contracts_with_a_plain_one() -> None:
    assert_as_torch(lambda x, w: x.flatten(1) @ w, "b n k", "n*k m", bound=SUM_BOUND, **SIZES)


@pytest.mark.parametrize(
    ("program", "axes"),
    [
        (lambda x, y: torch.mm(x, y), ["n k", "k m"]),
        (lambda x, y: torch.bmm(x, y), ["b n k", "b k m"]),
        (lambda x, y: torch.mv(x, y), ["n k", "k"]),
        (lambda x, y: torch.dot(x, y), ["k", "k"]),
        (lambda x, y: torch.vdot(x, y), ["complex: k", "complex: k"]),
        (lambda x, y: torch.inner(x, y), ["b n k", "m k"]),
        (lambda x, y: torch.outer(x, y), ["n", "m"]),
        (lambda x, a, b: torch.addmm(x, a, b, beta=2, alpha=3), ["m", "n k", "k m"]),
        (lambda x, a, b: torch.addmv(x, a, b, alpha=0.5), ["n", "n k", "k"]),
        (lambda x, a, b: torch.addr(x, a, b, beta=0), ["n m", "n", "m"]),
        (lambda x, a, b: torch.baddbmm(x, a, b, beta=0), ["n m", "b n k", "b k m"]),
        (lambda x, a, b: torch.addbmm(x, a, b), ["n m", "b n k", "b k m"]),
        (lambda x, y, z: torch.linalg.multi_dot([x, y, z]), ["n", "n m", "m k"]),
        (lambda x, y, z: torch.chain_matmul(x, y, z), ["n b", "b m", "m k"]),
    ],
)
@pytest.mark.filterwarnings("ignore:torch.chain_matmul")
def test_products_are_those_of_torch(program: Callable[..., Any], axes: list[str]) -> None:
    assert_as_torch(program, *axes, bound=SUM_BOUND, **SIZES)


@pytest.mark.parametrize(
    ("name", "axes", "options"),
    [
        ("mm", ["n k", "k m"], {}),
        ("bmm", ["b n k", "b k m"], {}),
        ("mv", ["complex: n k", "complex: k"], {}),
        ("dot", ["complex: k", "complex: k"], {}),
        ("vdot", ["complex: k", "complex: k"], {}),
        ("outer", ["complex: n", "complex: m"], {}),
        ("addmm", ["5", "n k", "k 5"], {"beta": 2, "alpha": 3}),
        ("addmv", ["n", "n k", "k"], {"beta": 2, "alpha": 3}),
        ("addr", ["n m", "n", "m"], {"beta": 2, "alpha": 3}),
        ("baddbmm", ["b n m", "b n k", "b k m"], {"beta": 2, "alpha": 3}),
        ("addbmm", ["n m", "b n k", "b k m"], {"beta": 2, "alpha": 3}),
    ],
)
def test_the_backwards_are_those_of_torch(name: str, axes: list[str], options: dict[str, Any]) -> None:
    assert_backward(name, *axes, options=options, **SIZES)


def test_inner_sizes_that_differ_are_a_fault() -> None:
    with pytest.raises(ShapeError, match="inner dimensions k and m differ"):
        variable("x", ("n", "k")) @ variable("y", ("m", "k"))
