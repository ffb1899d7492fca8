"""A run that was stopped and resumed is the run that was never stopped, to the bit."""

from __future__ import annotations

import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import SGD, Adam, RMSprop
from torch.optim import lr_scheduler as schedules
from torch.utils.data import DataLoader

from shaped.runtime.checkpoint import CheckpointError, load, save
from shaped.trainers import EarlyStop, fit, supervised
from tests.trainers.fitting.runs import Noisy, broken_off, data, run, same

REPOSITORY = Path(__file__).parents[3]
MOMENTUM = partial(SGD, lr=0.1, momentum=0.9, nesterov=True)
SETTINGS: dict[str, dict[str, Any]] = {
    "momentum": {"optimizer": MOMENTUM},
    "Adam": {"optimizer": partial(Adam, lr=0.01, amsgrad=True)},
    "Adam, fused": {"optimizer": partial(Adam, lr=0.01, fused=True)},
    "a step schedule": {"optimizer": MOMENTUM, "scheduler": lambda o: schedules.StepLR(o, 2, gamma=0.5)},
    "a cosine": {"optimizer": RMSprop, "scheduler": lambda o: schedules.CosineAnnealingLR(o, 6)},
    "a plateau": {
        "optimizer": MOMENTUM,
        "scheduler": lambda o: schedules.ReduceLROnPlateau(o, patience=0, threshold=0.2),
    },
    "one cycle": {
        "optimizer": MOMENTUM,
        "scheduler": lambda o: schedules.OneCycleLR(o, 0.1, total_steps=18),
        "scheduler_every": "batch",
    },
    "clipped gradients": {"optimizer": Adam, "clip_norm": 0.1},
}


@pytest.mark.parametrize("own_generator", [False, True], ids=["global generator", "own generator"])
@pytest.mark.parametrize("name", SETTINGS)
def test_three_epochs_and_three_more_are_six_epochs(name: str, own_generator: bool, tmp_path: Path) -> None:
    def part(epochs: int, checkpoint: Path | None, start: int) -> Any:
        generator = torch.Generator().manual_seed(start) if own_generator else None
        return run(epochs, checkpoint, start=start, generator=generator, **SETTINGS[name])

    at_once = part(6, None, start=0)
    # What the resumed run begins with is different in all that is random.
    part(3, tmp_path / "a.pt", start=0)
    resumed = part(6, tmp_path / "a.pt", start=99)
    assert same(resumed, at_once)


class BrokenOffError(Exception):
    """What stops a run in a test."""


def fail() -> None:
    raise BrokenOffError


# An epoch has 3 batches to train on and 3 to validate.
@pytest.mark.parametrize("after", [13, 17], ids=["while it trains", "while it validates"])
def test_a_run_that_fails_in_an_epoch_goes_on_from_the_last_finished_one(after: int, tmp_path: Path) -> None:
    at_once = run(4, optimizer=Adam)
    with pytest.raises(BrokenOffError):
        run(4, tmp_path / "a.pt", optimizer=Adam, wrap=lambda loss: broken_off(loss, after, fail))
    assert same(run(4, tmp_path / "a.pt", optimizer=Adam, start=99), at_once)


