"""What changes after compiling is followed, or said."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import SGD, Adam

from tests.runtime.compiled.training import Twins, perceptron

x = torch.randn(16, 4, generator=torch.Generator().manual_seed(1))
y = torch.randn(16, 1, generator=torch.Generator().manual_seed(2))
Change = Callable[[Any, Any], object]


def _replace_moments(model: Any, optimizer: Any) -> None:
    for parameter in model.parameters():
        optimizer.state[parameter]["exp_avg"] = torch.zeros_like(parameter)


CHANGES: dict[str, Change] = {
    "a parameter is frozen": lambda model, optimizer: model[0].weight.requires_grad_(False),
    "moments are replaced": _replace_moments,
    "a state is cleared": lambda model, optimizer: optimizer.state.clear(),
    "gradients are dropped": lambda model, optimizer: optimizer.zero_grad(set_to_none=True),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_training_goes_on_as_in_eager_when(change: Change) -> None:
    twins = Twins(perceptron(4, 8, 1), nn.MSELoss(), Adam, (x, y), "script")
    for number in range(5):
        if number == 2:
            change(twins.model, twins.optimizer)
            change(twins.by_hand, twins.optimizer_by_hand)
        twins.train(x, y)
    twins.assert_equal()


def test_a_group_that_is_added_is_trained() -> None:
    twins = Twins(perceptron(4, 8, 1), nn.MSELoss(), lambda given: Adam(list(given)[:2]), (x, y), "script")
    for number in range(5):
        if number == 2:
            for model, optimizer in ((twins.model, twins.optimizer), (twins.by_hand, twins.optimizer_by_hand)):
                optimizer.add_param_group({"params": list(model[2].parameters()), "lr": 0.1})
        twins.train(x, y)
    twins.assert_equal()


def test_eager_steps_before_the_first_compiled_one_count() -> None:
    twins = Twins(perceptron(4, 8, 1), nn.MSELoss(), Adam, (x, y), "script")
    for model, optimizer in ((twins.model, twins.optimizer), (twins.by_hand, twins.optimizer_by_hand)):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    twins.train(x, y)
    twins.assert_equal()


def test_a_first_step_that_fails_is_none() -> None:
    model = nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 1))
    index, target = torch.tensor([1, 2, 3]), torch.zeros(3, 1)
    twins = Twins(model, nn.MSELoss(), lambda p: SGD(p, lr=0.1, momentum=0.9, dampening=0.5), (index, target), "script")
    with pytest.raises(RuntimeError, match="index out of range"):
        twins.step(torch.tensor([1, 2, 99]), target)
    assert twins.optimizer.state_dict()["state"] == {}
    for _ in range(3):
        twins.train(index, target)
    twins.assert_equal()


def test_a_hook_on_steps_that_comes_later_runs() -> None:
    twins = Twins(perceptron(4, 8, 1), nn.MSELoss(), Adam, (x, y), "script")
    twins.train(x, y)
    calls: list[int] = []
    twins.optimizer.register_step_post_hook(lambda *given: calls.append(1))
    with pytest.warns(UserWarning, match="the optimizer has hooks on its steps"):
        twins.train(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        twins.train(x, y)
    assert len(calls) == 2
    twins.assert_equal()


def test_convolutions_with_batch_norms_train_as_in_eager() -> None:
    torch.manual_seed(0)
    body = [nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3)]
    inputs = torch.randn(2, 1, 8, 8), torch.randn(2, 3)
    twins = Twins(nn.Sequential(*body), nn.MSELoss(), Adam, inputs, "script")
    for _ in range(3):
        twins.train(*inputs)
    twins.assert_equal()
