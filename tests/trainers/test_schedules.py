"""Schedules against their formulas and torch's own classes, in a loop of one's own and in `fit`."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.optim import SGD, Adam, Optimizer
from torch.optim import lr_scheduler as torchs
from torch.optim.lr_scheduler import LRScheduler

from shaped.runtime import checkpoint
from shaped.runtime.data import Batches
from shaped.runtime.plain_data import require_plain
from shaped.trainers import ClampedCosine, LinearWarmup, MultiStep, WarmupCosine, fit, supervised

BASES = (0.1, 0.003)  # the rates of two groups
# torch multiplies from step to step, with a rounding or two each: 200 steps of 2^-53.
STEP_BY_STEP = 200 * 2**-52


def optimizer() -> SGD:
    return SGD([{"params": [nn.Parameter(torch.zeros(1))], "lr": base} for base in BASES])


def rates(make: Callable[[Optimizer], LRScheduler], steps: int) -> list[tuple[float, ...]]:
    """The rates of the groups before each of some updates."""
    sgd = optimizer()
    schedule = make(sgd)
    found = []
    for _ in range(steps):
        found.append(tuple(group["lr"] for group in sgd.param_groups))
        sgd.step()
        schedule.step()
    return found


def approximately(wanted: list[tuple[float, ...]]) -> list[Any]:
    return [pytest.approx(one, rel=STEP_BY_STEP, abs=1e-17) for one in wanted]


@given(st.integers(1, 40), st.floats(0, 0.003))
def test_the_cosine_is_its_formula_and_stays(t_max: int, eta_min: float) -> None:
    found = rates(lambda o: ClampedCosine(o, t_max, eta_min), t_max + 10)
    for t, row in enumerate(found):
        for base, rate in zip(BASES, row):
            if t < t_max:
                assert rate == eta_min + (base - eta_min) * (1 + math.cos(math.pi * t / t_max)) / 2
            else:
                assert rate == eta_min


def test_the_cosine_is_torchs_up_to_its_end_where_torchs_rises_again() -> None:
    ours = rates(lambda o: ClampedCosine(o, 20, 0.001), 40)
    theirs = rates(lambda o: torchs.CosineAnnealingLR(o, 20, 0.001), 40)
    assert ours[:21] == approximately(theirs[:21])
    assert ours[30] == (0.001, 0.001)
    assert theirs[30][0] > 0.05


def test_known_rates_of_the_cosine() -> None:
    found = [first for first, _ in rates(lambda o: ClampedCosine(o, 4, 0.002), 6)]
    # cos of 0, 45, 90, 135 and 180 degrees: 1, sqrt(1/2), 0, -sqrt(1/2), -1.
    half = 0.098 * (1 + math.sqrt(0.5)) / 2
    assert found == pytest.approx([0.1, 0.002 + half, 0.051, 0.1 - half, 0.002, 0.002], rel=1e-14)


@given(st.integers(1, 40))
def test_the_warmup_is_its_formula(steps: int) -> None:
    found = rates(lambda o: LinearWarmup(o, steps), steps + 5)
    assert found == [tuple(base * min(1, (t + 1) / steps) for base in BASES) for t in range(steps + 5)]
    assert found[steps - 1] == BASES


@given(st.integers(1, 40))
def test_the_warmup_is_torchs_linear_lr(steps: int) -> None:
    theirs = rates(lambda o: torchs.LinearLR(o, 1 / steps, total_iters=steps - 1), steps + 5)
    assert rates(lambda o: LinearWarmup(o, steps), steps + 5) == approximately(theirs)


@given(st.integers(1, 20), st.integers(1, 30), st.floats(0, 0.003))
def test_warmup_and_cosine_are_torchs_one_after_the_other(warmup: int, rest: int, eta_min: float) -> None:
    def theirs(o: Optimizer) -> LRScheduler:
        parts = [
            torchs.LinearLR(o, 1 / warmup, total_iters=warmup - 1),
            torchs.CosineAnnealingLR(o, rest, eta_min),
        ]
        return torchs.SequentialLR(o, parts, milestones=[warmup])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SequentialLR steps its parts in a way that torch itself warns of
        wanted = rates(theirs, warmup + rest + 1)
    ours = rates(lambda o: WarmupCosine(o, warmup, warmup + rest, eta_min), warmup + rest + 6)
    assert ours[: warmup + rest + 1] == approximately(wanted)
    assert ours[warmup + rest :] == [(eta_min, eta_min)] * 6


@given(st.lists(st.integers(1, 15), max_size=6), st.floats(0.1, 1.5))
def test_milestones_are_torchs_and_one_that_is_there_twice_counts_twice(milestones: list[int], gamma: float) -> None:
    ours = rates(lambda o: MultiStep(o, milestones, gamma), 20)
    assert ours == approximately(rates(lambda o: torchs.MultiStepLR(o, milestones, gamma), 20))
    assert ours == [tuple(base * gamma ** sum(one <= t for one in milestones) for base in BASES) for t in range(20)]


def test_known_rates_of_milestones() -> None:
    assert [first for first, _ in rates(lambda o: MultiStep(o, [4, 2, 4], 0.5), 6)] == [
        0.1,
        0.1,
        0.05,
        0.05,
        0.0125,
        0.0125,
    ]


SCHEDULES: dict[str, Callable[[Any], LRScheduler]] = {
    "cosine": lambda o: ClampedCosine(o, 7, 0.001),
    "warmup": lambda o: LinearWarmup(o, 9),
    "warmup and cosine": lambda o: WarmupCosine(o, 3, 8, 0.001),
    "milestones": lambda o: MultiStep(o, [2, 5, 5], 0.5),
    "torch's steps": lambda o: torchs.StepLR(o, 2, gamma=0.5),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_state_is_plain_data_and_goes_on(name: str, tmp_path: Path) -> None:
    wanted = rates(SCHEDULES[name], 12)
    first, model = optimizer(), nn.Linear(1, 1)
    schedule = SCHEDULES[name](first)
    for _ in range(4):
        first.step()
        schedule.step()
    require_plain(schedule.state_dict(), "schedule")
    checkpoint.save(tmp_path / "a.pt", model, scheduler=schedule)

    second = optimizer()
    again = SCHEDULES[name](second)
    checkpoint.load(tmp_path / "a.pt", model, scheduler=again)
    assert again.get_last_lr() == list(wanted[4])
    if name == "torch's steps":
        return  # which multiplies the optimiser's own rates, so that they have to be loaded as well
    for t in range(5, 12):
        second.step()
        again.step()
        assert tuple(group["lr"] for group in second.param_groups) == wanted[t]


@pytest.mark.parametrize("name", [one for one in SCHEDULES if one != "torch's steps"])
def test_rates_that_are_tensors_stay_the_same_tensors(name: str) -> None:
    rate = torch.tensor(0.1, dtype=torch.float64)
    adam = Adam([nn.Parameter(torch.zeros(1))], lr=rate, foreach=False, capturable=False)
    schedule = SCHEDULES[name](adam)
    wanted = [first for first, _ in rates(SCHEDULES[name], 10)]
    for t in range(10):
        assert adam.param_groups[0]["lr"] is rate
        assert rate.item() == wanted[t]
        adam.step()
        schedule.step()


def test_a_schedule_made_for_a_step_in_the_middle_has_its_rate() -> None:
    sgd = optimizer()
    schedule = ClampedCosine(sgd, 10)
    sgd.step()
    with pytest.warns(UserWarning, match="deprecated"):
        schedule.step(5)
    assert schedule.get_last_lr()[0] == pytest.approx(0.05, rel=1e-15)


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda o: ClampedCosine(o, 0), ValueError, "ClampedCosine: t_max is 0: 1 step or more is needed"),
        (lambda o: ClampedCosine(o, True), ValueError, "ClampedCosine: t_max is True: 1 step or more is needed"),
        (lambda o: ClampedCosine(o, 10.0), TypeError, "ClampedCosine: t_max is 10.0: a whole number of steps"),
        (lambda o: ClampedCosine(o, 10, -0.1), ValueError, "ClampedCosine: eta_min is -0.1: a rate of 0 or more"),
        (lambda o: ClampedCosine(o, 10, math.nan), ValueError, "ClampedCosine: eta_min is nan: a rate of 0 or more"),
        (
            lambda o: ClampedCosine(o, 10, 0.05),
            ValueError,
            "eta_min is 0.05, above the rate of group 1, 0.003: the rate",
        ),
        (lambda o: LinearWarmup(o, -1), ValueError, "LinearWarmup: steps is -1: 1 step or more is needed"),
        (
            lambda o: WarmupCosine(o, 5, 5),
            ValueError,
            "warmup is 5, but t_max, which counts its steps in, is 5: no step",
        ),
        (lambda o: WarmupCosine(o, 0, 5), ValueError, "WarmupCosine: warmup is 0: 1 step or more is needed"),
        (lambda o: WarmupCosine(o, 1, 5, 1), ValueError, "WarmupCosine: eta_min is 1, above the rate of group 0, 0.1"),
        (lambda o: MultiStep(o, [3, 0]), ValueError, "MultiStep: a milestone is 0: 1 step or more is needed"),
        (lambda o: MultiStep(o, [3.5]), TypeError, "MultiStep: a milestone is 3.5: a whole number of steps"),
        (lambda o: MultiStep(o, [3], 0), ValueError, "MultiStep: gamma is 0: a number above 0 is needed"),
        (lambda o: LinearWarmup(nn.Linear(1, 1), 5), TypeError, "Linear is not an Optimizer"),
        (lambda o: ClampedCosine(nn.Linear(1, 1), 5), TypeError, "Linear is not an Optimizer"),
    ],
)
def test_what_is_no_schedule_is_refused_and_the_optimiser_left_alone(
    make: Callable[[Any], LRScheduler], error: type[Exception], message: str
) -> None:
    sgd = optimizer()
    with pytest.raises(error, match=message):
        make(sgd)
    assert [group["lr"] for group in sgd.param_groups] == list(BASES)
    assert not any("initial_lr" in group for group in sgd.param_groups)


def test_a_second_schedule_begins_with_the_groups_own_rates() -> None:
    sgd = optimizer()
    LinearWarmup(sgd, 100)
    ClampedCosine(sgd, 10, 0.002)  # above the rate in the first step of the warmup
    assert [group["lr"] for group in sgd.param_groups] == pytest.approx(list(BASES), rel=1e-15)


# In fit


def fitted(epochs: int, scheduler: Callable[[Any], LRScheduler], saved: Path | None = None, **settings: Any) -> Any:
    torch.manual_seed(0)
    x = torch.randn(12, 3)
    model = nn.Linear(3, 2)
    history = fit(
        model,
        supervised(nn.MSELoss()),
        Batches((x, x[:, :2]), 4, seed=1),
        epochs=epochs,
        optimizer=lambda parameters: Adam([{"params": [one], "lr": base} for one, base in zip(parameters, BASES)]),
        scheduler=scheduler,
        checkpoint=saved,
        progress=False,
        **settings,
    )
    return history, model.state_dict()


@pytest.fixture(params=["epoch", "batch"])
def every(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_resumed_fit_has_the_rates_and_weights_of_one_that_was_never_stopped(
    name: str, every: str, tmp_path: Path
) -> None:
    at_once, weights = fitted(6, SCHEDULES[name], scheduler_every=every)
    fitted(2, SCHEDULES[name], tmp_path / "a.pt", scheduler_every=every)
    resumed, also = fitted(6, SCHEDULES[name], tmp_path / "a.pt", scheduler_every=every)
    assert [one.learning_rate for one in resumed] == [one.learning_rate for one in at_once]
    assert all(torch.equal(also[one], weights[one]) for one in weights)


def test_fit_steps_a_schedule_after_each_batch_or_epoch() -> None:
    # 3 batches an epoch; the rate of an epoch is that of its last update.
    by_batch, _ = fitted(3, lambda o: LinearWarmup(o, 9), scheduler_every="batch")
    assert [one.learning_rate for one in by_batch] == [0.1 * (3 / 9), 0.1 * (6 / 9), 0.1]
    by_epoch, _ = fitted(3, lambda o: LinearWarmup(o, 2))
    assert [one.learning_rate for one in by_epoch] == [0.05, 0.1, 0.1]


def test_a_plateau_is_the_only_schedule_whose_step_takes_a_metric() -> None:
    seen: list[float] = []

    class Plateau(torchs.ReduceLROnPlateau):
        def step(self, metrics: Any, epoch: int | None = None) -> None:
            seen.append(float(metrics))
            super().step(metrics, epoch)

    history, _ = fitted(3, lambda o: Plateau(o, patience=0, threshold=1e9, threshold_mode="abs"))
    assert seen == history["training loss"]
    assert [one.learning_rate for one in history] == pytest.approx([0.1, 0.1, 0.01])
    with pytest.raises(ValueError, match="watches a value of each epoch: it cannot step after each batch"):
        fitted(1, lambda o: Plateau(o), scheduler_every="batch")


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda sgd: MultiStep(sgd, 5), "MultiStep: milestones is 5: a list of steps is needed"),
        (lambda sgd: MultiStep(sgd, [5], gamma="0.1"), "MultiStep: gamma is '0.1': a number is needed"),
        (lambda sgd: ClampedCosine(sgd, 5, eta_min=None), "ClampedCosine: eta_min is None: a number is needed"),
    ],
)
def test_settings_of_another_kind_are_named(make: Callable[[SGD], object], message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        make(SGD([torch.zeros(1)], lr=1.0))
