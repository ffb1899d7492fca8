"""Comparisons, logic, choices and cuts mean what torch computes, of masks and infinities too."""

from __future__ import annotations

import math

import pytest
import torch

from shaped.spec.tensor import Tensor, variable
from tests.spec.meanings.three_ways import agree, compare, random, values

X = random(3, 4)
MASK = torch.tensor([[True, False, True, False], [False, True, True, False], [True, True, False, False]])
INFINITE = values(1, math.inf, -math.inf, 0)

COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge", "not_equal", "less", "less_equal", "greater", "greater_equal"]


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_comparison(name: str) -> None:
    compare(f"torch.{name}", values(1, 2, 3), values(2, 2, 2)).values_agree()
    compare(f"torch.{name}", torch.tensor([1, 2, 3]), torch.tensor([2, 2, 2])).values_agree()
    compare(f"torch.{name}", torch.tensor([1, 2, 3]), 2).values_agree()
    compare(f"torch.{name}", values(1, 2, 3), torch.tensor([2, 2, 2])).values_agree()
    compare(f"torch.{name}", MASK, MASK.flip(0)).values_agree()
    compare(f"torch.{name}", MASK, 0).values_agree()


@pytest.mark.parametrize("name", COMPARISONS[:6])
@pytest.mark.parametrize("bound", [math.inf, -math.inf])
def test_a_filled_mask_compares_as_the_infinity_that_it_holds(name: str, bound: float) -> None:
    filled, spec = X.masked_fill(MASK, bound), _filled(bound)
    for other in (0.0, math.inf, -math.inf):
        _agrees(getattr(spec, name)(other), getattr(filled, name)(other))
    _agrees(getattr(spec, name)(spec.amax(1, keepdim=True)), getattr(filled, name)(filled.amax(1, keepdim=True)))


@pytest.mark.parametrize("name", ["isinf", "isfinite", "isneginf", "isposinf"])
def test_infinities_are_found_where_a_mask_put_them(name: str) -> None:
    for bound in (math.inf, -math.inf):
        _agrees(getattr(_filled(bound), name)(), getattr(X.masked_fill(MASK, bound), name)())
        _agrees(getattr(-2 * _filled(bound) + 1, name)(), getattr(-2 * X.masked_fill(MASK, bound) + 1, name)())
        rows = torch.ones_like(MASK).logical_and(MASK[:, :1])
        spec = variable("x", (3, 4)).masked_fill(variable("mask", (3, 4), "bool"), bound).amax(1)
        _agrees(getattr(spec, name)(), getattr(X.masked_fill(rows, bound).amax(1), name)(), mask=rows)


def _filled(bound: float) -> Tensor:
    return variable("x", (3, 4)).masked_fill(variable("mask", (3, 4), "bool"), bound)


def _agrees(found: Tensor, wanted: torch.Tensor, mask: torch.Tensor = MASK) -> None:
    from tests.spec.meanings.three_ways import assert_equal

    assert_equal(found, wanted, {}, {"x": X.numpy(), "mask": mask.numpy()})


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic_takes_numbers_as_whether_they_are_0(name: str) -> None:
    for other in (MASK.flip(0), X.masked_fill(MASK, 0), torch.tensor([0, 1, 2, 0])):
        compare(f"torch.{name}", MASK, other).values_agree()


def test_the_opposite_of_numbers_and_bools() -> None:
    compare("torch.logical_not", MASK).values_agree()
    compare("torch.logical_not", values(0, 1, -2)).values_agree()


def test_closeness() -> None:
    compare("torch.isclose", values(1, 1, 0), values(1 + 1e-9, 1.1, 1e-9)).values_agree()
    compare("torch.isclose", values(1, 1), values(1.05, 1.2), rtol=0.1).values_agree()


def test_a_choice_between_tensors_and_numbers() -> None:
    agree("torch.where", MASK, X, random(4))
    agree("torch.where", MASK, X, 0.0)
    agree("torch.where", MASK, 1.0, X)
    agree("Tensor.where", X, MASK, random(3, 1))
    compare("torch.where", MASK, MASK.flip(0), MASK.flip(1)).values_agree()
    compare("torch.where", MASK, torch.tensor([1, 2, 3, 4]), 0).values_agree()
    compare("torch.where", MASK, torch.complex(X, X), torch.complex(X, -X)).gradients_agree(closed_form=False)


def test_a_masked_fill_keeps_the_kind() -> None:
    agree("torch.masked_fill", X, MASK, 2.5)
    agree("torch.masked_fill", X, MASK, values(2.5)[0])
    compare("torch.masked_fill", torch.tensor([1, 2, 3, 4]), MASK, 0).values_agree()
    compare("torch.masked_fill", X, MASK, -math.inf).gradients_agree()


BOUNDS = [(None, 1), (0, None), (0, 1), (2, 1), (-0.5, 0.5)]


@pytest.mark.parametrize("bounds", BOUNDS)
def test_a_cut_lets_the_gradient_pass_at_its_bounds(bounds: tuple[float | None, float | None]) -> None:
    agree("torch.clamp", values(-1, 0, 0.5, 1, 2, 3), *bounds)


def test_a_cut_by_tensors_gives_them_the_gradient_outside() -> None:
    given = values(0, 1, 2, 3, 0, 5)
    agree("torch.clamp", given, values(1, 1, 2, 3, 2, 1), values(3, 2, 4, 1, 1, 4))
    agree("torch.clamp", given, min=values(1))
    agree("torch.clamp", given, max=values(1))
    agree("torch.clamp_min", given, 1.0)
    agree("torch.clamp_max", given, values(1, 1, 1, 1, 1, 1))


def test_interpolation_and_fused_products() -> None:
    agree("torch.lerp", X, random(3, 4, seed=1), 0.3)
    agree("torch.lerp", X, random(3, 4, seed=1), random(4, seed=2))
    agree("torch.addcmul", X, random(3, 1, seed=1), random(4, seed=2), value=0.5)
    agree("torch.addcdiv", X, random(3, 1, seed=1), random(4, seed=2, low=0.5), value=0.5)


def test_a_sum_to_a_smaller_shape_undoes_a_broadcast() -> None:
    compare("Tensor.sum_to_size", X, 1, 4, symbolic=False).values_agree()
    compare("Tensor.sum_to_size", X, 4, symbolic=False).values_agree()
    compare("Tensor.sum_to_size", X, (3, 1), symbolic=False).values_agree()


def test_a_distance_of_tensors() -> None:
    for p in (1, 2, 3, math.inf):
        agree("torch.dist", X, X.flip(0), p)
