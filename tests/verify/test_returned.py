"""What a backward returns has the number, shape, kind and precision of the inputs."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from shaped.verify.returned import fault_of_form
from shaped.verify.subject import Outcome, Subject
from shaped.verify.verdict import Level

X = torch.ones(3, dtype=torch.float64)
INDEX = torch.tensor([0, 2])


def forward(x: Tensor, index: Tensor, factor: float) -> Tensor:
    return factor * x[index]


def reason(*returned: Any) -> str | None:
    subject = Subject.of(forward, lambda grad, x, index, factor: None)
    found = fault_of_form(subject, (X, INDEX, 2.0), Outcome((), (), returned))
    return None if found is None else found.reason


@pytest.mark.parametrize("returned", [(X, None, None), (X, None), (None, None, None), (X, INDEX, None)])
def test_one_gradient_for_each_input_or_tensor_is_right(returned: tuple[Any, ...]) -> None:
    assert reason(*returned) is None


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ((X,), "the backward returns 1 gradient for 3 inputs: one for each is wanted"),
        ((X, None, None, X), "the backward returns 4 gradients for 3 inputs: one for each is wanted"),
        ((1.0, None), "the gradient of x is a float, not a tensor"),
        ((torch.ones(4, 3), None), "the gradient of x has shape (4, 3), x has (3,): autograd sums it silently"),
        ((torch.ones(2), None), "the gradient of x has shape (2,), x has (3,)"),
        ((X.to(torch.complex128), None), "the gradient of x is complex128, x is float64"),
        ((INDEX.new_zeros(3), None), "the gradient of x is int64, x is float64"),
        ((X.to("meta"), None), "the gradient of x is on meta, x is on cpu"),
    ],
)
def test_another_form_is_named(returned: tuple[Any, ...], message: str) -> None:
    assert reason(*returned) == message


def test_fewer_digits_are_a_hazard_and_more_are_none() -> None:
    subject = Subject.of(lambda x: x, lambda grad, x: grad)
    found = fault_of_form(subject, (X,), Outcome((), (), (X.float(),)))
    assert found is not None
    assert found.level is Level.HAZARD
    assert found.reason == "the gradient of x is float32, which has fewer digits than x, float64"
    assert fault_of_form(subject, (X.half(),), Outcome((), (), (X.float(),))) is None
