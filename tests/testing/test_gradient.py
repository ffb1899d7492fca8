"""`check_gradient` passes what is right, and fails with an explanation and a program that shows the fault."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import settings
from jaxtyping import Bool, Complex, Float, Int
from torch import Tensor

from shaped.testing import check_gradient, given_shapes
from shaped.testing.record import LEVELS, RECORD
from shaped.testing.reproduction import reproduction
from shaped.verify.verdict import ACCEPTED, Level, Verdict, Witness


def square(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x * x


def square_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (2 * grad * x,)


def halved_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * x,)


WITNESS = Witness({"n": 2}, {"x": [1.0, 3.0], "grad": [1.0, 2.0]}, "x", (1,), expected=12.0, actual=6.0)


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[Any, ...]]]:
    """Let the verification give this verdict; the list gets the arguments of each call."""

    def give(level: Level, **details: Any) -> list[tuple[Any, ...]]:
        calls = []

        def gradient(*arguments: Any, **options: Any) -> Verdict:
            calls.append((*arguments, options))
            return Verdict(level, "square", **details)

        monkeypatch.setattr("shaped.testing.gradient.verified", gradient)
        return calls

    return give


@pytest.fixture(autouse=True)
def own_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what these tests find out of the summary of this run."""
    monkeypatch.setattr(RECORD, "subjects", {})
    monkeypatch.setattr(RECORD, "required", "enclosed")


def test_the_levels_are_those_of_a_verdict() -> None:
    assert set(LEVELS) == {level.value for level in Level}
    assert set(LEVELS[:3]) == {level.value for level in ACCEPTED}


@pytest.mark.parametrize("level", sorted(ACCEPTED, key=lambda level: level.value))
def test_an_accepted_level_passes_and_is_recorded(level: Level, answer: Any) -> None:
    calls = answer(level)
    assert check_gradient(square, square_backward).level is level
    assert RECORD.subjects == {"square": level.value}
    assert calls == [(square, square_backward, {"gradient_of": None, "domain": None})]


@pytest.mark.parametrize("level", sorted(set(Level) - ACCEPTED, key=lambda level: level.value))
def test_any_other_level_fails_with_the_explanation(level: Level, answer: Any) -> None:
    answer(level, reason="the reason", notes=("a note",))
    with pytest.raises(AssertionError) as caught:
        check_gradient(square, square_backward)
    assert str(caught.value) == Verdict(level, "square", "the reason", notes=("a note",)).explain()
    assert RECORD.subjects == {"square": level.value}


