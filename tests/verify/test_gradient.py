"""One question, whatever level answers it: every wrong backward is refused, and every right one accepted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from shaped.verify import Level, gradient
from shaped.verify.files import load_module
from shaped.verify.subject import SubjectError

FOLDERS = ("cases", "cases_own", "cases_more")
CASES = sorted(path for folder in FOLDERS for path in (Path(__file__).parent / folder).glob("*.py"))
# What a backward that is right by declaration only declares: the function whose gradient it is meant to be, or where.
DECLARED: dict[str, dict[str, Callable[..., Any]]] = {
    "045_clip_ste_condition_reversed": {"gradient_of": lambda x: torch.where((x < 0) | (x > 1), 0.01 * x, x)},
    # It divides by x, as the wrong form of case 031 does.
    "002_prod_ignores_upstream": {"domain": lambda x: bool((x != 0).all())},
}


def arguments(path: Path, which: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The forward with the wrong or right backward of a case, and what it declares."""
    module = load_module(path)
    declared = dict(DECLARED.get(path.stem, {}))
    if hasattr(module, "surrogate"):
        declared["gradient_of"] = module.surrogate
    if hasattr(module, "domain"):
        declared["domain"] = module.domain
    if hasattr(module, "Wrong"):
        return (getattr(module, which.title()),), declared
    return (module.forward, getattr(module, f"{which}_backward")), declared


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_wrong_backward_is_refused_with_a_witness(path: Path) -> None:
    given, declared = arguments(path, "wrong")
    verdict = gradient(*given, **declared)
    assert verdict.level in (Level.REFUTED, Level.HAZARD), verdict.explain()
    assert verdict.witness is not None or verdict.reason, verdict.explain()


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_right_backward_is_accepted(path: Path) -> None:
    given, declared = arguments(path, "right")
    verdict = gradient(*given, **declared)
    assert verdict.ok, verdict.explain()


def test_most_right_backwards_of_public_bugs_are_proved_for_every_size() -> None:
    stems = [
        "004_sigmoid_uses_input_not_output",
        "011_softmax_diagonal_only",
        "021_prenorm_residual_added_before_norm_backward",
    ]
    for path in (each for each in CASES if each.stem in stems):
        given, declared = arguments(path, "right")
        assert gradient(*given, **declared).level is Level.PROVED


def double(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return 2 * x


def test_inputs_that_are_given_are_checked_and_others_of_their_shapes() -> None:
    def backward(grad: Tensor, x: Tensor) -> tuple[Tensor]:
        return (torch.where((x - 0.125).abs() < 0.001, 3 * grad, 2 * grad),)

    assert gradient(double, backward, torch.full((3,), 0.125)).level is Level.REFUTED
    assert gradient(double, lambda grad, x: (2 * grad + grad[-1:] - grad[-1:],), torch.ones(5)).level is Level.EXACT


def test_functions_without_annotations_need_inputs() -> None:
    def plain(x: Any) -> Any:
        return x * x

    def backward(grad: Any, x: Any) -> tuple[Any]:
        return (2 * grad * x,)

    assert gradient(plain, backward, torch.ones(2)).ok
    with pytest.raises(SubjectError, match="parameter x of plain has no shape"):
        gradient(plain, backward)


def test_without_a_backward_the_gradient_is_that_of_autograd() -> None:
    assert gradient(double).level is Level.EXACT
    assert gradient(torch.nn.functional.softplus, None, torch.randn(4)).level is Level.EXACT


def test_what_is_no_function_is_refused_by_name() -> None:
    with pytest.raises(SubjectError, match="3 is no function"):
        gradient(3, double)  # type: ignore[arg-type]  # the fault that is tested


def test_a_verdict_reads_as_a_sentence() -> None:
    def backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
        return (grad,)

    verdict = gradient(double, backward)
    point = "at n = 1, grad = [1.0], x = [1.0]: the gradient of x[0] is 2, not 1"
    assert str(verdict) == f"double: refuted: the gradient of x is wrong, {point}"
    assert not verdict.ok
    with pytest.raises(TypeError, match=r"use verdict\.ok"):
        bool(verdict)


def test_gradients_of_none_after_those_of_the_inputs_do_no_harm() -> None:
    assert gradient(double, lambda grad, x: (2 * grad, None)).ok
    assert not gradient(double, lambda grad, x: (3 * grad, None)).ok
