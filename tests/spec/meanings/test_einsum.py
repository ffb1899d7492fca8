"""`einsum` in both of its forms: as torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from shaped.errors import ShapeError
from shaped.spec.calls import call_named
from shaped.spec.dims import Dim
from shaped.spec.tensor import variable
from tests.spec.meanings.against_torch import SUM_BOUND, assert_as_torch, assert_backward

SIZES = {"b": 2, "n": 3, "m": 5, "k": 4, "d": 2}
EQUATIONS = [
    ("bij,bjk->bik", ["b n k", "b k m"]),
    ("ii->i", ["n n"]),
    ("ii", ["n n"]),
    ("...ij,...jk", ["b n k", "b k m"]),
    ("i,j->ij", ["n", "m"]),
    ("ij->", ["n m"]),
    ("bhqd,bhkd->bhqk", ["b 2 n d", "b 2 m d"]),
    ("...i,i->...", ["b n", "n"]),
    ("ij,jk,kl->il", ["n m", "m k", "k d"]),
    ("b...->...b", ["b n m"]),
    ("...,...", ["b n", "n"]),
    ("ijk,k", ["n 1 m", "m"]),
    ("ij,ij->j", ["n 5", "1 5"]),
    ("bii,i->b", ["b n n", "n"]),
    ("ba", ["n m"]),
    ("ij,jk->ik", ["complex: n m", "complex: m k"]),
]


@pytest.mark.parametrize(("equation", "axes"), EQUATIONS)
def test_sums_of_products_are_those_of_torch(equation: str, axes: list[str]) -> None:
    assert_as_torch(lambda *x: torch.einsum(equation, *x), *axes, bound=SUM_BOUND, **SIZES)
    assert_backward("einsum", f"={equation}", *axes, **SIZES)


def test_labels_may_be_numbers() -> None:
    x, y = variable("x", ("n", "k")), variable("y", ("k", "m"))
    found = call_named("torch.einsum", (x, [0, 1], y, [1, 2], [2, 0]), {})
    assert found.sizes == (Dim.name("m"), Dim.name("n"))
    # Without an output the labels stand in the order of their numbers.
    assert call_named("torch.einsum", (x, [11, 2]), {}).sizes == (Dim.name("k"), Dim.name("n"))


@pytest.mark.parametrize(
    ("equation", "axes", "reason"),
    [("ij,jk", [("n", "k"), ("m", "k")], "sizes k and m differ"), ("ij", [("n",)], "2 labels for 1 axes")],
)
def test_equations_that_do_not_fit_are_faults(equation: str, axes: list[Any], reason: str) -> None:
    with pytest.raises(ShapeError, match=reason):
        torch.einsum(equation, *(variable(f"x{number}", each) for number, each in enumerate(axes)))
