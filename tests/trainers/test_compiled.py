"""A compiled loss: the same numbers, up to what rounding explains."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from shaped.runtime.tlist import TList
from shaped.trainers import ScalarTrainer
from tests.trainers.families import Family, attention, classification, convolution
from tests.trainers.quickstart import NAMES, SAMPLES, adam, loss
from tests.trainers.test_exact import of_gradients, trainer_of


def test_the_graph_gives_the_numbers_of_the_tape() -> None:
    eager, compiled = (ScalarTrainer(loss, names=NAMES, compile=backend) for backend in (False, "aot_eager"))
    for sample in SAMPLES[:4]:
        assert compiled.forward(*sample) == eager.forward(*sample)
        assert compiled.loss_and_backward(*sample) == eager.loss_and_backward(*sample)
        assert compiled.step_with_loss(*sample, lr=0.1) == eager.step_with_loss(*sample, lr=0.1)
    assert compiled.params == eager.params
    assert all(param.is_leaf and param.grad is None for param in compiled.params)


def test_an_optimiser_steps_by_the_gradients_of_the_graph() -> None:
    eager, compiled = (ScalarTrainer(loss, optimizer=adam, compile=backend) for backend in (False, "aot_eager"))
    for sample in SAMPLES[:4]:
        eager.step(*sample)
        compiled.step(*sample)
    assert compiled.params == eager.params


def test_frozen_and_unused_parameters_have_zeros() -> None:
    def of_two(params: Any, inputs: Any) -> Tensor:
        return (params[0] * params[1] * inputs[0]).sum()

    with pytest.warns(UserWarning, match="does not depend on the parameters 2"):
        of = ScalarTrainer(
            of_two,
            [(2,), (2,), (3,)],
            [("b", 2)],
            params=[[1, 2], [3, 4], [5, 6, 7]],
            trainable=[True, False, True],
            compile="aot_eager",
        )
    for b in (1, 2, 3):
        assert of.backward(torch.ones(b, 2)) == TList(b * torch.tensor([3.0, 4.0]), torch.zeros(2), torch.zeros(3))


def test_a_loss_that_branches_on_values_cannot_be_compiled() -> None:
    def branching(params: Any, inputs: Any) -> Tensor:
        return params[0].sum() if inputs[0].sum() > 0 else params[0].prod()

    of = ScalarTrainer(branching, [(2,)], [(2,)], compile="aot_eager")
    with pytest.raises(torch._dynamo.exc.Unsupported, match="Data-dependent branching"):
        of.forward([1.0, 2.0])


@pytest.mark.slow
@pytest.mark.parametrize("family", [attention, classification, convolution], ids=lambda family: family.__name__)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_kernels_of_inductor_stay_within_what_rounding_explains(family: Family, dtype: torch.dtype) -> None:
    problem = family(3, 2, 3)
    values = problem.values(2, dtype)
    of = trainer_of(problem, values[0], dtype, compile=True)
    budgets = of_gradients(of, problem, values, dtype)
    assert not [str(budget) for budget in budgets if budget.rho > 1]
    assert all(budget.compared for budget in budgets)


@pytest.mark.slow
def test_steps_of_inductor_descend() -> None:
    def regression(params: Any, inputs: Any) -> Tensor:
        return F.mse_loss(inputs[0] @ params[0], inputs[1])

    of = ScalarTrainer(regression, [(2, 1)], [("b", 2), ("b", 1)], compile=True)
    x = torch.randn(8, 2)
    y = x @ torch.tensor([[1.0], [-2.0]])
    for _ in range(200):
        of.step(x, y, lr=0.1)
    assert of.forward(x, y) < 1e-6 * of.forward(x, y + 1)
