"""The optimisers of torch.optim, used as they are: over loose tensors and over modules, with their state in them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import pytest
import torch
from torch import Tensor, nn
from torch.optim import SGD, Adagrad, Adam, AdamW, Optimizer, RMSprop

from shaped.trainers import ScalarTrainer, fit

Make: TypeAlias = Callable[[Iterable[Tensor]], Optimizer]
OPTIMIZERS: dict[str, Make] = {
    "SGD": lambda parameters: SGD(parameters, lr=0.1),
    "SGD with momentum": lambda parameters: SGD(parameters, lr=0.1, momentum=0.9),
    "Adam": lambda parameters: Adam(parameters, lr=0.1),
    "Adam with amsgrad": lambda parameters: Adam(parameters, lr=0.1, amsgrad=True),
    "AdamW": lambda parameters: AdamW(parameters, lr=0.1, weight_decay=0.1),
    "RMSprop": lambda parameters: RMSprop(parameters, lr=0.1),
    "Adagrad": lambda parameters: Adagrad(parameters, lr=0.1),
}
X, Y = torch.tensor([[1.0, 2.0], [0.5, -1.0]]), torch.tensor([[1.0], [0.0]])
BATCHES = [(X, Y), (X.flip(0), Y), (X * 2, Y)]
each_optimizer = pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)


def loss_of(weight: Tensor, bias: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return (x @ weight.mT + bias - y).square().mean()


def loss_of_module(model: Any, batch: Any) -> Tensor:
    return loss_of(model.weight, model.bias, *batch)


def by_hand(make: Make) -> tuple[list[Tensor], Optimizer]:
    """Three steps over loose tensors by the loop that everybody writes."""
    weight, bias = torch.zeros(1, 2, requires_grad=True), torch.zeros(1, requires_grad=True)
    optimizer = make([weight, bias])
    for x, y in BATCHES:
        optimizer.zero_grad()
        loss_of(weight, bias, x, y).backward()
        optimizer.step()
    return [weight.detach(), bias.detach()], optimizer


def module() -> nn.Linear:
    model = nn.Linear(2, 1)
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    return model


def equal_states(one: Optimizer, other: Optimizer) -> bool:
    """Whether the numbers that two optimisers keep are equal, parameter by parameter."""
    states = [list(optimizer.state_dict()["state"].values()) for optimizer in (one, other)]
    return [sorted(state) for state in states[0]] == [sorted(state) for state in states[1]] and all(
        torch.equal(torch.as_tensor(value), torch.as_tensor(other_state[name]))
        for own_state, other_state in zip(*states, strict=True)
        for name, value in own_state.items()
        if value is not None
    )


@each_optimizer
def test_a_trainer_of_loose_tensors_takes_its_steps(make: Make) -> None:
    made: list[Optimizer] = []

    def optimizer(parameters: list[Tensor]) -> Optimizer:
        made.append(make(parameters))
        return made[-1]

    of = ScalarTrainer(
        lambda params, inputs: loss_of(*params, *inputs), [(1, 2), (1,)], [(2, 2), (2, 1)], optimizer=optimizer
    )
    with torch.no_grad():
        for parameter in of.params:
            parameter.zero_()
    for batch in BATCHES:
        of.step(*batch)
    expected, kept = by_hand(make)
    assert all(torch.equal(own, other) for own, other in zip(of.params, expected, strict=True))
    assert equal_states(made[0], kept)


@each_optimizer
def test_a_trainer_of_a_module_does(make: Make) -> None:
    model = module()
    optimizer = make(model.parameters())
    of = ScalarTrainer.for_module(model, loss_of_module, [(2, 2), (2, 1)], optimizer=optimizer)
    for batch in BATCHES:
        of.step(*batch)
    expected, kept = by_hand(make)
    assert all(torch.equal(own, other) for own, other in zip(model.parameters(), expected, strict=True))
    assert equal_states(optimizer, kept)


@each_optimizer
def test_fit_does(make: Make) -> None:
    model = module()
    optimizer = make(model.parameters())
    fit(model, loss_of_module, BATCHES, epochs=1, optimizer=optimizer)
    expected, kept = by_hand(make)
    assert all(torch.equal(own, other) for own, other in zip(model.parameters(), expected, strict=True))
    assert equal_states(optimizer, kept)


@each_optimizer
def test_the_state_lives_in_the_optimiser_so_that_a_second_fit_goes_on(make: Make) -> None:
    model = module()
    optimizer = make(model.parameters())
    for batch in BATCHES:
        fit(model, loss_of_module, [batch], epochs=1, optimizer=optimizer)
    expected, kept = by_hand(make)
    assert all(torch.equal(own, other) for own, other in zip(model.parameters(), expected, strict=True))
    assert equal_states(optimizer, kept)


def test_its_state_dict_is_all_that_another_one_needs() -> None:
    first, second = module(), module()
    one = Adam(first.parameters(), lr=0.1, amsgrad=True)
    fit(first, loss_of_module, BATCHES[:1], epochs=1, optimizer=one)
    second.load_state_dict(first.state_dict())
    other = Adam(second.parameters(), lr=0.1, amsgrad=True)
    other.load_state_dict(copy.deepcopy(one.state_dict()))
    for model, optimizer in ((first, one), (second, other)):
        fit(model, loss_of_module, BATCHES[1:], epochs=1, optimizer=optimizer)
    assert torch.equal(first.weight, second.weight)


def test_an_optimiser_made_before_the_parameters_were_replaced_is_an_error() -> None:
    model = module()
    optimizer = SGD(model.parameters(), lr=0.1)
    model.weight = nn.Parameter(model.weight.double())  # as .to(dtype) does where it has to make new parameters
    with pytest.raises(ValueError, match="weight"):
        fit(model, loss_of_module, BATCHES, epochs=1, optimizer=optimizer)
