"""Random numbers go on where they were."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from shaped.runtime import random_state


def draws() -> tuple[list[float], float, float, float]:
    return torch.rand(3).tolist(), random.random(), float(np.random.rand()), random.gauss(0, 1)


def test_every_generator_goes_on_where_it_was_captured() -> None:
    draws()
    state = random_state.capture()
    first = draws()
    assert draws() != first
    random_state.restore(state)
    assert draws() == first


def test_a_state_is_plain_data() -> None:
    from shaped.runtime.plain_data import require_plain

    require_plain(random_state.capture(), "state")


@pytest.mark.parametrize(
    "name, value",
    [
        ("torch", torch.zeros(5, dtype=torch.uint8)),
        ("torch", None),
        ("python", (3, torch.tensor([1, 2]), None)),
        ("python", None),
        ("numpy", ("MT19937", torch.tensor([1, 2]), 0, 0, 0.0)),
    ],
)
def test_a_state_that_a_generator_refuses_is_a_problem_and_changes_nothing(name: str, value: object) -> None:
    state = random_state.capture()
    before = draws()
    random_state.restore(state)
    assert [problem.split(" is")[0] for problem in random_state.problems({**state, name: value})] == [
        f"the random state of {name}"
    ]
    assert draws() == before


def test_a_state_that_is_missing_is_a_problem() -> None:
    state = random_state.capture()
    del state["python"]
    assert random_state.problems(state) == ["the random state of python is missing"]
    assert random_state.problems([]) == ["the random state is a list, not a dict"]
