"""Two processes under torchrun train as one does, and fail together: the few runs that tell most, in seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn

from shaped.trainers.fitting.parallel import parallel_of
from tests.equality import same
from tests.trainers.fitting import parallel_runs
from tests.trainers.fitting.launching import TOLERANCE, measured, torchrun
from tests.trainers.fitting.parallel_runs import BRIEF

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("kind", ["DDP", "FSDP"])
def test_two_processes_train_as_one(kind: str, tmp_path: Path) -> None:
    done = torchrun("tests.trainers.fitting.parallel_runs", kind, str(tmp_path), *BRIEF)
    assert done.returncode == 0, done.stderr
    first, second = (torch.load(tmp_path / f"{kind} {rank}.results") for rank in range(2))
    for name, expected in parallel_runs.common("alone", tmp_path, BRIEF).items():
        assert measured(first[name]) == pytest.approx(measured(expected), abs=TOLERANCE), name
        for weight, value in expected["weights"].items():
            assert torch.allclose(first[name]["weights"][weight], value, rtol=0, atol=TOLERANCE), (name, weight)
    for name in BRIEF:
        assert first[name]["history"] == second[name]["history"], name
        assert same(first[name]["weights"], second[name]["weights"]), name
    # Rank 0 has 15 rows in 3 batches, rank 1 has 9 in 2: the accuracy is a number of 24 rows.
    accuracy = first["uneven rows"]["history"][0]["training"]["accuracy"] * 24
    assert accuracy == pytest.approx(round(accuracy), abs=1e-9)


# gloo's threads may abort a process that ends by an error before it has said all; test_parallel.py has
# every way to fail, in the slow tier.
@pytest.mark.slow
def test_where_one_process_fails_the_other_fails_with_it(tmp_path: Path) -> None:
    done = torchrun("tests.trainers.fitting.failing_runs", str(tmp_path), "a loss")
    assert done.returncode == 0, done.stderr
    first, second = (torch.load(tmp_path / f"{rank}.told")["a loss"] for rank in range(2))
    assert (first["error"], first["text"]) == ("RankError", "rank 1 failed: KeyError: 'mine'")
    assert (second["error"], second["text"]) == ("KeyError", "'mine'")


def test_a_plain_model_under_torchrun_is_refused_before_the_process_group_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="there are 2 processes, and each would train its own Linear"):
        parallel_of(nn.Linear(1, 1))
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert parallel_of(nn.Linear(1, 1)).kind == "alone"
