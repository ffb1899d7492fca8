"""A file that is no program says what it is, and no pickle of one that is a program is run."""

from __future__ import annotations

import json
import pickle
import warnings
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from shaped.runtime import checkpoint
from shaped.runtime.exported import ExportedError, export, load_exported
from shaped.runtime.weights import save_weights
from tests.runtime.exported.models import Plain, seeded
from tests.runtime.exported.test_loading import rewritten

if TYPE_CHECKING:
    from pathlib import Path

WEIGHTS = "shaped.runtime.weights.load_weights loads them into a model"


def write_checkpoint(path: Path) -> None:
    checkpoint.save(path, nn.Linear(1, 1))


def write_state(path: Path) -> None:
    save_weights(path.with_suffix(".pt"), nn.Linear(1, 1))
    path.with_suffix(".pt").rename(path)


def write_safetensors(path: Path) -> None:
    save_weights(path.with_suffix(".safetensors"), nn.Linear(1, 1))
    path.with_suffix(".safetensors").rename(path)


def write_model(path: Path) -> None:
    torch.save(nn.Linear(1, 1), path)


def write_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/b.txt", "text")


@pytest.mark.parametrize(
    "write, problem",
    [
        (write_checkpoint, ", but a checkpoint: shaped.runtime.checkpoint.load loads it into a model"),
        (write_state, f", but what torch.save wrote: if it is weights, {WEIGHTS}"),
        (write_safetensors, f", but weights: {WEIGHTS}"),
        (write_model, ": it holds more than plain data (a whole model?), which is loaded only by running its code"),
        (write_zip, ", or not all of one"),
        (lambda path: path.write_text("text"), ", or not all of one"),
        (lambda path: path.write_bytes(b""), ", or not all of one"),
    ],
)
@pytest.mark.parametrize("name", ["a.pt2", "a.pth"])
def test_a_file_that_is_no_program_says_what_it_is(write: Any, problem: str, name: str, tmp_path: Path) -> None:
    write(tmp_path / name)
    with pytest.raises(ExportedError) as raised:
        load_exported(tmp_path / name)
    assert raised.value.problems == (f"it is neither an exported nor a scripted model{problem}",)


def test_a_missing_file_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_exported(tmp_path / "a.pt2")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "a.pt2"
    export(path, seeded(Plain), torch.ones(2, 4), torch.ones(2, 3))
    return path


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.trace(seeded(Plain), (torch.ones(2, 4), torch.ones(2, 3))), tmp_path / "a.pt")
    return tmp_path / "a.pt"


@pytest.mark.parametrize("kind", ["program", "traced"])
def test_a_program_that_was_cut_off_is_refused(kind: str, request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue(kind)
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(ExportedError, match="or not all of one"):
        load_exported(path)


@pytest.mark.parametrize("kind", ["program", "traced"])
def test_a_program_with_one_wrong_bit_is_refused(kind: str, request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue(kind)
    contents = bytearray(path.read_bytes())
    contents[contents.index(seeded(Plain).linear.weight.detach().numpy().tobytes())] ^= 1
    path.write_bytes(contents)
    with pytest.raises(ExportedError, match=r"it is damaged: the checksum of .* is wrong"):
        load_exported(path)


def test_a_program_without_one_of_its_parts_is_refused(program: Path) -> None:
    rewritten(program, {"models/model.json": b"{}"})
    with pytest.raises(ExportedError, match="torch cannot load the program"):
        load_exported(program)


class Intruder:
    """Code that a file would run when it is loaded the unsafe way."""

    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("the intruder was here",)


def saved(value: object, path: Path) -> bytes:
    torch.save(value, path)
    return path.read_bytes()


def config(name: str, **entry: object) -> dict[str, bytes]:
    """The table of weights or constants with one entry."""
    return {f"data/{name}/model_{name}_config.json": json.dumps({"config": {"thing": entry}}).encode()}


@pytest.mark.parametrize("place", ["samples", "weights", "constants", "old weights", "object", "opaque"])
def test_no_pickle_of_a_program_is_run(place: str, program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bad = saved(Intruder(), program.with_name("intruder.pt"))
    changes: dict[str, dict[str, bytes]] = {
        "samples": {"data/sample_inputs/model.pt": bad},
        "old weights": {"data/weights/model.pt": bad},
        "weights": {"data/weights/w": bad, **config("weights", path_name="w", use_pickle=True)},
        "constants": {"data/constants/tensor_0": bad, **config("constants", path_name="tensor_0", use_pickle=True)},
        "object": {"data/constants/custom_obj_0": bad, **config("constants", path_name="custom_obj_0")},
        "opaque": {
            "data/constants/opaque_obj_0": pickle.dumps(Intruder()),
            **config("constants", path_name="opaque_obj_0", use_pickle=True),
        },
    }
    rewritten(program, changes[place])
    with pytest.raises(ExportedError, match="which is loaded only by running its code"):
        load_exported(program)
    assert "intruder" not in "".join(capfd.readouterr())


def test_compiled_code_in_a_program_is_not_run(program: Path) -> None:
    rewritten(program, {"data/aotinductor/model/model.so": b"\x7fELF"})
    with pytest.raises(ExportedError, match="it holds compiled code"):
        load_exported(program)


def test_the_format_before_torch_2_8_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.pt2", "w") as archive:
        archive.writestr("version", "8.8")
        archive.writestr("serialized_exported_program.json", "{}")
    with pytest.raises(ExportedError, match=r"written by a torch before 2\.8, in a format that is pickles: export it"):
        load_exported(tmp_path / "a.pt2")
