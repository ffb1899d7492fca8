"""`shaped verify` finds the gradients that a file declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaped.cli import main
from shaped.verify.files import FileError, declared, load_module
from shaped.verify.verdict import Level

HEADER = """
import torch
from jaxtyping import Float
from torch import Tensor
"""
SQUARE = """
def square(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x * x

def square_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (2 * grad * x,)
"""
WRONG = """
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (x,) = ctx.saved_tensors
        return 2 * grad * x * x
"""


def write(folder: Path, text: str) -> Path:
    """A file with this text below the usual imports."""
    path = folder / "gradients.py"
    path.write_text(HEADER + text, encoding="utf-8")
    return path


def test_functions_and_pairs_are_found_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = list(declared(load_module(write(tmp_path, SQUARE + WRONG))))
    assert [each.name for each in found] == ["square_backward", "Cube"]
    assert [each.verdict().level for each in found] == [Level.PROVED, Level.REFUTED]


@pytest.mark.parametrize(
    "forward, backward",
    [
        ("forward", "backward"),
        ("forward", "right_backward"),
        ("gelu", "gelu_backward"),
        ("gelu", "gelu_vjp"),
        ("gelu_forward", "gelu_backward"),
        ("gelu_fwd", "gelu_bwd"),
        ("forward_gelu", "backward_gelu"),
    ],
)
def test_pairs_are_known_by_their_names(tmp_path: Path, forward: str, backward: str) -> None:
    text = (
        SQUARE.replace("square_backward", backward + " ").replace("square(", f"{forward}(").replace(" (grad", "(grad")
    )
    (found,) = declared(load_module(write(tmp_path, text)))
    assert (found.forward.__name__, found.backward.__name__ if found.backward else "") == (forward, backward)


def test_what_is_imported_or_private_is_not_declared_here(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(HEADER + WRONG, encoding="utf-8")
    text = "from other import Cube\n" + SQUARE.replace("square_backward", "_square_backward")
    assert list(declared(load_module(write(tmp_path, text)))) == []


def test_a_file_may_declare_what_a_gradient_is_meant_to_be(tmp_path: Path) -> None:
    text = SQUARE.replace("return x * x", "return (x * x).round()") + (
        'def square_gradient_of(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:\n    return x * x\n'
    )
    (found,) = declared(load_module(write(tmp_path, text)))
    assert found.gradient_of is not None
    assert found.verdict().level is Level.PROVED


def test_the_command_prints_a_verdict_for_each_and_fails_for_a_wrong_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, SQUARE + WRONG)
    assert main(["verify", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{path}:9: square_backward: proved for every size and value"
    assert lines[1].startswith(
        f"{path}:12: Cube: refuted: the gradient of x is wrong, at n = 1, grad = [1.0], x = [1.0]"
    )
    assert main(["verify", str(write(tmp_path, SQUARE))]) == 0


def test_verdicts_are_told_to_other_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    main(["verify", "--output", "json", str(write(tmp_path, WRONG))])
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    assert (told["name"], told["level"], told["ok"]) == ("Cube", "refuted", False)
    assert told["witness"]["sizes"] == {"n": 1}


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "x = 1\n",
            "declares no gradient: it needs a torch.autograd.Function, an op of custom_grad, or functions forward and "
            "backward",
        ),
        ("import nothing_like_it\n", "cannot be run: ModuleNotFoundError: No module named 'nothing_like_it'"),
    ],
)
def test_a_file_that_is_of_no_use_is_named_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    path = write(tmp_path, text)
    assert main(["verify", str(path)]) == 2
    assert f"shaped verify: {path} {message}" in capsys.readouterr().err


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"nowhere\.py is no file: pass a Python file"):
        load_module(tmp_path / "nowhere.py")
