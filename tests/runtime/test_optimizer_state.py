"""The state of an optimiser is refused as a whole, or loaded as it is."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim import SGD, Adam, AdamW, Optimizer

from shaped.runtime.optimizer_state import OptimizerStateError, load_optimizer_state, optimizer_state_problems
from tests.equality import same

Factory = Callable[[Iterable[nn.Parameter]], Optimizer]
NAN = float("nan")

EVERY_OPTIMIZER: dict[str, Factory] = {
    "SGD": lambda parameters: SGD(parameters, lr=0.1),
    "SGD with momentum": lambda parameters: SGD(parameters, lr=0.1, momentum=0.9, nesterov=True),
    "Adam": lambda parameters: Adam(parameters),
    "Adam with amsgrad": lambda parameters: Adam(parameters, amsgrad=True),
    "Adam, fused": lambda parameters: Adam(parameters, fused=True),
    "Adam with a tensor lr": lambda parameters: Adam(parameters, lr=torch.tensor(0.1), foreach=False),
    "AdamW": lambda parameters: AdamW(parameters),
    "RMSprop": lambda parameters: torch.optim.RMSprop(parameters, momentum=0.9, centered=True),
    "Adagrad": lambda parameters: torch.optim.Adagrad(parameters),
    "Adadelta": lambda parameters: torch.optim.Adadelta(parameters),
    "Adamax": lambda parameters: torch.optim.Adamax(parameters),
    "NAdam": lambda parameters: torch.optim.NAdam(parameters),
    "RAdam": lambda parameters: torch.optim.RAdam(parameters),
    "Rprop": lambda parameters: torch.optim.Rprop(parameters),
    "ASGD": lambda parameters: torch.optim.ASGD(parameters),
    "Adafactor": lambda parameters: torch.optim.Adafactor(parameters),
    "two groups": lambda parameters: Adam(
        [{"params": [one], "lr": 0.1 ** (i + 1)} for i, one in enumerate(parameters)]
    ),
}
ADAM = EVERY_OPTIMIZER["Adam"]


def stepped(factory: Factory, steps: int = 3) -> tuple[nn.Linear, Optimizer]:
    """A model and its optimiser after some steps on gradients that are the weights themselves."""
    torch.manual_seed(0)
    model = nn.Linear(3, 4)
    optimizer = factory(model.parameters())
    for _ in range(steps):
        step(model, optimizer)
    return model, optimizer


def step(model: nn.Module, optimizer: Optimizer) -> None:
    for parameter in model.parameters():
        parameter.grad = parameter.detach().clone()
    optimizer.step()


@pytest.mark.parametrize("name", EVERY_OPTIMIZER)
def test_every_optimizer_of_torch_goes_on_from_its_own_state(name: str) -> None:
    model, optimizer = stepped(EVERY_OPTIMIZER[name])
    resumed = copy.deepcopy(model)
    fresh = EVERY_OPTIMIZER[name](resumed.parameters())
    load_optimizer_state(fresh, optimizer.state_dict())
    step(model, optimizer)
    step(resumed, fresh)
    assert same(model.state_dict(), resumed.state_dict())
    assert same(optimizer.state_dict(), fresh.state_dict())


def test_lbfgs_and_sparse_adam_go_on_from_their_own_states() -> None:
    weight = nn.Parameter(torch.ones(3))

    def closure() -> Tensor:
        weight.grad = weight.detach().clone()
        return (weight * weight).sum() / 2

    lbfgs = torch.optim.LBFGS([weight])
    lbfgs.step(closure)
    assert optimizer_state_problems(lbfgs, lbfgs.state_dict()) == []

    embedding = nn.Embedding(4, 2, sparse=True)
    sparse = torch.optim.SparseAdam(embedding.parameters())
    embedding(torch.tensor([1])).sum().backward()
    sparse.step()
    state = sparse.state_dict()
    assert optimizer_state_problems(sparse, state) == []
    del state["state"][0]["exp_avg"]
    assert optimizer_state_problems(sparse, state) == ["parameter 0 of group 0: exp_avg is missing"]


def with_negative_lr(state: dict[str, Any]) -> None:
    state["param_groups"][0]["lr"] = -0.1


def with_a_fractional_step(state: dict[str, Any]) -> None:
    state["state"][0]["step"] = torch.tensor(2.5)


def with_a_negative_step(state: dict[str, Any]) -> None:
    state["state"][0]["step"] = -1


def with_a_nan_moment(state: dict[str, Any]) -> None:
    state["state"][1]["exp_avg"][2] = NAN


def with_a_negative_second_moment(state: dict[str, Any]) -> None:
    state["state"][1]["exp_avg_sq"][2] = -1e-30


def with_a_moment_of_another_shape(state: dict[str, Any]) -> None:
    state["state"][0]["exp_avg_sq"] = torch.zeros(3, 4)


def with_a_duplicate_id(state: dict[str, Any]) -> None:
    state["param_groups"][0]["params"] = [0, 0]


def with_an_unknown_id(state: dict[str, Any]) -> None:
    state["state"][7] = state["state"][1]


def without_a_moment(state: dict[str, Any]) -> None:
    del state["state"][1]["exp_avg_sq"]


def with_none_for_a_moment(state: dict[str, Any]) -> None:
    state["state"][1]["exp_avg_sq"] = None


def with_a_moment_of_another_dtype(state: dict[str, Any]) -> None:
    state["state"][1]["exp_avg"] = state["state"][1]["exp_avg"].double()


def with_a_beta_of_one(state: dict[str, Any]) -> None:
    state["param_groups"][0]["betas"] = (0.9, 1.0)


def with_one_beta(state: dict[str, Any]) -> None:
    state["param_groups"][0]["betas"] = (0.9,)


def with_a_nan_lr(state: dict[str, Any]) -> None:
    state["param_groups"][0]["lr"] = NAN


def with_an_infinite_lr(state: dict[str, Any]) -> None:
    state["param_groups"][0]["lr"] = float("inf")


def with_a_text_for_lr(state: dict[str, Any]) -> None:
    state["param_groups"][0]["lr"] = "0.1"


def without_lr(state: dict[str, Any]) -> None:
    del state["param_groups"][0]["lr"]


def with_a_group_less(state: dict[str, Any]) -> None:
    state["param_groups"] = []


def with_a_parameter_less(state: dict[str, Any]) -> None:
    state["param_groups"][0]["params"] = [0]
    del state["state"][1]


def with_a_list_for_moments(state: dict[str, Any]) -> None:
    state["state"][0] = []


MALFORMED = {
    with_negative_lr: "group 0: Invalid learning rate: -0.1",
    with_a_fractional_step: "weight: step is 2.5, which is no number of steps",
    with_a_negative_step: "weight: step is -1, which is no number of steps",
    with_a_nan_moment: "bias: exp_avg has NaN",
    with_a_negative_second_moment: "bias: exp_avg_sq has a negative number, where it is a mean or sum of squares",
    with_a_moment_of_another_shape: "weight: exp_avg_sq is (3, 4), not (4, 3)",
    with_a_duplicate_id: "parameter 0 is there 2 times",
    with_an_unknown_id: "there is a state for parameter 7, which is in no group",
    without_a_moment: "bias: exp_avg_sq is missing",
    with_none_for_a_moment: "bias: exp_avg_sq is None, not a tensor",
    with_a_moment_of_another_dtype: "bias: exp_avg is torch.float64, not torch.float32: the parameter is torch.float32",
    with_a_beta_of_one: "group 0: Invalid beta parameter at index 1: 1.0",
    with_one_beta: "group 0: betas is (0.9,), where the optimiser has (0.9, 0.999)",
    with_a_nan_lr: "group 0: lr is NaN",
    with_an_infinite_lr: "group 0: lr is inf",
    with_a_text_for_lr: "group 0: lr is '0.1', where the optimiser has 0.001",
    without_lr: "group 0: lr is missing",
    with_a_group_less: "its groups have no parameters, those of the optimiser 2",
    with_a_parameter_less: "its groups have 1 parameters, those of the optimiser 2",
    with_a_list_for_moments: "the state of parameter 0 is no dict",
}


@pytest.mark.parametrize("spoil", MALFORMED, ids=lambda spoil: spoil.__name__)
def test_a_malformed_state_is_refused_with_the_optimizer_unchanged(spoil: Callable[[dict[str, Any]], None]) -> None:
    model, optimizer = stepped(ADAM)
    names: dict[Tensor, str] = {parameter: name for name, parameter in model.named_parameters()}
    before = copy.deepcopy(optimizer.state_dict())
    other = copy.deepcopy(stepped(ADAM, steps=5)[1].state_dict())
    spoil(other)
    with pytest.raises(OptimizerStateError) as raised:
        load_optimizer_state(optimizer, other, names)
    assert MALFORMED[spoil] in raised.value.problems
    assert same(optimizer.state_dict(), before)


@pytest.mark.parametrize("step", [True, "3", None, float("inf"), NAN, torch.tensor([1.0, 2.0]), torch.tensor(True), 1j])
def test_a_step_is_a_whole_number(step: object) -> None:
    _, optimizer = stepped(ADAM)
    state = copy.deepcopy(optimizer.state_dict())
    state["state"][0]["step"] = step
    (problem,) = optimizer_state_problems(optimizer, state)
    assert problem.startswith("parameter 0 of group 0: step is ")
    assert problem.endswith(", which is no number of steps")


@pytest.mark.parametrize("step", [0, 7, 7.0, torch.tensor(7.0), torch.tensor(7)])
def test_a_step_may_be_a_number_or_a_tensor(step: object) -> None:
    _, optimizer = stepped(ADAM)
    state = copy.deepcopy(optimizer.state_dict())
    state["state"][0]["step"] = step
    assert optimizer_state_problems(optimizer, state) == []


def test_all_problems_are_told_at_once() -> None:
    _, optimizer = stepped(ADAM)
    state = copy.deepcopy(optimizer.state_dict())
    with_a_fractional_step(state)
    with_a_nan_moment(state)
    without_a_moment(state)
    with pytest.raises(OptimizerStateError) as raised:
        load_optimizer_state(optimizer, state)
    assert raised.value.problems == (
        "parameter 0 of group 0: step is 2.5, which is no number of steps",
        "parameter 1 of group 0: exp_avg has NaN",
        "parameter 1 of group 0: exp_avg_sq is missing",
    )


def test_the_state_of_another_optimizer_is_refused() -> None:
    _, momentum = stepped(EVERY_OPTIMIZER["SGD with momentum"])
    _, adam = stepped(ADAM)
    assert "group 0: betas is missing" in optimizer_state_problems(adam, momentum.state_dict())
    assert "group 0: momentum is missing" in optimizer_state_problems(momentum, adam.state_dict())


def test_what_is_no_state_is_refused() -> None:
    _, adam = stepped(ADAM)
    for state in (None, {}, {"state": {}}):
        assert optimizer_state_problems(adam, state) == [
            "it has no `state` and `param_groups`: it was not made by an optimiser's state_dict()"
        ]
    assert optimizer_state_problems(adam, {"state": {}, "param_groups": [{}]}) == [
        "a group of `param_groups` has no list `params`"
    ]


def test_a_parameter_that_never_had_a_gradient_has_no_state() -> None:
    model = nn.Linear(3, 4)
    optimizer = Adam(model.parameters())
    model.weight.grad = torch.ones(4, 3)
    optimizer.step()
    load_optimizer_state(optimizer, optimizer.state_dict())
    load_optimizer_state(optimizer, Adam(model.parameters()).state_dict())
    assert optimizer.state_dict()["state"] == {}


def test_a_schedule_that_was_added_or_taken_away_is_no_difference() -> None:
    _, plain = stepped(ADAM)
    _, scheduled = stepped(ADAM)
    torch.optim.lr_scheduler.StepLR(scheduled, 2)
    assert optimizer_state_problems(plain, scheduled.state_dict()) == []
    assert optimizer_state_problems(scheduled, plain.state_dict()) == []


def test_amsgrad_without_its_maxima_is_refused() -> None:
    _, adam = stepped(ADAM)
    state = copy.deepcopy(adam.state_dict())
    state["param_groups"][0]["amsgrad"] = True
    assert [problem.partition(": ")[2] for problem in optimizer_state_problems(adam, state)] == [
        "max_exp_avg_sq is missing",
        "max_exp_avg_sq is missing",
    ]


class Unusual(Optimizer):
    """Made from other things than its settings, and with a state of its own."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model.parameters(), {"lr": 0.5})

    def step(self, closure: Any = None) -> None:  # type: ignore[override]  # gives no loss
        for parameter in self.param_groups[0]["params"]:
            self.state[parameter]["seen"] = self.state[parameter].get("seen", 0) + 1


