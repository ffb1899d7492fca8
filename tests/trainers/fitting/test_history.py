"""What a run measured, in memory and in files."""

from __future__ import annotations

import csv
import json
import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaped.trainers import Epoch, History

if TYPE_CHECKING:
    from pathlib import Path

TWO = History(
    [
        Epoch(1, 10, 0.1, {"loss": 1.5, "accuracy": 0.25}, {"loss": 2.0}, 0, 1.25),
        Epoch(2, 19, 0.05, {"loss": 0.5, "accuracy": 0.75}, {"loss": math.nan}, 1, 1.5),
    ]
)


def test_values_are_found_by_name_epoch_by_epoch() -> None:
    assert TWO.names == ["training loss", "training accuracy", "validation loss"]
    assert TWO["training accuracy"] == [0.25, 0.75]
    assert [epoch.number for epoch in TWO] == [1, 2]
    assert TWO[-1].values["training loss"] == 0.5
    assert list(TWO[1:]) == [TWO[1]]


def test_histories_are_equal_when_their_epochs_are() -> None:
    assert TWO[:1] == History([TWO[0]])
    assert TWO[:1] != TWO
    assert list(TWO) != TWO


def test_a_name_that_is_not_there_is_an_error_that_names_those_that_are() -> None:
    with pytest.raises(KeyError, match="'accuracy': the history has 'training loss', 'training accuracy'"):
        TWO["accuracy"]
    with pytest.raises(KeyError, match="the history has no epoch"):
        History()["training loss"]


def test_an_epoch_that_lacks_a_value_has_nan_there() -> None:
    history = History([Epoch(1, 1, 0.1, {"loss": 1.0}), Epoch(2, 2, 0.1, {"loss": 1.0, "accuracy": 0.5})])
    first, second = history["training accuracy"]
    assert math.isnan(first)
    assert second == 0.5


def test_a_table_has_a_row_for_each_epoch(tmp_path: Path) -> None:
    TWO.to_csv(tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == ["1", "2"]
    assert rows[0] == {
        "epoch": "1",
        "step": "10",
        "learning rate": "0.1",
        "training loss": "1.5",
        "training accuracy": "0.25",
        "validation loss": "2.0",
        "skipped": "0",
        "seconds": "1.25",
    }


def test_a_table_is_blank_where_there_is_no_value(tmp_path: Path) -> None:
    History([Epoch(1, 1, 0.1, {"loss": 1.0}), Epoch(2, 2, 0.1, {"accuracy": 0.5})]).to_csv(tmp_path / "a.csv")
    rows = (tmp_path / "a.csv").read_text().splitlines()
    assert rows[1:] == ["1,1,0.1,1.0,,0,0.0", "2,2,0.1,,0.5,0,0.0"]


def test_json_is_json_where_values_are_not_finite(tmp_path: Path) -> None:
    TWO.to_json(tmp_path / "a.json")

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    text = (tmp_path / "a.json").read_text()
    first, second = json.loads(text, parse_constant=refuse)["epochs"]
    assert first["training"] == {"loss": 1.5, "accuracy": 0.25}
    assert second["validation"] == {"loss": "nan"}


@given(
    st.lists(
        st.builds(
            Epoch,
            st.integers(1, 100),
            st.integers(0, 10**6),
            st.floats(0, 1),
            st.dictionaries(st.text(max_size=5), st.floats(allow_nan=False), max_size=3),
            st.dictionaries(st.text(max_size=5), st.floats(allow_nan=False), max_size=3),
            st.integers(0, 5),
            st.floats(0, 10),
        ),
        max_size=3,
    )
)
def test_what_json_says_is_the_history(tmp_path_factory: pytest.TempPathFactory, epochs: list[Epoch]) -> None:
    path = tmp_path_factory.getbasetemp() / "history.json"
    History(epochs).to_json(path)
    assert History.from_json(path) == History(epochs)
    assert History.from_state(History(epochs).state()) == History(epochs)


@pytest.mark.parametrize("state", [None, {}, [1], [{"number": 1}], [{**TWO.state()[0], "training": []}]])
def test_what_is_no_history_is_refused(state: object) -> None:
    with pytest.raises(ValueError, match="it is no history"):
        History.from_state(state)


def test_an_epoch_reads_as_a_line() -> None:
    assert str(TWO[0]) == "training loss 1.5, training accuracy 0.25, validation loss 2, 1.2 s"
    assert "1 batch skipped" in str(TWO[1])
