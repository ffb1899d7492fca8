"""What TensorBoard reads is what was measured."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]
from torch import nn
from torch.optim import SGD
from torch.optim.lr_scheduler import ExponentialLR

from shaped.trainers import History, fit, supervised

X = torch.linspace(-1, 1, 8).unsqueeze(1)
DATA = [(X, 2 * X)]


def run(folder: Path, epochs: int, checkpoint: Path | None = None, **settings: Any) -> History:
    torch.manual_seed(0)
    return fit(
        nn.Linear(1, 1),
        supervised(nn.MSELoss(), error=lambda output, target: (output - target).abs().mean()),
        DATA,
        validation=DATA,
        epochs=epochs,
        optimizer=partial(SGD, lr=0.1),
        scheduler=lambda o: ExponentialLR(o, 0.5),
        tensorboard=folder,
        checkpoint=checkpoint,
        progress=False,
        **settings,
    )


def logged(folder: Path) -> dict[str, list[tuple[int, float]]]:
    events = EventAccumulator(str(folder))
    events.Reload()
    return {tag: [(one.step, one.value) for one in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def expected(history: History) -> dict[str, list[Any]]:
    pairs = {
        f"{name}/{part}": [
            (epoch.number, pytest.approx(getattr(epoch, part)[name], rel=1e-6))  # written as float32
            for epoch in history
        ]
        for name in ("loss", "error")
        for part in ("training", "validation")
    }
    pairs["learning rate"] = [(epoch.number, pytest.approx(epoch.learning_rate, rel=1e-6)) for epoch in history]
    return pairs


def test_every_value_is_logged_under_its_epoch(tmp_path: Path) -> None:
    history = run(tmp_path / "log", 3)
    assert logged(tmp_path / "log") == expected(history)


def test_an_epoch_can_be_seen_before_the_next_one_begins(tmp_path: Path) -> None:
    seen: list[int] = []

    def look(epoch: Any) -> None:
        seen.append(len(logged(tmp_path / "log").get("loss/training", [])))

    run(tmp_path / "log", 3, on_epoch=look)
    assert seen == [0, 1, 2]


def test_a_resumed_run_hides_what_a_killed_one_logged_after_its_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    run(tmp_path / "log", 2, path)
    kept = path.read_bytes()
    run(tmp_path / "log", 3, path)
    # As if the run had been killed between its log and its checkpoint of the third epoch.
    path.write_bytes(kept)
    history = run(tmp_path / "log", 4, path)
    assert logged(tmp_path / "log") == expected(history)


def test_a_run_that_begins_anew_in_the_same_folder_hides_the_one_before(tmp_path: Path) -> None:
    run(tmp_path / "log", 3)
    history = run(tmp_path / "log", 2)
    assert logged(tmp_path / "log") == expected(history)
