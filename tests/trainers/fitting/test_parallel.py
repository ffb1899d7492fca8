"""Two processes under torchrun train as one does, and fail together: every run of parallel_runs and failing_runs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.equality import same
from tests.trainers.fitting import parallel_runs
from tests.trainers.fitting.launching import TOLERANCE, measured, torchrun
from tests.trainers.fitting.parallel_runs import Results

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow  # half a minute for each kind of model; the fast part is in test_two_processes
KINDS = ["DDP", "FSDP"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("runs")
    parallel_runs.run("alone", 2, checkpoint=made / "one.pt")
    for kind in ("alone", *KINDS):
        shutil.copy(made / "one.pt", made / f"one for {kind}.pt")
    return made


@pytest.fixture(scope="module")
def alone(folder: Path) -> Results:
    return parallel_runs.common("alone", folder)


@pytest.fixture(scope="module")
def launched(folder: Path) -> Callable[[str], tuple[Results, Results, str]]:
    """The results of both processes, and what they wrote on the standard error stream; run once a kind."""
    known: dict[str, tuple[Results, Results, str]] = {}

    def results(kind: str) -> tuple[Results, Results, str]:
        if kind not in known:
            done = torchrun("tests.trainers.fitting.parallel_runs", kind, str(folder))
            assert done.returncode == 0, done.stderr
            first, second = (torch.load(folder / f"{kind} {rank}.results") for rank in range(2))
            known[kind] = (first, second, done.stderr)
        return known[kind]

    return results


@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_come_to_the_loss_and_the_weights_of_one(kind: str, launched: Any, alone: Results) -> None:
    first, _, _ = launched(kind)
    for name, expected in alone.items():
        assert measured(first[name]) == pytest.approx(measured(expected), abs=TOLERANCE), name
        assert first[name]["stopped early"] == expected["stopped early"], name
        for weight, value in expected["weights"].items():
            assert torch.allclose(first[name]["weights"][weight], value, rtol=0, atol=TOLERANCE), (name, weight)
    assert alone["early stop"]["stopped early"]
    assert [epoch["skipped"] for epoch in alone["skipped"]["history"]] == [1, 1, 0]
    assert [(epoch["skipped"], epoch["step"]) for epoch in alone["skipped while gathered"]["history"]] == [(2, 1)]


@pytest.mark.parametrize("kind", KINDS)
def test_all_processes_have_the_same_history_and_weights(kind: str, launched: Any) -> None:
    first, second, _ = launched(kind)
    for name in first:
        if "history" in first[name]:
            assert first[name]["history"] == second[name]["history"], name
            assert same(first[name]["weights"], second[name]["weights"]), name


def test_over_a_distributed_sampler_fit_is_the_loop_over_ddp_that_one_writes_by_hand(launched: Any) -> None:
    first, _, _ = launched("DDP")
    assert same(first["sampled"]["weights"], first["by hand"]["weights"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_run_is_the_run_that_was_never_stopped_with_the_noise_of_every_process(
    kind: str, launched: Any
) -> None:
    first, _, _ = launched(kind)
    assert same(first["noisy, resumed"], first["noisy"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_run_has_the_best_weights_of_before(kind: str, launched: Any) -> None:
    first, _, _ = launched(kind)
    assert same(first["best, resumed"], first["best"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_every_process_numbers_of_its_own(kind: str, launched: Any) -> None:
    first, second, _ = launched(kind)
    drawn = [float(torch.rand(1, generator=torch.Generator().manual_seed(5 + rank))) for rank in range(2)]
    assert [one["seeded"]["drawn"] for one in (first, second)] == drawn


@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_of_several_processes_is_one_of_one_process(kind: str, launched: Any, folder: Path) -> None:
    first, _, _ = launched(kind)
    path = folder / f"{kind}.pt"
    saved = torch.load(path, weights_only=True)
    assert same(dict(saved["model"]), first["plain"]["weights"])
    shutil.copy(path, folder / "went on.pt")
    went_on = parallel_runs.run("alone", 5, validation=parallel_runs.loader(23, 8), checkpoint=folder / "went on.pt")
    expected = parallel_runs.run("alone", 5, validation=parallel_runs.loader(23, 8))
    assert measured(went_on) == pytest.approx(measured(expected), abs=TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
def test_activations_computed_again_change_no_bit(kind: str, launched: Any) -> None:
    first, _, _ = launched(kind)
    assert same(first["recomputed"]["weights"], first["plain"]["weights"])
    assert first["recomputed"]["forward"] in ("Linear", "FSDPLinear")


@pytest.mark.parametrize("kind", KINDS)
def test_bfloat16_is_near_and_not_the_same(kind: str, launched: Any) -> None:
    first, _, _ = launched(kind)
    loss, exact = (first[name]["history"][-1]["training"]["loss"] for name in ("bfloat16", "plain"))
    assert loss != exact
    # 8 bits of significand: a part in 256 of each activation, of which a loss of 0.5 is a mean over 41.
    assert loss == pytest.approx(exact, rel=1 / 64)
    assert {value.dtype for value in first["bfloat16"]["weights"].values()} == {torch.float32}


@pytest.mark.parametrize("kind", KINDS)
def test_rank_0_alone_shows_and_writes(kind: str, launched: Any, folder: Path) -> None:
    _, _, shown = launched(kind)
    assert shown.count("epoch 1/3: ") == 1
    assert (folder / f"{kind} 0.png").exists()
    assert list((folder / f"{kind} log 0").iterdir())
    assert not (folder / f"{kind} 1.png").exists()
    assert not (folder / f"{kind} log 1").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_processes_with_more_rows_of_their_own_than_others_count_them_all(kind: str, launched: Any) -> None:
    first, _, _ = launched(kind)
    # Rank 0 has 15 rows in 3 batches, rank 1 has 9 in 2: the accuracy is a number of 24 rows.
    accuracy = first["uneven rows"]["history"][0]["training"]["accuracy"] * 24
    assert accuracy == pytest.approx(round(accuracy), abs=1e-9)
    assert first["uneven rows"]["history"][0]["step"] == 3


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_batches_for_all_are_warned_of_once_at_the_line_of_the_call(kind: str, launched: Any) -> None:
    first, second, _ = launched(kind)
    ((message, place),) = first["same batches"]["warnings"]
    assert message.startswith("train gives each of 2 processes the same batches: give a DataLoader over examples")
    assert Path(place).name == "parallel_runs.py"
    assert not second["same batches"]["warnings"]


@pytest.fixture(scope="module")
def failed(folder: Path) -> tuple[list[dict[str, Any]], subprocess.CompletedProcess[str]]:
    """What each process was told of each failure, and how the last ended."""
    made = folder / "failures"
    made.mkdir()
    done = torchrun("tests.trainers.fitting.failing_runs", str(made))
    assert (made / "1.told").exists(), done.stderr
    return [torch.load(made / f"{rank}.told") for rank in range(2)], done


@pytest.mark.parametrize(
    "name, own, text, others",
    [
        ("a loss", "KeyError", "'mine'", "rank 1 failed: KeyError: 'mine'"),
        ("a row", "OSError", "row 7 is torn", "rank 1 failed: OSError: row 7 is torn"),
        ("a validation", "KeyError", "'mine'", "rank 1 failed: KeyError: 'mine'"),
        ("a callback", "KeyError", "'mine'", "rank 1 failed: KeyError: 'mine'"),
        ("an interrupt", "KeyboardInterrupt", "", "rank 1 was interrupted"),
    ],
)
def test_where_one_process_fails_the_other_fails_with_it(
    name: str, own: str, text: str, others: str, failed: Any
) -> None:
    (first, second), _ = failed
    assert (second[name]["error"], second[name]["text"]) == (own, text)
    assert first[name]["text"] == others
    if own == "KeyboardInterrupt":
        assert first[name]["notes"] == second[name]["notes"] == ["fit was broken off after 0 of 2 epochs"]
    else:
        assert first[name]["error"] == "RankError"


def test_what_rank_0_cannot_write_is_told_to_the_others(failed: Any) -> None:
    (first, second), _ = failed
    assert first["a file"]["error"] == "FileExistsError"
    assert second["a file"]["text"].startswith("rank 0 failed: FileExistsError: checkpoint: ")


@pytest.mark.parametrize(
    "name, error, text",
    [
        ("not finite", "NotFiniteError", "epoch 1, batch 2: the loss on rank 1 is nan, after 1 updates"),
        ("no batch", "ValueError", "train gives rank 1 no batch, but others some"),
        ("another model", "CheckpointError", "middle.0.weight is missing: (7,) float32"),
        ("a file on rank 0", "ValueError", "a folder that all processes share"),
        ("a model of its own", "ValueError", "there are 2 processes, and each would train its own Net: give fit torch"),
        ("a part", "ValueError", "0 is a DistributedDataParallel in the model: wrap the model as a whole"),
        ("a part sharded", "ValueError", "call fully_shard(model) after its parts"),
        ("an early optimizer", "ValueError", "is no parameter of the model"),
        ("a wrong sampler", "ValueError", "of 3, but this is rank"),
        ("a loader of items", "ValueError", "a DataLoader with batch_size=None cannot be split over 2 processes"),
        ("float16", "ValueError", "precision is 'float16', which trains on CUDA alone, and the model is on cpu"),
        ("none", "", ""),
    ],
)
def test_what_is_wrong_for_all_is_told_to_all(name: str, error: str, text: str, failed: Any) -> None:
    told, _ = failed
    for one in told:
        assert one[name]["error"] == error, one
        assert text in one[name]["text"]


def test_a_process_that_fails_while_the_other_waits_for_its_weights_ends_the_run(failed: Any) -> None:
    _, done = failed
    assert done.returncode not in (0, None)
    assert "KeyError: 'in forward'" in done.stderr
