"""An op of custom_grad is verified by itself, as the pair of its forward and backward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from shaped import custom_grad
from shaped.testing import check_gradient
from shaped.verify import Level, exact_gradcheck, float_hazards, gradient, prove
from shaped.verify.command import verify
from shaped.verify.subject import SubjectError
from tests.runtime.custom_grad.ops import linear, polar, swish, swish_backward

if TYPE_CHECKING:
    from pathlib import Path


def test_a_right_op_is_proved() -> None:
    assert gradient(swish).level is Level.PROVED
    assert prove(swish).level is Level.PROVED
    assert check_gradient(swish).level is Level.PROVED


def test_an_op_of_several_outputs_is_proved() -> None:
    assert gradient(polar).level is Level.PROVED


def test_an_op_with_options_is_ok() -> None:
    assert gradient(linear).ok


def test_the_prover_and_the_exact_check_see_through_an_op_that_others_call() -> None:
    def twice(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return 2 * swish(x)

    def twice_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return 2 * swish_backward(grad, x)

    assert gradient(twice, twice_backward).level is Level.PROVED
    assert exact_gradcheck(swish, torch.randn(3)).level is Level.EXACT


@custom_grad
def cube(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x**3


@cube.backward
def cube_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return grad * 3 * x


def test_a_wrong_backward_is_refuted_with_a_program_that_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    verdict = gradient(cube)
    assert verdict.level is Level.REFUTED
    assert "the gradient of x[0] is 12, not 6" in verdict.explain()
    with pytest.raises(AssertionError) as caught:
        check_gradient(cube)
    program = str(caught.value).split("To see it, run:")[1]
    exec("\n".join(line.removeprefix("    ") for line in program.splitlines()), {})  # our own text
    shown = capsys.readouterr().out
    assert "true gradients: (tensor([12.], dtype=torch.float64)" in shown
    assert "the backward:   tensor([6.], dtype=torch.float64" in shown


def test_none_where_the_gradient_is_not_zero_is_refuted() -> None:
    @custom_grad
    def scale(x: Float[Tensor, "n"], w: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * w

    scale.backward(lambda grad, x, w: (grad * w, None))
    verdict = gradient(scale)
    assert verdict.level is Level.REFUTED
    assert verdict.reason == "None is returned for w, whose gradient is not 0"


def test_the_function_whose_gradient_is_meant_is_the_ops_own() -> None:
    @custom_grad(gradient_of=lambda x: x)
    def rounded(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x.round()

    rounded.backward(lambda grad, x: grad)
    assert gradient(rounded).level is Level.PROVED
    assert not gradient(rounded, gradient_of=lambda x: 2 * x).ok


def test_a_hazard_is_found() -> None:
    @custom_grad
    def norm(x: Float[Tensor, "n"]) -> Float[Tensor, ""]:
        return (x * x).sum().sqrt()

    norm.backward(lambda grad, x: grad * x / (x * x).sum().sqrt())
    assert float_hazards(norm).level is Level.HAZARD
    assert gradient(norm).level is Level.HAZARD


def test_an_op_without_a_backward_cannot_be_verified() -> None:
    @custom_grad
    def bare(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * 2

    with pytest.raises(SubjectError, match=r"bare has no backward: decorate one with @bare.backward"):
        gradient(bare)


SOURCE = """
import shaped
import torch
from jaxtyping import Float
from torch import Tensor

@shaped.custom_grad
def double(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x * 2

@double.backward
def double_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return grad * {k}

def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:  # not that of double_backward
    return x * 5
"""


@pytest.mark.parametrize(("k", "is_well"), [(2, True), (3, False)])
def test_the_command_finds_ops_in_a_file(
    k: int, is_well: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ops.py"
    path.write_text(SOURCE.format(k=k))
    assert verify([path]) is is_well
    (line,) = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    assert line.startswith(f"{path}:11: double: {'proved' if is_well else 'refuted'}")