def test_a_run_that_is_killed_in_an_epoch_goes_on_from_the_last_finished_one(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.trainers.fitting.killed_run", str(tmp_path / "a.pt")]
    killed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    resumed = run(4, tmp_path / "a.pt", optimizer=Adam, start=99)
    assert [epoch.number for epoch in resumed.history] == [1, 2, 3, 4]
    assert same(resumed, run(4, optimizer=Adam))


def test_an_early_stop_is_the_same_when_the_run_is_resumed(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "optimizer": partial(SGD, lr=0.5, momentum=0.9),
        "early_stop": EarlyStop(patience=3, minimum_change=0.01),
    }
    at_once = run(30, **settings)
    assert at_once.stopped_early
    epochs = len(at_once.history)
    assert 4 < epochs < 30
    # Broken off while it waits for an improvement: how long it waited, and the best weights, are in the file.
    run(epochs - 1, tmp_path / "a.pt", **settings)
    assert same(run(30, tmp_path / "a.pt", start=99, **settings), at_once)
    assert same(run(30, tmp_path / "a.pt", start=99, **settings), at_once), "a run that was over stays over"


def test_what_is_called_after_an_epoch_may_draw_random_numbers(tmp_path: Path) -> None:
    drawing: dict[str, Any] = {"optimizer": Adam, "on_epoch": lambda epoch: torch.rand(1)}
    run(2, tmp_path / "a.pt", **drawing)
    assert same(run(4, tmp_path / "a.pt", start=99, **drawing), run(4, **drawing))


def test_a_seed_is_for_the_start_of_a_run_and_not_for_its_middle(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"optimizer": Adam, "seed": 5}
    at_once = run(4, **settings)
    run(2, tmp_path / "a.pt", **settings)
    assert same(run(4, tmp_path / "a.pt", start=99, **settings), at_once)
    # The weights are drawn before the run; what is drawn in it depends on the seed alone.
    assert same(run(1, **settings).numbers, run(1, start=99, **settings).numbers)
    assert not same(run(1, **settings).numbers, run(1, optimizer=Adam, seed=6).numbers)


def test_more_epochs_than_wanted_are_no_reason_to_train(tmp_path: Path) -> None:
    six = run(6, tmp_path / "a.pt", optimizer=Adam)
    assert same(run(3, tmp_path / "a.pt", optimizer=Adam, start=99), six)


def test_a_run_begins_anew_if_that_is_wanted(tmp_path: Path) -> None:
    run(3, tmp_path / "a.pt", optimizer=Adam)
    anew = run(2, tmp_path / "a.pt", optimizer=Adam, start=4, resume=False)
    assert same(anew, run(2, optimizer=Adam, start=4))
    assert same(run(3, tmp_path / "a.pt", optimizer=Adam), run(3, optimizer=Adam, start=4))


@pytest.mark.parametrize(
    "change, problem",
    [
        ({"scheduler": lambda o: schedules.CosineAnnealingLR(o, 6)}, "scheduler: it is StepLR in the file"),
        ({"scheduler": None}, "scheduler: there is a StepLR in the file, none here"),
        ({"optimizer": MOMENTUM}, "optimizer: it is Adam in the file, SGD here"),
        ({"generator": torch.Generator()}, "the generator of train.generator is missing"),
        (
            {"early_stop": EarlyStop(2, monitor="training loss")},
            "early stop: monitor is 'validation loss' in the file, 'training loss' here",
        ),
    ],
    ids=["another schedule", "no schedule", "another optimizer", "another loader", "another early stop"],
)
def test_another_run_is_not_taken_for_this_one(change: dict[str, Any], problem: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "optimizer": Adam,
        "scheduler": lambda o: schedules.StepLR(o, 2),
        "early_stop": EarlyStop(2),
    }
    run(1, tmp_path / "a.pt", **settings)
    before = (tmp_path / "a.pt").read_bytes()
    with pytest.raises(CheckpointError) as raised:
        run(2, tmp_path / "a.pt", **{**settings, **change})
    assert any(one.startswith(problem) for one in raised.value.problems), raised.value
    assert (tmp_path / "a.pt").read_bytes() == before


def test_settings_of_the_optimizer_that_the_checkpoint_replaces_are_told(tmp_path: Path) -> None:
    def sgd(lr: float, momentum: float) -> Any:
        return lambda parameters: torch.optim.SGD(parameters, lr=lr, momentum=momentum)

    run(1, tmp_path / "a.pt", optimizer=sgd(0.1, 0.5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(2, tmp_path / "a.pt", optimizer=sgd(0.1, 0.5))
    with pytest.warns(
        UserWarning, match=r"with the optimizer's settings in it: lr=0\.1, not 0\.2, momentum=0\.5, not 0;"
    ):
        run(3, tmp_path / "a.pt", optimizer=sgd(0.2, 0))


@pytest.mark.parametrize(
    "schedule",
    [
        lambda o: schedules.StepLR(o, 1, 0.5),
        lambda o: schedules.OneCycleLR(o, 0.2, total_steps=9),
        lambda o: schedules.ReduceLROnPlateau(o, patience=0),
    ],
    ids=["step", "cycle", "plateau"],
)
def test_what_a_schedule_changed_is_no_change_of_settings(schedule: Any, tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "optimizer": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
        "scheduler": schedule,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "OneCycleLR goes through its cycle")
        run(2, tmp_path / "a.pt", **settings)
        run(3, tmp_path / "a.pt", **settings)


def spoil_history(fit_part: dict[str, Any]) -> None:
    fit_part["history"] = [{"number": 1}]


def spoil_best_weights(fit_part: dict[str, Any]) -> None:
    fit_part["early stop"]["best_weights"]["body.0.bias"] = torch.zeros(3)


def spoil_early_stop(fit_part: dict[str, Any]) -> None:
    fit_part["early stop"] = {"best": 1.0}


@pytest.mark.parametrize(
    "spoil, problem",
    [
        (spoil_history, "history: it is no history"),
        (spoil_best_weights, "best weights: body.0.bias is (3,) float32 in the file, (8,) float32 in the model"),
        (spoil_early_stop, "early stop: the file has no state of one"),
    ],
)
def test_a_part_of_fit_that_does_not_fit_leaves_the_model_unchanged(
    spoil: Callable[[dict[str, Any]], None], problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.pt"
    run(1, path, optimizer=Adam, early_stop=EarlyStop(2))
    contents = torch.load(path, weights_only=True)
    spoil(contents["extra"]["fit"])
    torch.save(contents, path)
    model = Noisy()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(CheckpointError) as raised:
        fit(
            model,
            supervised(nn.CrossEntropyLoss()),
            DataLoader(data(), 16),
            validation=DataLoader(data(), 16),
            epochs=2,
            optimizer=Adam,
            early_stop=EarlyStop(2),
            checkpoint=path,
            progress=False,
        )
    assert any(one.startswith(problem) for one in raised.value.problems), raised.value
    assert same(dict(model.state_dict()), before)


def test_a_checkpoint_that_fit_did_not_write_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "a.pt", Noisy())
    with pytest.raises(CheckpointError, match="not one that fit wrote"):
        run(2, tmp_path / "a.pt", optimizer=Adam)


def test_the_weights_of_a_run_can_be_loaded_without_fit(tmp_path: Path) -> None:
    result = run(2, tmp_path / "a.pt", optimizer=Adam)
    model = Noisy()
    load(tmp_path / "a.pt", model)
    assert same(dict(model.state_dict()), dict(result.weights))


class Noise(torch.utils.data.Dataset[Any]):
    """Examples with noise that workers draw."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> Any:
        return torch.rand(4), index % 3


def test_random_numbers_of_workers_are_those_of_the_run_that_was_never_stopped(tmp_path: Path) -> None:
    def losses(epochs: int, checkpoint: Path | None, start: int = 0) -> list[float]:
        torch.manual_seed(0)
        model = nn.Linear(4, 3)
        torch.manual_seed(start)
        loader = DataLoader(Noise(), 4, shuffle=True, num_workers=1)
        loss = supervised(nn.CrossEntropyLoss())
        sgd = partial(SGD, lr=0.1)
        history = fit(model, loss, loader, epochs=epochs, optimizer=sgd, checkpoint=checkpoint, progress=False)
        return history["training loss"]

    losses(1, tmp_path / "a.pt")
    assert losses(2, tmp_path / "a.pt", start=99) == losses(2, None)


class Shuffled(torch.utils.data.Sampler[int]):
    """Shuffles by the number of the epoch, as a sampler for several processes does."""

    epoch = -1

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Any:
        yield from torch.randperm(40, generator=torch.Generator().manual_seed(self.epoch)).tolist()

    def __len__(self) -> int:
        return 40


def test_samplers_are_told_the_number_of_the_epoch(tmp_path: Path) -> None:
    seen: list[int] = []

    def losses(epochs: int, checkpoint: Path | None) -> list[float]:
        torch.manual_seed(0)
        sampler = Shuffled()
        history = fit(
            nn.Linear(4, 3),
            supervised(nn.CrossEntropyLoss()),
            DataLoader(data(), 8, sampler=sampler),
            epochs=epochs,
            optimizer=Adam,
            checkpoint=checkpoint,
            progress=False,
            on_epoch=lambda epoch: seen.append(sampler.epoch),
        )
        return history["training loss"]

    at_once = losses(4, None)
    losses(2, tmp_path / "a.pt")
    assert losses(4, tmp_path / "a.pt") == at_once
    assert seen == [0, 1, 2, 3, 0, 1, 2, 3]