def test_an_optimizer_that_cannot_be_made_again_is_judged_by_what_holds_for_all() -> None:
    model = nn.Linear(3, 4)
    optimizer = Unusual(model)
    optimizer.step()
    state = optimizer.state_dict()
    assert optimizer_state_problems(optimizer, state) == []
    state["param_groups"][0]["lr"] = NAN
    assert optimizer_state_problems(optimizer, state) == ["group 0: lr is NaN"]


@pytest.mark.parametrize(
    "make, moment",
    [
        (lambda parameters: Adam(parameters, amsgrad=True), "max_exp_avg_sq"),
        (torch.optim.RMSprop, "square_avg"),
        (torch.optim.Adagrad, "sum"),
        (torch.optim.Adadelta, "acc_delta"),
        (torch.optim.Adamax, "exp_inf"),
        (torch.optim.Adafactor, "row_var"),
    ],
)
def test_no_mean_of_squares_is_negative(make: Factory, moment: str) -> None:
    _, optimizer = stepped(make)
    state = copy.deepcopy(optimizer.state_dict())
    state["state"][0][moment].view(-1)[0] = -1.0
    (problem,) = optimizer_state_problems(optimizer, state)
    assert problem == (f"parameter 0 of group 0: {moment} has a negative number, where it is a mean or sum of squares")


def test_judging_a_state_draws_no_random_numbers_and_leaves_gradients_alone() -> None:
    model, optimizer = stepped(EVERY_OPTIMIZER["Adafactor"])
    gradients = [parameter.grad for parameter in model.parameters()]
    before = torch.get_rng_state()
    optimizer_state_problems(optimizer, optimizer.state_dict())
    assert torch.equal(torch.get_rng_state(), before)
    assert all(parameter.grad is gradient for parameter, gradient in zip(model.parameters(), gradients))
