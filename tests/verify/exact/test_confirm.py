"""Derivatives by finite differences, with an error that holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
import torch
from torch import Tensor

from shaped.verify.exact.confirm import Estimate, contradict, ridders, true_derivative

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    "function, derivative",
    [(math.sin, 1.0), (math.exp, 1.0), (lambda x: (1 + x) ** 3, 3.0), (lambda x: 1 / (2 + x), -0.25)],
)
def test_the_derivative_lies_within_its_error(function: Callable[[float], float], derivative: float) -> None:
    found = ridders(function, 0.1, 1e-16)
    assert abs(found.value - derivative) <= found.error
    assert found.error < 1e-9


def test_an_entry_of_a_gradient() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    found = true_derivative(lambda given: [given[0] ** 2], [x], [torch.tensor([3.0, 5.0])], 0, 1)
    assert found is not None
    assert abs(found.value - 20) <= found.error < 1e-6


def test_the_error_next_to_a_kink_covers_the_derivative() -> None:
    def kink(given: object) -> list[Tensor]:
        (x,) = given  # type: ignore[misc, attr-defined]  # one input
        return [torch.where(x > 1, 7 * x, x)]

    x = torch.tensor([1 + 1e-7, 5.0], dtype=torch.float64)
    found = true_derivative(kink, [x], [torch.ones(2)], 0, 0)
    assert found is None or abs(found.value - 7) <= found.error


def test_estimates_contradict_each_other_only_beyond_their_errors() -> None:
    assert contradict(Estimate(1.0, 1e-9), Estimate(1.001, 1e-9))
    assert not contradict(Estimate(1.0, 1e-3), Estimate(1.001, 1e-9))
    assert not contradict(Estimate(1.0, 1e-9), Estimate(math.nan, math.nan))
