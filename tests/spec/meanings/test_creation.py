"""Tensors of given entries: as torch, for symbolic sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from shaped.spec.calls import call_named
from shaped.spec.dims import Dim
from shaped.spec.tensor import NotExpressible, Tensor, variable
from tests.spec.meanings.against_torch import assert_as_torch

SIZES = {"n": 3, "m": 4}


@pytest.mark.parametrize(
    "program",
    [
        lambda x: torch.zeros_like(x),
        lambda x: torch.ones_like(x, dtype=torch.bool),
        lambda x: torch.full_like(x, 0.5),
        lambda x, n: x.new_zeros(n, 2),
        lambda x, n: x.new_ones((n, 2), dtype=torch.int64),
        lambda x, n, m: x.new_full((m, n), 2.0),
        lambda x: x.new_tensor([1.0, 2.0]),
        lambda x: x * torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)[:1],
    ],
)
def test_tensors_made_from_others_are_those_of_torch(program: Callable[..., Any]) -> None:
    assert_as_torch(program, "n m", **SIZES)


@pytest.mark.parametrize(
    ("program", "bound"),
    [
        (lambda n, m: torch.arange(n)[:, None] + torch.arange(m), 0),
        (lambda n: torch.arange(1, n + 1, 2), 0),
        (lambda n: torch.arange(n, 0, -1), 0),
        (lambda n: torch.arange(n, dtype=torch.float64), 0),
        (lambda n, m: torch.eye(n, m, dtype=torch.float64), 0),
        (lambda n: torch.linspace(0, 1, n, dtype=torch.float64), 1e-15),
        (lambda n: torch.full((n,), 7), 0),
        (lambda n: torch.full((n, 2), True), 0),
    ],
)
def test_tensors_of_symbolic_sizes_are_those_of_torch(program: Callable[..., Any], bound: float) -> None:
    assert_as_torch(program, bound=bound, **SIZES)


def test_unset_memory_may_hold_anything() -> None:
    x = variable("x", ("n",))
    first, second = torch.empty_like(x), torch.empty_like(x)  # type: ignore[call-overload]  # a spec tensor
    assert first.body is not second.body

    def program(x: Any) -> Any:
        made = torch.empty_like(x)
        made[:] = x
        made[0] = 1
        return made

    assert_as_torch(program, "n m", **SIZES)


def test_places_can_be_used_as_indices() -> None:
    places = call_named("torch.arange", (Dim.name("n"),), {})
    assert places.kind == "int"
    assert places.whole_at(Dim.of(2)) == 2


@pytest.mark.parametrize(
    ("bounds", "count"), [((0.0, 1.0, 0.25), 4), ((0, 2.5), 3), ((5,), 5), ((2, 8, 3), 2), ((0.1, -7.9, -4.0), 2)]
)
def test_places_between_numbers_are_as_many_as_torch_has(bounds: tuple[float, ...], count: int) -> None:
    assert call_named("torch.arange", bounds, {}).sizes == (Dim.of(count),)
    assert len(torch.arange(*bounds)) == count


@pytest.mark.parametrize(
    "program", [lambda x: x.double(), lambda x: x.bool(), lambda x: x.to(torch.float64), lambda x: x.long()]
)
@pytest.mark.parametrize("kind", ["int", "bool"])
def test_conversions_are_those_of_torch(program: Callable[..., Any], kind: str) -> None:
    assert_as_torch(program, f"{kind}: n m", **SIZES)


def test_floats_become_ints_only_where_they_are_whole() -> None:
    x = variable("x", ("n",))
    with pytest.raises(NotExpressible):
        x.long()
    assert (x.new_zeros(2) + 3).new_ones(2).long().kind == "int"
    assert_as_torch(lambda i: i.double().long(), "int: n < m", **SIZES)


def test_numbers_of_a_narrower_float_dtype_are_the_same_numbers() -> None:
    x = variable("x", ("n",))
    assert x.half().float().to(torch.bfloat16).body is x.body


def test_a_detached_float_has_no_expression() -> None:
    with pytest.raises(NotExpressible, match="detach"):
        variable("x", ("n",)).detach()
    kept: Tensor = variable("i", ("n",), "int").detach()
    assert kept.kind == "int"
