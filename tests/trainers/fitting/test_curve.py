"""The picture shows the data, and drawing it leaves everything else alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb
from matplotlib.image import imread
from torch import nn

from shaped.trainers import Epoch, History, fit, supervised
from shaped.trainers.fitting import curve as curve_module
from shaped.trainers.fitting.curve import COLOURS, Curve

if TYPE_CHECKING:
    from pathlib import Path


def falling(values: list[float], validation: list[float] | None = None, **metrics: float) -> History:
    """A history of these losses."""
    return History(
        Epoch(number, number, 0.1, {"loss": value, **metrics}, {"loss": validation[number - 1]} if validation else {})
        for number, value in enumerate(values, start=1)
    )


def heights(path: Path, part: str) -> Any:
    """For the columns of the picture that the curve of a part goes through, how far down it is there on average."""
    pixels = imread(path)[..., :3]
    is_line = np.abs(pixels - np.array(to_rgb(COLOURS[part]))).max(axis=2) < 0.05
    columns = np.flatnonzero(is_line.any(axis=0))
    return np.array([np.flatnonzero(is_line[:, column]).mean() for column in columns])


def test_both_curves_are_in_the_picture_and_go_as_the_data_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # It has the colours too, where there is room.
    monkeypatch.setattr("matplotlib.axes.Axes.legend", lambda axes: None)
    path = tmp_path / "a.png"
    losses, other = [4.0, 3.0, 2.0, 1.0, 0.5, 0.2], [1.0, 2.0, 3.0, 3.5, 3.7, 3.9]
    falling(losses, other).plot(path)
    training, validation = heights(path, "training"), heights(path, "validation")
    assert len(training) > 50
    assert len(validation) > 50
    # Down in the picture is down in the loss.
    assert training[-10:].mean() > training[:10].mean() + 50
    assert validation[-10:].mean() < validation[:10].mean() - 50


def test_other_data_are_another_picture(tmp_path: Path) -> None:
    for name, values in (("a", [4.0, 3.0, 2.0]), ("b", [4.0, 1.0, 2.0]), ("c", [4.0, 3.0, 2.0])):
        falling(values).plot(tmp_path / f"{name}.png")
    first, second, third = (imread(tmp_path / f"{name}.png") for name in "abc")
    assert np.array_equal(first, third)
    assert not np.array_equal(first, second)


def test_what_was_not_measured_is_not_drawn(tmp_path: Path) -> None:
    falling([4.0, 3.0, 2.0]).plot(tmp_path / "a.png")
    assert len(heights(tmp_path / "a.png", "training")) > 50
    assert len(heights(tmp_path / "a.png", "validation")) == 0


def test_one_epoch_is_a_point_and_none_is_an_empty_picture(tmp_path: Path) -> None:
    History([Epoch(1, 1, 0.1, {"loss": 1.0})]).plot(tmp_path / "a.png")
    pixels = imread(tmp_path / "a.png")[..., :3]
    assert (np.abs(pixels - np.array(to_rgb(COLOURS["training"]))).max(axis=2) < 0.05).any()
    History().plot(tmp_path / "b.png")
    assert (tmp_path / "b.png").stat().st_size > 0


def test_each_quantity_has_axes_of_its_own(tmp_path: Path) -> None:
    falling([2.0, 1.0]).plot(tmp_path / "a.png")
    falling([2.0, 1.0], accuracy=0.5).plot(tmp_path / "b.png")
    one, two = imread(tmp_path / "a.png"), imread(tmp_path / "b.png")
    assert (two.shape[0], two.shape[1]) == (2 * one.shape[0], one.shape[1])


def test_values_that_are_not_finite_leave_gaps(tmp_path: Path) -> None:
    falling([2.0, float("nan"), 1.0, float("inf"), 0.5]).plot(tmp_path / "a.png")
    assert len(heights(tmp_path / "a.png", "training")) > 0


def test_axes_and_lines_say_what_they_are(tmp_path: Path) -> None:
    with mpl.rc_context({"svg.fonttype": "none"}):
        falling([2.0, 1.0], [2.0, 1.5], accuracy=0.5).plot(tmp_path / "a.svg")
    texts = re.findall(r"<text [^>]*>([a-z]+)</text>", (tmp_path / "a.svg").read_text())
    assert sorted(texts) == ["accuracy", "epoch", "loss", "training", "training", "validation"]


def test_the_name_says_the_format(tmp_path: Path) -> None:
    falling([2.0, 1.0]).plot(tmp_path / "a.svg")
    falling([2.0, 1.0]).plot(tmp_path / "a.pdf")
    assert "<svg" in (tmp_path / "a.svg").read_text()
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


def test_the_callers_backend_and_figures_stay_as_they_are(tmp_path: Path) -> None:
    mine = plt.figure()
    backend, numbers = mpl.get_backend(), plt.get_fignums()
    falling([2.0, 1.0]).plot(tmp_path / "a.png")
    assert mpl.get_backend() == backend
    assert plt.get_fignums() == numbers
    assert plt.gcf() is mine
    plt.close(mine)


def test_a_picture_that_fails_leaves_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.png"
    falling([2.0, 1.0]).plot(path)
    before = path.read_bytes()

    def fail(*arguments: object, **settings: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fail)
    with pytest.raises(OSError, match="no space"):
        falling([2.0, 3.0]).plot(path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["a.png"]


def test_a_picture_is_drawn_as_the_run_goes_but_takes_a_tenth_of_the_time_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, drawn = 0.0, []

    def draw(history: History, path: object) -> None:
        nonlocal now
        now += 0.5
        drawn.append(len(history))

    monkeypatch.setattr(curve_module, "draw", draw)
    monkeypatch.setattr(curve_module.time, "perf_counter", lambda: now)
    history = History()
    picture = Curve(tmp_path / "a.png", history)
    for number in range(1, 11):
        now += 1.0
        history.append(Epoch(number, number, 0.1, {"loss": 1.0}))
        picture.update()
    picture.close()
    picture.close()
    # Each drawing takes half a second, so that it is due again four and a half seconds later.
    assert drawn == [1, 6, 10]


def test_fit_draws_its_curve(tmp_path: Path) -> None:
    torch.manual_seed(0)
    x = torch.randn(8, 2)
    data = [(x, x.sum(1, keepdim=True))]
    loss = supervised(nn.MSELoss())
    settings: dict[str, Any] = {"epochs": 3, "validation": data, "optimizer": torch.optim.Adam, "progress": False}
    history = fit(nn.Linear(2, 1), loss, data, curve=tmp_path / "a.png", **settings)
    history.plot(tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_a_name_without_an_ending_is_a_png(tmp_path: Path) -> None:
    History([Epoch(1, 1, 0.1, {"loss": 0.5})]).plot(tmp_path / "curve")
    assert (tmp_path / "curve").read_bytes().startswith(b"\x89PNG")
    assert [one.name for one in tmp_path.iterdir()] == ["curve"]
