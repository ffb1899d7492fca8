"""`shaped prove` checks the theorems of a folder and writes down what is known how."""

from __future__ import annotations

from pathlib import Path

import pytest
from jaxtyping import Float
from torch import Tensor

from shaped.cli import main
from shaped.spec.meaning import MEANINGS, load
from shaped.spec.tensor import Tensor as SpecTensor
from shaped.verify.checking import check
from shaped.verify.theorem import ProgramTheorem, Theorem
from shaped.verify.verdict import Level

THEOREMS = """
from shaped.verify.theorem import Theorem
THEOREMS = [Theorem("softmax", {"input": "b c", "dim": -1}), Theorem("trace", {"input": "n m"}, "of any matrix")]
"""


def write(folder: Path, text: str = THEOREMS, name: str = "some.py") -> Path:
    """A folder of theorems."""
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_the_ledger_says_how_each_theorem_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", str(write(tmp_path))]) == 0
    assert "2 theorems in" in capsys.readouterr().out
    ledger = (tmp_path / "LEDGER.md").read_text(encoding="utf-8")
    assert "| `softmax(input=(b c), dim=-1)` | proved |" in ledger
    assert "`trace(input=(n m))` (of any matrix) |" in ledger
    assert "`sin`" in ledger.partition("## Tested")[2]


def test_written_certificates_are_checked_anew_without_a_prover(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["prove", "--quiet", str(write(tmp_path))])
    capsys.readouterr()
    assert main(["prove", "--certificates", str(tmp_path)]) == 0
    assert "2 certificates, compared at" in capsys.readouterr().out


def test_a_certificate_that_was_changed_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["prove", "--quiet", str(write(tmp_path))])
    path = tmp_path / "certificates" / "some.jsonl"
    text = path.read_text(encoding="utf-8")
    assert '["Apply","exp",' in text
    path.write_text(text.replace('["Apply","exp",', '["Apply","sinh",'), encoding="utf-8")
    assert main(["prove", "--certificates", str(tmp_path)]) == 1
    assert "softmax(input=(b c), dim=-1), input: different" in capsys.readouterr().out
    path.write_text("{}\n", encoding="utf-8")
    assert main(["prove", "--certificates", str(tmp_path)]) == 2
    assert f"{path}, line 1: this is no certificate" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text, message",
    [
        ("x = 1\n", "states nothing: give it THEOREMS"),
        ("THEOREMS = [1 / 0]\n", "cannot be run: ZeroDivisionError"),
    ],
)
def test_a_file_that_states_nothing_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    assert main(["prove", str(write(tmp_path, text))]) == 2
    assert f"{tmp_path / 'some.py'} {message}" in capsys.readouterr().err


def test_a_folder_without_theorems_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", str(tmp_path)]) == 2
    assert f"{tmp_path} has no theorems" in capsys.readouterr().err
    assert main(["prove", str(tmp_path / "nowhere")]) == 2
    assert "nowhere is no folder" in capsys.readouterr().err


def test_a_theorem_about_an_operation_without_a_declared_backward_is_a_mistake() -> None:
    load()
    name = next(name for name, meaning in MEANINGS.items() if meaning.backward is None)
    with pytest.raises(LookupError, match=f"{name} has no declared backward: add one with @backward"):
        Theorem(name).backward()


def test_a_wrong_backward_is_never_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(grad: SpecTensor, input: SpecTensor, dim: int) -> SpecTensor:  # noqa: A002  (torch's name)
        return grad * input.softmax(dim)

    load()
    monkeypatch.setattr(MEANINGS["softmax"], "backward", wrong)
    assert check(Theorem("softmax", {"input": "b c", "dim": -1})).verdict.level in (Level.REFUTED, Level.UNSUPPORTED)


def test_what_holds_only_at_some_sizes_or_points_is_said_so() -> None:
    verdict = check(Theorem("trace", {"input": "n m"})).verdict
    assert verdict.level in (Level.PROVED, Level.EXACT)
    if verdict.level is Level.EXACT:
        assert "at sizes 1 to 3 of n, m" in verdict.reason


def test_a_program_is_a_theorem_too() -> None:
    def forward(a: Float[Tensor, "n k"], b: Float[Tensor, "k m"]) -> Float[Tensor, "n m"]:
        return (a @ b).tanh()

    def backward(
        grad: Float[Tensor, "n m"], a: Float[Tensor, "n k"], b: Float[Tensor, "k m"]
    ) -> tuple[Float[Tensor, "n k"], Float[Tensor, "k m"]]:
        inner = grad * (1 - (a @ b).tanh() ** 2)
        return inner @ b.T, a.T @ inner

    checked = check(ProgramTheorem("a layer", forward, backward))
    assert checked.verdict.level is Level.PROVED
    assert len(checked.certificates) == 2


@pytest.mark.parametrize(
    ("theorem", "message"),
    [
        (Theorem("softmx", {"input": "b c", "dim": -1}), "no operation is called 'softmx': softmax"),
        (Theorem("softmax", {"input": "b +", "dim": -1}), "'+' is no size"),
    ],
)
def test_a_theorem_that_is_misspelt_is_not_proved(theorem: Theorem, message: str) -> None:
    verdict = check(theorem).verdict
    assert verdict.level is Level.UNSUPPORTED
    assert message in verdict.reason
