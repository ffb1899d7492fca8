"""Steps are those of torch's optimisers, to the last bit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

from shaped.trainers import ScalarTrainer
from tests.trainers.quickstart import NAMES, SAMPLES, loss

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch.optim import Optimizer

OPTIMIZERS: dict[str, Callable[[Any], Optimizer]] = {
    "sgd": lambda params: torch.optim.SGD(params, lr=0.1),
    "momentum": lambda params: torch.optim.SGD(params, lr=0.1, momentum=0.9, nesterov=True),
    "adam": lambda params: torch.optim.Adam(params, lr=0.03),
    "adamw": lambda params: torch.optim.AdamW(params, lr=0.03, foreach=True),
    "rmsprop": lambda params: torch.optim.RMSprop(params, lr=0.01, centered=True),
    "adagrad": lambda params: torch.optim.Adagrad(params),
    "groups": lambda params: torch.optim.Adam([{"params": params[:2]}, {"params": params[2:], "lr": 0.5}], lr=0.1),
}


def plain_loop(make: Callable[[Any], Optimizer], params: Any, steps: int) -> list[Tensor]:
    own = [param.detach().clone().requires_grad_() for param in params]
    optimizer = make(own)
    for step in range(steps):
        optimizer.zero_grad()
        x, y = SAMPLES[step % len(SAMPLES)]
        loss(own, (torch.tensor(x), torch.tensor(y))).backward()  # type: ignore[arg-type]  # lists do
        optimizer.step()
    return own


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_an_optimiser_gives_the_numbers_of_the_plain_loop(make: Callable[[Any], Optimizer]) -> None:
    of = ScalarTrainer(loss, names=NAMES, optimizer=make)
    expected = plain_loop(make, of.params, 40)
    for step in range(40):
        of.step(*SAMPLES[step % len(SAMPLES)])
    assert all(torch.equal(a, b) for a, b in zip(of.params, expected))
    assert all(param.grad is None for param in of.params)


def test_gradient_descent_gives_the_numbers_of_sgd() -> None:
    of = ScalarTrainer(loss, names=NAMES)
    expected = plain_loop(OPTIMIZERS["sgd"], of.params, 40)
    for step in range(40):
        of.step(*SAMPLES[step % len(SAMPLES)], lr=0.1)
    assert all(torch.equal(a, b) for a, b in zip(of.params, expected))


def test_a_scheduler_changes_the_rate_of_the_optimiser() -> None:
    of = ScalarTrainer(
        lambda params, inputs: params[0] * inputs[0], [()], [()], optimizer=OPTIMIZERS["sgd"], params=[0.0]
    )
    assert of.optimizer is not None
    scheduler = torch.optim.lr_scheduler.StepLR(of.optimizer, 1, gamma=0.5)
    for _ in range(3):
        of.step(1.0)
        scheduler.step()
    assert of.params[0].item() == pytest.approx(-0.175, rel=2**-22)  # three rounded additions


def test_a_rate_beside_an_optimiser_is_refused() -> None:
    of = ScalarTrainer(loss, optimizer=OPTIMIZERS["adam"])
    before = of.params.clone()
    with pytest.raises(ValueError, match=r"step has lr=0.1, but Adam has its own learning rate: leave lr out"):
        of.step(*SAMPLES[0], lr=0.1)
    assert of.params == before


def test_frozen_parameters_are_not_given_to_the_optimiser() -> None:
    of = ScalarTrainer(loss, names=NAMES, trainable=("w2", "b2"), optimizer=OPTIMIZERS["adamw"])
    assert of.optimizer is not None
    held = [param for group in of.optimizer.param_groups for param in group["params"]]
    assert [id(param) for param in held] == [id(param) for param in of.params[2:]]


def test_a_parameter_without_a_gradient_is_skipped_as_in_the_plain_loop() -> None:
    def first(params: Any, inputs: Any) -> Tensor:
        return (params[0] * inputs[0]).sum()

    def make(params: list[Tensor]) -> Optimizer:
        return torch.optim.SGD(params, lr=0.5, weight_decay=0.5)

    with pytest.warns(UserWarning, match="does not depend on the parameters b"):
        of = ScalarTrainer(first, [(1,), (1,)], [(1,)], names="ab", params=[[1.0], [1.0]], optimizer=make)
    of.step([1.0])
    assert [param.item() for param in of.params] == [0.25, 1.0]


def test_an_optimiser_of_other_tensors_is_refused() -> None:
    with pytest.raises(ValueError, match="SGD has 1 tensors that are no trained parameters of this trainer"):
        ScalarTrainer(loss, optimizer=lambda params: torch.optim.SGD([*params, nn.Parameter(torch.ones(1))], lr=0.1))


def test_an_optimiser_that_lacks_a_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="SGD lacks the parameters b2, which would never change"):
        ScalarTrainer(loss, names=NAMES, optimizer=lambda params: torch.optim.SGD(params[:3], lr=0.1))


def test_what_makes_no_optimiser_is_refused() -> None:
    with pytest.raises(TypeError, match="optimizer makes a float"):
        ScalarTrainer(loss, optimizer=lambda params: 0.1)  # type: ignore[arg-type, return-value]  # wrong on purpose


# Optimisers that compute the loss themselves.


def line_search(params: list[Tensor]) -> Optimizer:
    return torch.optim.LBFGS(params, max_iter=5, line_search_fn="strong_wolfe")


def test_lbfgs_gives_the_numbers_of_the_plain_loop() -> None:
    def quadratic(params: Any, inputs: Any) -> Tensor:
        return ((params[0] - inputs[0]) ** 2 * torch.tensor([1.0, 10.0])).sum()

    of = ScalarTrainer(quadratic, [(2,)], [(2,)], params=[[0.0, 0.0]], optimizer=line_search)
    own = [torch.zeros(2, requires_grad=True)]
    optimizer = line_search(own)
    target = torch.tensor([3.0, -1.0])

    def closure() -> float:
        optimizer.zero_grad()
        value = quadratic(own, [target])
        value.backward()
        return value  # type: ignore[return-value]  # torch says float, and takes tensors

    for _ in range(3):
        before = quadratic(own, [target]).detach()
        optimizer.step(closure)
        assert torch.equal(of.step_with_loss(target), before)
    assert torch.equal(of.params[0], own[0])
    assert of.params[0].grad is None


def test_lbfgs_is_undone_if_the_loss_raises_on_the_way() -> None:
    calls = 0

    def raising(params: Any, inputs: Any) -> Tensor:
        nonlocal calls
        calls += not isinstance(params[0], torch._subclasses.FakeTensor)
        if calls == 3:
            raise ArithmeticError
        return ((params[0] - inputs[0]) ** 4).sum()

    of = ScalarTrainer(raising, [(2,)], [(2,)], params=[[1.0, 2.0]], optimizer=line_search)
    with pytest.raises(ArithmeticError):
        of.step([3.0, -1.0])
    assert of.params[0].tolist() == [1.0, 2.0]
    assert of.params[0].grad is None
    assert of.optimizer is not None
    assert not of.optimizer.state_dict()["state"].get(0)
    of.step([3.0, -1.0])
    assert math.isfinite(of.params[0].sum().item())
