"""Results are held to bounds, and the sentence says what is wrong."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from shaped.runtime.compiled.rounding import Bounded, compare
from shaped.runtime.compiled.rounding.formats import format_of


def bounded(value: Tensor, bound: Tensor) -> Bounded:
    return Bounded(value.double(), bound.double(), format_of(torch.float32))


EXPECTED = bounded(torch.tensor([1.0, 2.0]), torch.tensor([0.5, 0.25]))


def test_the_worst_entry_is_told() -> None:
    budget = compare(torch.tensor([1.25, 2.5]), EXPECTED, "loss")
    assert (budget.rho, budget.at, budget.compared, budget.unbounded, budget.ok) == (2.0, (1,), 2, 0, False)
    assert str(budget) == "loss[1] is 2.5, and exactly 2.0: 0.5 off, where rounding explains 0.25"


def test_a_result_within_the_bounds_is_told_with_how_near_it_was() -> None:
    budget = compare(torch.tensor([1.25, 2.0]), EXPECTED, "loss")
    assert budget.ok
    assert str(budget) == "loss: at most 0.5 of the error that rounding explains, in 2 entries"


def test_a_scalar_has_no_place() -> None:
    one = bounded(torch.tensor(1.0), torch.tensor(0.5))
    assert str(compare(torch.tensor(3.0), one, "loss")).startswith("loss is 3.0, and exactly 1.0")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_infinitely_far_off(value: float) -> None:
    assert compare(torch.tensor([1.0, value]), EXPECTED).rho == math.inf


def test_an_infinity_that_every_kernel_has_is_right_and_the_other_one_is_not() -> None:
    infinite = bounded(torch.tensor([-math.inf]), torch.tensor([0.0]))
    assert compare(torch.tensor([-math.inf]), infinite).ok
    assert not compare(torch.tensor([math.inf]), infinite).ok
    assert not compare(torch.tensor([-3e38]), infinite).ok


def test_an_exact_entry_has_to_be_equal() -> None:
    exact = bounded(torch.tensor([0.0]), torch.tensor([0.0]))
    assert compare(torch.tensor([-0.0]), exact).ok
    assert compare(torch.tensor([1e-45]), exact).rho == math.inf


def test_entries_without_bound_are_left_out_and_counted() -> None:
    some = bounded(torch.tensor([1.0, 2.0]), torch.tensor([math.inf, 0.25]))
    budget = compare(torch.tensor([math.nan, 2.0]), some)
    assert (budget.ok, budget.compared, budget.unbounded) == (True, 1, 1)


def test_a_comparison_of_nothing_is_not_ok() -> None:
    none = bounded(torch.tensor([1.0]), torch.tensor([math.inf]))
    budget = compare(torch.tensor([1.0]), none, "loss")
    assert not budget.ok
    assert str(budget) == "nothing of loss was compared: rounding may change 1 entries without limit"
    empty = compare(torch.zeros(0), bounded(torch.zeros(0), torch.zeros(0)), "loss")
    assert str(empty) == "nothing of loss was compared: it has no entries"


def test_a_narrower_dtype_adds_its_rounding() -> None:
    third = bounded(torch.tensor([1 / 3]), torch.tensor([1e-9]))
    assert not compare(torch.tensor([1 / 3 + 1e-4]), third).ok
    assert compare(torch.tensor([1 / 3], dtype=torch.bfloat16), third).ok


def test_integers_have_to_be_equal() -> None:
    places = Bounded(torch.tensor([3, 4]), torch.zeros(2, dtype=torch.float64), format_of(torch.int64))
    assert compare(torch.tensor([3, 4]), places).ok
    assert not compare(torch.tensor([3, 5]), places).ok


def test_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"loss has the shape \(1,\), but \(2,\) is expected"):
        compare(torch.zeros(1), EXPECTED, "loss")
