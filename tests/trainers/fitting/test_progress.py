"""What a run shows while it runs."""

from __future__ import annotations

import io
import re
import sys
from typing import Any

import pytest
import torch
from torch import nn

from shaped.trainers import Epoch, fit, supervised
from shaped.trainers.fitting.progress import Bar, Lines, Silent, choose


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def run(epochs: int = 2, loss: Any = None, **settings: Any) -> None:
    data = [(torch.ones(2, 1), torch.ones(2, 1))] * 3
    fit(nn.Linear(1, 1), loss or supervised(nn.MSELoss()), data, epochs=epochs, optimizer=torch.optim.Adam, **settings)


LINE = r"epoch {}/2: training loss [\d.e-]+, validation loss [\d.e-]+, \d+\.\d s"


def test_a_run_without_a_terminal_prints_a_line_for_each_epoch(capsys: pytest.CaptureFixture[str]) -> None:
    run(validation=[(torch.ones(1, 1), torch.ones(1, 1))])
    shown = capsys.readouterr()
    assert shown.out == ""
    first, second = shown.err.splitlines()
    assert re.fullmatch(LINE.format(1), first)
    assert re.fullmatch(LINE.format(2), second)


def test_a_silent_run_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    run(progress=False)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_has_a_bar_that_gives_way_to_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    run(validation=[(torch.ones(1, 1), torch.ones(1, 1))])
    text = terminal.getvalue()
    assert re.search(r"epoch 1/2: +0%\|.*\| 0/3", text)
    # What a terminal shows in the end: of a line that was written over, the last writing.
    left = [line.rsplit("\r", 1)[-1].strip() for line in text.split("\n")]
    lines = [line for line in left if line]
    assert len(lines) == 2
    assert all(re.fullmatch(LINE.format(number), line) for number, line in enumerate(lines, start=1))


def test_the_bar_shows_the_mean_loss_so_far() -> None:
    bar = Bar()
    terminal = Terminal()
    stderr, sys.stderr = sys.stderr, terminal
    try:
        bar.begin(1, 2, None)
        bar.batch(0.125)
        bar._bar.refresh()
        bar.close()
    finally:
        sys.stderr = stderr
    assert "training loss 0.125" in terminal.getvalue()
    assert "1batch" in terminal.getvalue()


def test_what_is_shown_is_told_of_epochs_and_of_the_mean_loss_after_each_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[tuple[Any, ...]] = []

    class Told(Silent):
        def begin(self, number: int, epochs: int, batches: int | None) -> None:
            told.append(("begin", number, epochs, batches))

        def batch(self, mean_loss: float) -> None:
            told.append(("batch", mean_loss))

        def end(self, epoch: Epoch, epochs: int) -> None:
            told.append(("end", epoch.number, epochs, epoch.training["loss"]))

        def close(self) -> None:
            told.append(("close",))

    monkeypatch.setattr("shaped.trainers.fitting.loop.choose", lambda wanted: Told())
    calls = 0

    def loss(model: nn.Linear, batch: Any) -> torch.Tensor:
        nonlocal calls
        calls += 1
        return (model.weight.sum() + model.bias.sum()) * 0 + calls

    run(epochs=2, loss=loss)
    first = [("begin", 1, 2, 3), ("batch", 1.0), ("batch", 1.5), ("batch", 2.0), ("end", 1, 2, 2.0)]
    second = [("begin", 2, 2, 3), ("batch", 4.0), ("batch", 4.5), ("batch", 5.0), ("end", 2, 2, 5.0)]
    assert told == [*first, *second, ("close",)]


def test_the_bar_is_closed_when_a_run_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []

    class Watched(Bar):
        def close(self) -> None:
            closed.append(1)
            super().close()

    monkeypatch.setattr("shaped.trainers.fitting.loop.choose", lambda wanted: Watched())
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(ZeroDivisionError):
        run(loss=lambda model, batch: 1 / 0)
    assert closed


def test_the_bar_is_for_terminals_where_tqdm_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert type(choose(True)) is Lines
    assert type(choose(False)) is Silent
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert type(choose(True)) is Bar
    assert type(choose(False)) is Silent
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert type(choose(True)) is Lines
