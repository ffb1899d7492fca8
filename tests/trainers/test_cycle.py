"""Loops over samples: which sample, what is logged, how often the loss is computed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from shaped.trainers import ScalarTrainer, mean_loss, train_cycle, train_cycle_sgd

SAMPLES = [[1.0], [2.0], [4.0]]


def square(params: Any, inputs: Any) -> Tensor:
    return (params[0] - inputs[0]) ** 2


def trainer(**options: Any) -> ScalarTrainer[Any, Any]:
    return ScalarTrainer(square, [()], [()], params=[0.0], **options)


def test_samples_are_taken_in_order_round_and_round() -> None:
    seen: list[float] = []

    def noting(params: Any, inputs: Any) -> Tensor:
        if not isinstance(inputs[0], torch._subclasses.FakeTensor):
            seen.append(inputs[0].item())
        return square(params, inputs)

    train_cycle_sgd(ScalarTrainer(noting, [()], [()]), 0.1, 7, SAMPLES, log_every=2, log=lambda line: None)
    assert seen == [1, 2, 4, 1, 2, 4, 1]  # logging computes no loss again


def test_the_loss_before_each_logged_step_is_logged() -> None:
    lines: list[str] = []
    of = trainer()
    train_cycle_sgd(of, 0.25, 5, SAMPLES, log_every=2, log=lines.append)
    # 0 -> 0.5 -> 1.25 -> 2.625 -> 1.8125 -> 1.90625
    assert lines == ["step 0: loss=1.000000", "step 2: loss=7.562500", "step 4: loss=0.035156"]
    assert of.params[0].item() == 1.90625


def test_without_a_period_each_step_is_logged_and_by_0_none(capsys: pytest.CaptureFixture[str]) -> None:
    train_cycle_sgd(trainer(), 0.25, 2, SAMPLES, log_every=0)
    assert capsys.readouterr().out == ""
    train_cycle_sgd(trainer(), 0.25, 2, SAMPLES)
    assert capsys.readouterr().out == "step 0: loss=1.000000\nstep 1: loss=2.250000\n"


def test_logging_changes_no_number() -> None:
    logged, silent = trainer(), trainer()
    train_cycle_sgd(logged, 0.1, 10, SAMPLES, log=lambda line: None)
    train_cycle_sgd(silent, 0.1, 10, SAMPLES, log_every=0)
    assert logged.params == silent.params


def test_no_steps_change_nothing() -> None:
    of = trainer()
    train_cycle_sgd(of, 0.1, 0, SAMPLES)
    assert of.params[0].item() == 0


def test_an_optimiser_has_its_own_rate() -> None:
    of = trainer(optimizer=lambda params: torch.optim.SGD(params, lr=0.25))
    train_cycle(of, 2, iter(SAMPLES), log_every=0)
    assert of.params[0].item() == 1.25
    with pytest.raises(ValueError, match="SGD has its own learning rate: leave lr out"):
        train_cycle_sgd(of, 0.1, 1, SAMPLES)


def test_the_mean_loss_is_a_fold_in_order() -> None:
    large = 2.0**53
    of = ScalarTrainer(lambda params, inputs: params[0] + inputs[0], [()], [()], params=[0.0], dtype=torch.float64)
    assert mean_loss(of, [[large], [1.0], [1.0]]) == large / 3
    assert mean_loss(of, [[1.0], [1.0], [large]]) == (2 + large) / 3
    assert Fraction(mean_loss(trainer(), SAMPLES)) == 7


def test_the_mean_loss_changes_nothing_not_even_a_running_mean_or_the_next_random_number() -> None:
    module = nn.Sequential(nn.BatchNorm1d(2), nn.Dropout(), nn.Linear(2, 1))

    def loss(module: nn.Module, inputs: Any) -> Tensor:
        result: Tensor = module(inputs[0]).square().mean()
        return result

    of = ScalarTrainer.for_module(module, loss, [(4, 2)])
    of.step(torch.randn(4, 2), lr=0.1)
    before = {name: value.clone() for name, value in module.state_dict().items()}
    state = torch.random.get_rng_state()
    mean_loss(of, [[torch.ones(4, 2)], [torch.zeros(4, 2)]])
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert all(param.grad is None for param in module.parameters())


@pytest.mark.parametrize("empty", [[], (), iter([])])
def test_a_dataset_without_samples_is_refused(empty: Any) -> None:
    message = "the dataset has no samples: at least one is needed"
    with pytest.raises(ValueError, match=message):
        mean_loss(trainer(), empty)
    with pytest.raises(ValueError, match=message):
        train_cycle_sgd(trainer(), 0.1, 1, empty)
    with pytest.raises(ValueError, match=message):
        train_cycle_sgd(trainer(), 0.1, 0, empty)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"lr": -1.0}, "lr is -1.0"),
        ({"lr": "fast"}, "lr is 'fast': a finite number"),
        ({"steps": 3.0}, "steps is 3.0: an int"),
        ({"steps": -1}, "steps is -1: an int of 0 or more is needed"),
        ({"log_every": -1}, "log_every is -1: an int of 0 or more is needed"),
    ],
)
def test_wrong_numbers_are_named(options: Any, message: str) -> None:
    of = trainer()
    with pytest.raises(ValueError, match=message):
        train_cycle_sgd(of, **{"lr": 0.1, "steps": 1, "samples": SAMPLES, **options})
    assert of.params[0].item() == 0
