"""Reading and adding at places that integer tensors say: as torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from shaped.spec.dims import Dim
from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.against_torch import assert_as_torch, assert_backward

SIZES = {"b": 2, "t": 3, "n": 4, "m": 5, "k": 3}


@pytest.mark.parametrize(
    ("program", "axes"),
    [
        (lambda x, i: torch.gather(x, 1, i), ["n m", "int: n 2 < m"]),
        (lambda x, i: torch.gather(x, 0, i), ["n m", "int: 2 m < n"]),
        (lambda x, i: torch.gather(x, 0, i), ["n m", "int: 2 3 < n"]),
        (lambda x, i: torch.take_along_dim(x, i, 1), ["n m", "int: n 1 < m"]),
        (lambda x, i: torch.take_along_dim(x, i), ["n m", "int: b t < n*m"]),
        (lambda x, i: torch.take(x, i), ["n m", "int: b t < n*m"]),
        (lambda x, i: torch.take(x, i - 3), ["n m", "int: b t < 4"]),
        (lambda x, i: torch.take_along_dim(x, i - 2, 1), ["n m", "int: n 1 < m"]),
        (lambda x, i: torch.index_select(x, 1, i), ["n m", "int: k < m"]),
        (lambda x, i: torch.index_select(x, 0, i), ["bool: n m", "int: k < n"]),
    ],
)
def test_reading_is_as_torch(program: Callable[..., Any], axes: list[str]) -> None:
    assert_as_torch(program, *axes, **SIZES)


@pytest.mark.parametrize(
    ("program", "axes"),
    [
        (lambda x, i, s: x.scatter_add(0, i, s), ["n m", "int: k m < n", "k m"]),
        (lambda x, i, s: x.scatter_add(0, i, s), ["n m", "int: 4 2 < n", "6 4"]),
        (lambda x, i, s: x.scatter_reduce(1, i, s, "sum"), ["n m", "int: n k < m", "n k"]),
        (lambda x, i, s: x.index_add(1, i, s, alpha=2), ["n m", "int: k < m", "n k"]),
        (lambda x, i, s: x.index_put((i,), s, accumulate=True), ["n m", "int: k < n", "k m"]),
        (lambda x, i, j, s: x.index_put((i, j), s, accumulate=True), ["n m", "int: k < n", "int: 2 1 < m", "2 k"]),
        (lambda x, i, s: torch.scatter(x, 1, i, s, reduce="add"), ["n m", "int: n k < m", "n k"]),
        (lambda x, i, s: x.put(i, s, accumulate=True), ["n m", "int: k < n*m", "k"]),
        (lambda x, i, s: x.put(i - 2, s, accumulate=True), ["n m", "int: k < 4", "k"]),
    ],
)
def test_adding_is_as_torch_where_places_repeat(program: Callable[..., Any], axes: list[str]) -> None:
    for seed in range(3):
        assert_as_torch(program, *axes, bound=1e-14, seed=seed, **SIZES)


@pytest.mark.parametrize(
    ("program", "axes"),
    [
        (lambda x, i: x.scatter(1, i, 1.0), ["n m", "int: n 2 < m"]),
        (lambda x, i, v: x.scatter(1, i, v), ["n m", "int: n 1 < m", "n 1"]),
        (lambda x, i, v: x.scatter(1, i, v), ["n m", "int: 2 1 < m", "2 1"]),
        (lambda x, i: x.index_fill(1, i, 3.0), ["n m", "int: k < m"]),
        (lambda x: x.index_copy(1, torch.tensor([2, 0]), x[:, :2] * 2), ["n 5"]),
    ],
)
def test_overwriting_is_as_torch_where_the_order_does_not_matter(program: Callable[..., Any], axes: list[str]) -> None:
    assert_as_torch(program, *axes, **SIZES)


def test_tensors_without_axes_are_refused() -> None:
    x, index = variable("x", ()), variable("i", (1,), "int", Dim.of(1))
    for read in (lambda: torch.gather(x, 0, index), lambda: x.index_select(0, index)):  # type: ignore[call-overload]
        with pytest.raises(NotExpressible, match="without axes"):
            read()


def test_overwriting_at_places_that_may_repeat_is_refused() -> None:
    x, index = variable("x", ("n", "m")), variable("i", ("n", "k"), "int", Dim.name("m"))
    with pytest.raises(NotExpressible, match="last write"):
        x.scatter(1, index, variable("s", ("n", "k")))
    with pytest.raises(NotExpressible, match="twice"):
        x.index_copy(1, variable("i", ("k",), "int", Dim.name("m")), variable("s", ("n", "k")))


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("gather", ["n m", 1, "int: n 2 < m"], {}),
        ("index_select", ["n m", 1, "int: k < m"], {}),
        ("scatter_add", ["n m", 0, "int: k m < n", "k m"], {}),
        ("index_add", ["n m", 1, "int: k < m", "n k"], {"alpha": 2}),
    ],
)
def test_the_backwards_are_those_of_torch(name: str, arguments: list[Any], options: dict[str, Any]) -> None:
    assert_backward(name, *arguments, options=options, **SIZES)
