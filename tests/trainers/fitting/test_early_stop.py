"""Stopping when a watched value gets no better."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Literal

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.optim import SGD

from shaped.trainers import EarlyStop, fit
from shaped.trainers.fitting.early_stop import Watch

NAN = math.nan


def watched(values: list[float], rule: EarlyStop) -> tuple[Watch, nn.Linear, int]:
    """A watch that looks at values until it is over, the epoch's number being the model's bias then."""
    watch, model = Watch(rule), nn.Linear(1, 1)
    for number, value in enumerate(values, start=1):
        nn.init.constant_(model.bias, number)
        watch.look(number, {"validation loss": value}, model)
        if watch.is_over:
            return watch, model, number
    return watch, model, len(values)


@pytest.mark.parametrize(
    "values, patience, mode, stopped, best",
    [
        ([3, 2, 1, 0], 1, "min", 4, 4),
        ([3, 2, 2, 1], 1, "min", 3, 2),
        ([3, 2, 4, 1], 2, "min", 4, 4),
        ([3, 2, 4, 5, 1], 2, "min", 4, 2),
        ([3, 2, 4, 5], 1, "max", 2, 1),
        ([1, 2, 3, 3, 3], 2, "max", 5, 3),
        ([NAN, NAN, 1], 2, "min", 2, 0),
        ([NAN, 5, NAN, NAN], 2, "min", 4, 2),
        ([math.inf, 5, 6], 1, "min", 3, 2),
        ([-math.inf, 5, 6], 2, "max", 3, 3),
    ],
)
def test_a_run_stops_after_so_many_epochs_without_an_improvement(
    values: list[float], patience: int, mode: Literal["min", "max"], stopped: int, best: int
) -> None:
    watch, _, number = watched(values, EarlyStop(patience, mode=mode))
    assert (number, watch.best_epoch) == (stopped, best)


def test_a_change_by_no_more_than_the_minimum_is_no_improvement() -> None:
    watch, _, number = watched([4.0, 3.5, 3.5, 2.0], EarlyStop(2, minimum_change=0.5))
    assert (number, watch.best, watch.best_epoch) == (3, 4.0, 1)
    watch, _, number = watched([4.0, 3.4], EarlyStop(1, minimum_change=0.5))
    assert (number, watch.best_epoch) == (2, 2)


@given(st.lists(st.integers(0, 5), min_size=1), st.integers(1, 4))
def test_the_run_stops_when_the_best_of_all_is_as_old_as_the_patience(values: list[int], patience: int) -> None:
    watch, _, number = watched([float(value) for value in values], EarlyStop(patience))
    seen = values[:number]
    assert watch.best == min(seen)
    assert watch.best_epoch == seen.index(min(seen)) + 1
    assert watch.waited == number - watch.best_epoch <= patience
    assert watch.is_over is (watch.waited == patience)
    assert watch.is_over or number == len(values)


def test_the_best_weights_are_put_back() -> None:
    watch, model, _ = watched([3.0, 1.0, 2.0, 2.0], EarlyStop(2))
    watch.restore(model)
    assert model.bias.item() == 2


def test_the_last_weights_are_kept_if_that_is_wanted() -> None:
    watch, model, _ = watched([3.0, 1.0, 2.0, 2.0], EarlyStop(2, restore_best=False))
    watch.restore(model)
    assert model.bias.item() == 4
    assert watch.best_weights == {}


def test_without_any_improvement_the_weights_stay() -> None:
    watch, model, _ = watched([NAN, NAN], EarlyStop(2))
    watch.restore(model)
    assert model.bias.item() == 2


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"patience": 0}, "patience is 0"),
        ({"patience": 1, "minimum_change": -1.0}, "minimum_change is -1.0"),
        ({"patience": 1, "minimum_change": NAN}, "minimum_change is nan"),
        ({"patience": 1, "mode": "least"}, "mode is 'least', not 'min' or 'max'"),
    ],
)
def test_a_rule_that_means_nothing_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EarlyStop(**settings)


@pytest.mark.parametrize("restore_best, expected", [(True, 1.0), (False, 4.0)])
def test_fit_stops_and_gives_the_best_weights(restore_best: bool, expected: float) -> None:
    def loss(model: nn.Linear, batch: Tensor) -> Tensor:
        # The bias grows by 1 each epoch: 1, 2, 3, ... It is best at 1.
        return (model.bias - 1).square().sum() if not model.training else -model.bias.sum()

    model = nn.Linear(1, 1, bias=True)
    nn.init.zeros_(model.bias)
    model.weight.requires_grad_(False)
    data = [torch.zeros(1, 1)]
    rule = EarlyStop(3, restore_best=restore_best)
    sgd = partial(SGD, lr=1.0)
    history = fit(model, loss, data, validation=data, epochs=9, optimizer=sgd, early_stop=rule, progress=False)
    assert history.stopped_early
    assert history["validation loss"] == [0.0, 1.0, 4.0, 9.0]
    assert model.bias.item() == expected


def test_a_run_that_reaches_its_end_has_not_stopped_early_and_has_the_best_weights_too() -> None:
    model = nn.Linear(1, 1)
    nn.init.zeros_(model.bias)
    model.weight.requires_grad_(False)
    data = [torch.zeros(1, 1)]
    rule = EarlyStop(3, monitor="training loss", mode="max")
    sgd = partial(SGD, lr=1.0)
    history = fit(model, lambda m, b: -m.bias.sum(), data, epochs=3, optimizer=sgd, early_stop=rule, progress=False)
    assert not history.stopped_early
    assert history["training loss"] == [0.0, -1.0, -2.0]
    assert model.bias.item() == 1.0  # after the first epoch, whose loss is the largest


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"patience": 2.5}, "patience is 2.5: a whole number is needed"),
        ({"patience": "2"}, "patience is '2': a whole number is needed"),
        ({"patience": 1, "monitor": None}, "monitor is None: a name such as 'validation loss' is needed"),
        ({"patience": 1, "minimum_change": "x"}, "minimum_change is 'x': a number is needed"),
    ],
)
def test_settings_of_another_type_are_errors(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        EarlyStop(**settings)
