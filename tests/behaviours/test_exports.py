"""Models as programs: they run again without their Python code, and check what they are given."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import torch
from jaxtyping import Float
from torch import Tensor, nn

from shaped.errors import Fault
from shaped.runtime import checkpoint
from shaped.runtime.exported import ExportedError, export, load_exported


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(4, 2)

    def forward(self, x: Float[Tensor, "batch 4"]) -> Float[Tensor, "batch 2"]:
        y: Tensor = self.body(x).relu()
        return y


@pytest.fixture(scope="module")
def net() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


@pytest.fixture(scope="module")
def exported(net: nn.Module, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exports") / "net.pt2"
    export(path, net, torch.ones(3, 4))
    return path


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scripts") / "layer.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of torch.jit: there are such files
        torch.jit.save(torch.jit.script(nn.Linear(4, 2).eval()), path)
    return path


def test_an_exported_model_gives_the_same_numbers_for_any_size_of_the_batch(net: nn.Module, exported: Path) -> None:
    loaded = load_exported(exported)
    for batch in (1, 3, 7):
        x = torch.randn(batch, 4)
        assert torch.equal(loaded(x), net(x))


@pytest.mark.parametrize(
    "x", [torch.ones(3, 5), torch.ones(4), torch.ones(3, 4, dtype=torch.float64), torch.ones(3, 4, dtype=torch.int64)]
)
def test_its_declared_signature_is_checked(exported: Path, x: Tensor) -> None:
    with pytest.raises(Fault, match=r"\bx\b"):
        load_exported(exported)(x)


def test_a_scripted_model_runs_again_and_is_checked_too(scripted: Path) -> None:
    loaded = load_exported(scripted, {"input": Float[Tensor, "batch 4"], "return": Float[Tensor, "batch 2"]})
    assert loaded(torch.ones(3, 4)).shape == (3, 2)
    with pytest.raises(Fault, match="input"):
        loaded(torch.ones(3, 5))


def test_a_file_that_is_neither_is_an_error_that_names_it(tmp_path: Path) -> None:
    text = tmp_path / "notes.pt2"
    text.write_text("no program")
    checkpoint.save(tmp_path / "run.pt", nn.Linear(1, 1))
    torch.save(nn.Linear(1, 1).state_dict(), tmp_path / "weights.pt")
    for path in (text, tmp_path / "run.pt", tmp_path / "weights.pt"):
        with pytest.raises(ExportedError, match=path.name):
            load_exported(path)