def test_a_weaker_level_than_asked_for_fails(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(Level.EXACT)
    check_gradient(square, square_backward, level="exact")
    with pytest.raises(AssertionError, match="The gradient is exact, but has to be proved"):
        check_gradient(square, square_backward, level="proved")
    monkeypatch.setattr(RECORD, "required", "proved")
    with pytest.raises(AssertionError, match="has to be proved"):
        check_gradient(square, square_backward, level="enclosed")


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(ValueError, match="level='sure' is no level that a gradient can pass at: give one of proved,"):
        check_gradient(square, square_backward, level="sure")


def test_inputs_and_options_are_handed_on(answer: Any) -> None:
    calls = answer(Level.EXACT)
    x = torch.ones(2)
    check_gradient(square, square_backward, x, gradient_of=torch.square, domain=bool)
    assert calls == [(square, square_backward, x, {"gradient_of": torch.square, "domain": bool})]


def test_of_several_checks_of_one_function_the_weakest_counts(answer: Any) -> None:
    for level in (Level.PROVED, Level.ENCLOSED, Level.EXACT):
        answer(level)
        check_gradient(square, square_backward)
    assert RECORD.subjects == {"square": "enclosed"}


def test_a_point_without_a_derivative_is_passed_over_in_a_property_test(answer: Any) -> None:
    calls = answer(Level.PROVED)
    kinks = []

    @settings(max_examples=30)
    @given_shapes
    def property_test(x: Float[Tensor, "n"]) -> None:
        if (x == 0).any():
            kinks.append(x)
            answer(Level.KINK)
        else:
            answer(Level.EXACT)
        check_gradient(square, square_backward, x)

    property_test()
    assert kinks
    assert not calls
    assert RECORD.subjects == {"square": "exact"}


def test_a_point_without_a_derivative_fails_elsewhere(answer: Any) -> None:
    answer(Level.KINK)
    with pytest.raises(AssertionError, match="only met points without a derivative"):
        check_gradient(square, square_backward, torch.zeros(2))


# The program that shows the fault


def run(program: str) -> str:
    """What a program prints."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout


def executed(program: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a program prints, run in this process."""
    capsys.readouterr()
    exec(compile(program, "reproduction", "exec"), {"__name__": "reproduction"})
    return capsys.readouterr().out


def test_a_failure_ends_with_a_program_that_shows_it(answer: Any, capsys: pytest.CaptureFixture[str]) -> None:
    answer(Level.REFUTED, witness=WITNESS)
    with pytest.raises(AssertionError) as caught:
        check_gradient(square, halved_backward)
    explained, _, program = str(caught.value).partition("\n\nTo see it, run:\n\n")
    assert explained == Verdict(Level.REFUTED, "square", witness=WITNESS).explain()
    assert program == (
        "    import torch\n"
        "    from tests.testing.test_gradient import square, halved_backward\n\n"
        "    x = torch.tensor([1.0, 3.0], dtype=torch.float64, requires_grad=True)\n"
        "    grad = torch.tensor([1.0, 2.0], dtype=torch.float64)\n\n"
        "    true = torch.autograd.grad(square(x), [x], grad, allow_unused=True)\n"
        '    print("true gradients:", true)\n'
        "    with torch.no_grad():\n"
        '        print("the backward:  ", halved_backward(grad, x))\n'
        "    # The gradient of x[1] is 6 there, not 12.\n"
    )
    text = executed("\n".join(line[4:] for line in program.splitlines()), capsys)
    assert text == (
        "true gradients: (tensor([ 2., 12.], dtype=torch.float64),)\n"
        "the backward:   (tensor([1., 6.], dtype=torch.float64),)\n"
    )


def test_local_functions_are_copied_into_the_program() -> None:
    def double(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return 2 * x

    def wrong(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return grad

    program = reproduction(Witness({}, {"x": [1], "grad": [3]}), double, wrong)
    assert run(program) == (
        "true gradients: (tensor([6.], dtype=torch.float64),)\nthe backward:   tensor([3.], dtype=torch.float64)\n"
    )


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return grads[0] * x


def test_an_autograd_function_is_run_both_ways(capsys: pytest.CaptureFixture[str]) -> None:
    program = reproduction(Witness({}, {"x": [3.0], "grad": [1.0]}), Square)
    assert executed(program, capsys) == (
        "true gradients: (tensor([6.], dtype=torch.float64),)\nits backward:   (tensor([3.], dtype=torch.float64),)\n"
    )


def test_every_kind_of_input_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    def f(
        i: Int[Tensor, "n"], m: Bool[Tensor, "n"], c: Complex[Tensor, ""], x: Float[Tensor, "m"], k: int
    ) -> tuple[Float[Tensor, "n"], Complex[Tensor, ""]]:
        return x[i] * m * k, c * c

    inputs = {"i": [0, 0], "m": [True, False], "c": 1j, "x": [2], "k": 3, "grad[0]": [1.0, 1.0], "grad[1]": 1 + 0j}
    program = reproduction(Witness({}, inputs), f)
    assert "i = torch.tensor([0, 0], dtype=torch.int64)\n" in program
    assert "m = torch.tensor([True, False], dtype=torch.bool)\n" in program
    assert "c = torch.tensor(1j, dtype=torch.complex128, requires_grad=True)\n" in program
    assert "x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)\n" in program
    assert "k = 3\n" in program
    assert "torch.autograd.grad(f(i, m, c, x, k), [c, x], (grad_0, grad_1), allow_unused=True)" in program
    assert executed(program, capsys).startswith("true gradients: (tensor(0.-2.j, dtype=torch.complex128), tensor([3.]")


def test_a_backward_that_asks_for_some_inputs_gets_those() -> None:
    def f(a: Float[Tensor, "n"], b: Float[Tensor, "n"]) -> Float[Tensor, "n"]: ...
    def b_only(grad: Float[Tensor, "n"], b: Float[Tensor, "n"]) -> Float[Tensor, "n"]: ...
    def all_of_them(*values: Tensor) -> Tensor: ...

    witness = Witness({}, {"a": [1.0], "b": [1.0], "g": [1.0]})
    assert "b_only(g, b))" in reproduction(witness, f, b_only)
    assert "all_of_them(g, a, b))" in reproduction(witness, f, all_of_them)


def test_several_upstream_gradients_are_one_tuple_or_stand_alone(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
        return 2 * x, 3 * x

    def of_tuple(grad: tuple[Float[Tensor, "n"], Float[Tensor, "n"]], x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return 2 * grad[0] + 3 * grad[1]

    def one_by_one(a: Float[Tensor, "n"], b: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return 2 * a + 3 * b

    for backward in (of_tuple, one_by_one):
        program = reproduction(Witness({}, {"grad": ([1.0], [10.0]), "x": [1.0]}), f, backward)
        assert "grad = (torch.tensor([1.0], dtype=torch.float64), torch.tensor([10.0], dtype=torch.float64))" in program
        true, found = executed(program, capsys).splitlines()
        assert "tensor([32.]" in true
        assert "tensor([32.]" in found


def test_a_function_without_source_is_left_to_the_reader() -> None:
    program = reproduction(Witness({}, {"x": [1.0], "g": [1.0]}), lambda x: x, lambda g, x: g)
    assert "forward = ...  # line " in program
    assert "backward = ...  # line " in program


# With the verification itself


def test_a_right_backward_passes() -> None:
    assert check_gradient(square, square_backward).ok


def test_a_wrong_backward_fails_with_a_program_that_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(AssertionError, match="refuted") as caught:
        check_gradient(square, halved_backward)
    program = str(caught.value).partition("\n\nTo see it, run:\n\n")[2]
    true, wrong = executed("\n".join(line[4:] for line in program.splitlines()), capsys).splitlines()
    assert true != wrong


@settings(max_examples=5)
@given_shapes(dtypes=[torch.float64])
def test_a_gradient_is_checked_at_drawn_inputs(x: Float[Tensor, "n"]) -> None:
    check_gradient(square, square_backward, x)
