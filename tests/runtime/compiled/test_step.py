"""A compiled step is the step that one writes by hand."""

from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import SGD, Adagrad, Adam, AdamW, RMSprop

from shaped.runtime import CannotCompile, checkpoint, compile_step
from tests.runtime.compiled.training import MakesOptimizer, Twins, assert_same, perceptron

OPTIMIZERS: dict[str, MakesOptimizer] = {
    "SGD": lambda p: SGD(p, lr=0.1),
    "SGD, weight decay": lambda p: SGD(p, lr=0.1, weight_decay=0.01),
    "SGD, momentum": lambda p: SGD(p, lr=0.1, momentum=0.9),
    "SGD, damped": lambda p: SGD(p, lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.01),
    "SGD, Nesterov": lambda p: SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "SGD, maximize": lambda p: SGD(p, lr=0.001, momentum=0.9, maximize=True, weight_decay=0.1),
    "Adam": lambda p: Adam(p, lr=0.01),
    "Adam, amsgrad": lambda p: Adam(p, lr=0.01, amsgrad=True, weight_decay=0.1, betas=(0.8, 0.95), eps=1e-6),
    "Adam, maximize": lambda p: Adam(p, lr=0.001, maximize=True),
    "AdamW": lambda p: AdamW(p, lr=0.01, weight_decay=0.1),
    "AdamW, amsgrad": lambda p: AdamW(p, lr=0.01, amsgrad=True, maximize=True),
    "RMSprop": lambda p: RMSprop(p, lr=0.01),
    "RMSprop, centered": lambda p: RMSprop(p, lr=0.01, momentum=0.5, centered=True, weight_decay=0.1),
    "Adagrad": lambda p: Adagrad(p, lr=0.01, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.1),
}


def regression() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(16, 4, generator=generator), torch.randn(16, 1, generator=generator)


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS.keys())
@pytest.mark.parametrize("backend", ["python", "script"])
def test_a_hundred_steps_are_those_of_torch_to_the_bit(make: MakesOptimizer, backend: str) -> None:
    x, y = regression()
    twins = Twins(perceptron(4, 8, 1), nn.MSELoss(), make, (x, y), backend)
    for _ in range(100):
        compiled, by_hand = twins.train(x, y)
        assert torch.equal(compiled, by_hand)
    twins.assert_equal()
    assert twins.step.backend == backend


def test_a_step_is_true_to_state_dict_at_every_step() -> None:
    x, y = regression()
    twins = Twins(perceptron(4, 8, 1), nn.MSELoss(), Adam, (x, y))
    assert twins.optimizer.state_dict()["state"] == {}, "nothing happens before the first step"
    for _ in range(5):
        twins.train(x, y)
        twins.assert_equal()


class Everything(nn.Module):
    """Buffers that change, random numbers, an embedding, a frozen layer, a shared weight."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, 8)
        self.norm = nn.BatchNorm1d(8)
        self.dropout = nn.Dropout(0.5)
        self.frozen = nn.Linear(8, 8).requires_grad_(False)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.head = nn.Linear(8, 10)
        self.head.weight = self.embedding.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        x = x + self.attention(x, x, x, need_weights=False)[0]
        x = self.norm(x.flatten(0, 1)).view_as(x)
        return self.head(self.dropout(F.gelu(self.frozen(x))))


def next_token(model: nn.Module, tokens: Tensor) -> Tensor:
    scores = model(tokens[:, :-1])
    return F.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())


@pytest.mark.parametrize("backend", ["python", "script"])
def test_buffers_random_numbers_and_shared_weights_are_those_of_eager(backend: str) -> None:
    torch.manual_seed(0)
    tokens = torch.randint(0, 10, (4, 7))
    twins = Twins(Everything(), next_token, AdamW, (tokens,), backend)
    for _ in range(20):
        compiled, by_hand = twins.train(tokens)
        assert torch.equal(compiled, by_hand)
    twins.assert_equal()
    assert twins.model.norm.num_batches_tracked == 20


def test_groups_have_settings_of_their_own() -> None:
    x, y = regression()

    def make(parameters: Any) -> AdamW:
        weights, biases = [], []
        for one in parameters:
            (weights if one.dim() > 1 else biases).append(one)
        return AdamW([{"params": weights, "weight_decay": 0.5}, {"params": biases, "weight_decay": 0.0, "lr": 0.1}])

    twins = Twins(perceptron(4, 8, 1), nn.MSELoss(), make, (x, y))
    for _ in range(10):
        twins.train(x, y)
    twins.assert_equal()


def test_a_schedule_counts_from_the_next_step_and_does_not_warn() -> None:
    x, y = regression()
    twins = Twins(perceptron(4, 8, 1), nn.MSELoss(), lambda p: Adam(p, lr=0.1), (x, y))
    both = [torch.optim.lr_scheduler.ExponentialLR(one, 0.5) for one in (twins.optimizer, twins.optimizer_by_hand)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            twins.train(x, y)
            for scheduler in both:
                scheduler.step()
    twins.assert_equal()


@pytest.mark.parametrize(
    "name, value", [("weight_decay", 0.1), ("amsgrad", True), ("betas", (0.5, 0.6)), ("eps", 1e-3)]
)
def test_settings_that_change_between_steps_count(name: str, value: object) -> None:
    x, y = regression()
    twins = Twins(perceptron(4, 8, 1), nn.MSELoss(), Adam, (x, y))
    twins.train(x, y)
    if name == "amsgrad":  # torch itself wants the moment of its own then
        for one in (twins.optimizer, twins.optimizer_by_hand):
            for state in one.state.values():
                state["max_exp_avg_sq"] = state["exp_avg_sq"].clone()
    for optimizer in (twins.optimizer, twins.optimizer_by_hand):
        optimizer.param_groups[0][name] = value
    for _ in range(3):
        twins.train(x, y)
        twins.assert_equal()


def test_a_loaded_state_is_gone_on_from() -> None:
    x, y = regression()
    twins = Twins(perceptron(4, 8, 1), nn.MSELoss(), Adam, (x, y))
    for _ in range(3):
        twins.train(x, y)
    weights = copy.deepcopy(twins.model.state_dict())
    moments = copy.deepcopy(twins.optimizer.state_dict())
    for _ in range(4):
        twins.train(x, y)
    for model, optimizer in ((twins.model, twins.optimizer), (twins.by_hand, twins.optimizer_by_hand)):
        model.load_state_dict(weights)
        optimizer.load_state_dict(copy.deepcopy(moments))
    for _ in range(3):
        twins.train(x, y)
        twins.assert_equal()


@pytest.mark.parametrize("make", [Adam, lambda p: SGD(p, lr=0.1, momentum=0.9, dampening=0.5), Adagrad])
def test_a_step_begins_where_eager_training_stopped_and_the_other_way_round(make: MakesOptimizer) -> None:
    x, y = regression()
    model = perceptron(4, 8, 1)
    optimizer = make(model.parameters())
    twin = copy.deepcopy(model)
    other = make(twin.parameters())

    def by_hand(one: nn.Module, its: torch.optim.Optimizer) -> None:
        its.zero_grad()
        F.mse_loss(one(x), y).backward()
        its.step()

    for _ in range(3):
        by_hand(model, optimizer)
    step = compile_step(model, nn.MSELoss(), optimizer, (x, y), backend="script")
    for _ in range(3):
        step(x, y)
    for _ in range(3):
        by_hand(model, optimizer)
    step(x, y)
    for _ in range(10):
        by_hand(twin, other)
    assert_same(model.state_dict(), twin.state_dict())
    assert_same(optimizer.state_dict(), other.state_dict())


def test_another_shape_gets_a_program_of_its_own() -> None:
    x, y = regression()
    twins = Twins(perceptron(4, 8, 1), nn.MSELoss(), Adam, (x, y))
    for size in (16, 5, 16, 1, 5):
        compiled, by_hand = twins.train(x[:size], y[:size])
        assert torch.equal(compiled, by_hand)
    twins.assert_equal()


def test_what_cannot_be_compiled_for_a_shape_runs_in_eager_with_one_warning() -> None:
    x, y = regression()

    def loss(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
        scale = 1.0 if len(x) == 16 else float(x.abs().mean())  # depends on the values, for other sizes
        return F.mse_loss(model(x), y) * scale

    twins = Twins(perceptron(4, 8, 1), loss, Adam, (x, y))
    twins.train(x, y)
    with pytest.warns(UserWarning, match=r"inputs of the shapes \(5, 4\), \(5, 1\) run in eager: what it does depends"):
        twins.train(x[:5], y[:5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        twins.train(x[:5], y[:5])
        twins.train(x, y)
    twins.assert_equal()


@pytest.mark.parametrize("make", [Adam, lambda p: SGD(p, lr=0.1, momentum=0.9, dampening=0.5)])
def test_eager_may_take_the_very_first_step(make: MakesOptimizer) -> None:
    x, y = regression()

    def loss(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
        scale = 1.0 if len(x) == 16 else float(x.abs().mean())
        return F.mse_loss(model(x), y) * scale

    twins = Twins(perceptron(4, 8, 1), loss, make, (x, y))
    with pytest.warns(UserWarning, match="run in eager"):
        twins.train(x[:5], y[:5])
    for size in (16, 5, 16):
        twins.train(x[:size], y[:size])
    twins.assert_equal()


def test_a_graph_that_was_recorded_before_a_step_is_out_of_date_after_it() -> None:
    x, y = regression()
    twins = Twins(perceptron(4, 8, 1), nn.MSELoss(), Adam, (x, y))
    kept = twins.model(x.requires_grad_()).sum()
    twins.step(x, y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        kept.backward()


def test_gradients_are_those_of_eager() -> None:
    x, y = regression()
    twins = Twins(perceptron(4, 8, 1), nn.MSELoss(), Adam, (x, y))
    twins.train(x, y)
    for name, parameter in twins.by_hand.named_parameters():
        assert torch.equal(twins.step.gradients[name], parameter.grad)
    assert all(parameter.grad is None for parameter in twins.model.parameters())


def test_a_dict_of_loss_and_metrics_comes_back() -> None:
    x, y = regression()

    def loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> dict[str, Tensor]:
        error = model(batch[0]) - batch[1]
        return {"loss": error.square().mean(), "greatest": error.abs().max()}

    model = perceptron(4, 8, 1)
    step = compile_step(model, loss, Adam(model.parameters()), (x, y), backend="script")
    found = step(x, y)
    assert set(found) == {"loss", "greatest"}
    assert not any(one.requires_grad for one in found.values())


def test_results_are_the_callers_to_keep() -> None:
    x, y = regression()
    model = perceptron(4, 8, 1)
    for backend in ("python", "script"):
        step = compile_step(model, nn.MSELoss(), Adam(model.parameters()), (x, y), backend=backend)
        losses = [step(x, y) for _ in range(5)]
        assert len({float(one) for one in losses}) == 5


def test_a_model_that_moves_is_followed() -> None:
    x, y = regression()
    twins = Twins(perceptron(4, 8, 1), nn.MSELoss(), Adam, (x, y))
    twins.train(x, y)
    for model, optimizer in ((twins.model, twins.optimizer), (twins.by_hand, twins.optimizer_by_hand)):
        model.double()
        for state in optimizer.state.values():
            for name in ("exp_avg", "exp_avg_sq"):
                state[name] = state[name].double()
    for _ in range(3):
        twins.train(x.double(), y.double())
    twins.assert_equal()


def test_a_mode_that_changes_counts() -> None:
    x, y = regression()
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    twins = Twins(model, nn.MSELoss(), Adam, (x, y))
    twins.train(x, y)
    twins.model.eval()
    twins.by_hand.eval()
    compiled, by_hand = twins.train(x, y)
    assert torch.equal(compiled, by_hand)
    twins.assert_equal()


def test_a_checkpoint_resumes_to_the_bit(tmp_path: Path) -> None:
    x, y = regression()
    twins = Twins(perceptron(4, 8, 1), nn.MSELoss(), Adam, (x, y))
    for _ in range(3):
        twins.train(x, y)
    checkpoint.save(tmp_path / "run.pt", twins.model, twins.optimizer)
    resumed = perceptron(4, 8, 1)
    adam = Adam(resumed.parameters())
    step = compile_step(resumed, nn.MSELoss(), adam, (x, y), backend="script")
    step(x, y)  # which leaves moments that the checkpoint replaces
    checkpoint.load(tmp_path / "run.pt", resumed, adam)
    for _ in range(3):
        twins.train(x, y)
        step(x, y)
    assert_same(resumed.state_dict(), twins.model.state_dict())
    assert_same(adam.state_dict(), twins.optimizer.state_dict())


def test_a_trained_model_is_an_ordinary_one() -> None:
    x, y = regression()
    twins = Twins(perceptron(4, 8, 1), nn.MSELoss(), Adam, (x, y))
    twins.train(x, y)
    for copied in (copy.deepcopy(twins.model), pickle.loads(pickle.dumps(twins.model))):
        assert_same(copied.state_dict(), twins.by_hand.state_dict())


def test_parameters_without_a_gradient_stay_as_they_are() -> None:
    x, y = regression()
    model = perceptron(4, 8, 1)
    model.register_parameter("unused", nn.Parameter(torch.ones(3)))
    twins = Twins(model, nn.MSELoss(), lambda p: AdamW(p, weight_decay=0.5), (x, y))
    for _ in range(3):
        twins.train(x, y)
    twins.assert_equal()


@pytest.mark.parametrize(
    "make, reason",
    [
        (lambda p: Adam(p, foreach=True), "foreach=True"),
        (lambda p: Adam(p, fused=True), "fused=True"),
        (lambda p: Adam(p, lr=torch.tensor(0.1)), "lr is a tensor"),
        (torch.optim.LBFGS, "LBFGS has no compiled update: SGD, Adam, AdamW, RMSprop, Adagrad have"),
    ],
)
def test_an_optimiser_that_does_something_else_is_refused(make: MakesOptimizer, reason: str) -> None:
    x, y = regression()
    model = perceptron(4, 8, 1)
    with pytest.raises(CannotCompile, match=reason):
        compile_step(model, nn.MSELoss(), make(model.parameters()), (x, y))


def test_an_optimiser_of_another_model_is_an_error_that_says_so() -> None:
    x, y = regression()
    model = perceptron(4, 8, 1)
    with pytest.raises(ValueError, match="4 of the optimizer's parameters are none of the model's"):
        compile_step(model, nn.MSELoss(), Adam(perceptron(4, 8, 1).parameters()), (x, y))


@pytest.mark.parametrize(
    "loss, message",
    [
        (
            lambda model, x, y: (model(x) - y).square(),
            r"the loss has the shape \(16, 1\): a scalar is wanted: loss.mean\(\)\?",
        ),
        (lambda model, x, y: model(x).detach().sum(), "the loss depends on no parameter"),
        (lambda model, x, y: 1.0, "a result is float, no tensor"),
        (lambda model: model, "takes neither"),
    ],
)
def test_what_is_no_loss_is_an_error_that_says_why(loss: Any, message: str) -> None:
    x, y = regression()
    model = perceptron(4, 8, 1)
    with pytest.raises((ValueError, CannotCompile), match=message):
        compile_step(model, loss, Adam(model.parameters()), (x, y))


def test_an_unknown_backend_is_an_error_that_lists_them() -> None:
    x, y = regression()
    model = perceptron(4, 8, 1)
    with pytest.raises(
        ValueError, match="no backend 'fast': write 'auto', 'eager', or one or several of python, script"
    ):
        compile_step(model, nn.MSELoss(), Adam(model.parameters()), (x, y), backend="fast")


def test_a_refused_step_leaves_model_and_optimiser_as_they_were() -> None:
    x, y = regression()
    model = perceptron(4, 8, 1)
    adam = Adam(model.parameters())
    before = copy.deepcopy((model.state_dict(), adam.state_dict()))
    places = [parameter.data_ptr() for parameter in model.parameters()]
    with pytest.raises(CannotCompile):
        compile_step(model, lambda m, x, y: F.mse_loss(m(x), y) * float(x.sum()), adam, (x, y))
    assert_same((model.state_dict(), adam.state_dict()), before)
    assert places == [parameter.data_ptr() for parameter in model.parameters()]
