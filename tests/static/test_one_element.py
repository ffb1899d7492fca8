"""Where Python asks a tensor for one number, and torch raises unless it has exactly one element."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from shaped.static.check import Checker

IMPORTS = "import torch; from jaxtyping import Bool, Float; from torch import Tensor\n"

ASKING = {
    "x.item()": "item: {}: exactly 1 element is needed, not {}",
    "int(x)": "int: {}: exactly 1 element is needed, not {}",
    "float(x)": "float: {}: exactly 1 element is needed, not {}",
    "bool(x)": "bool: {}: only 1 element has a truth value, not {}",
    "not x": "bool: {}: only 1 element has a truth value, not {}",
    "x and 1": "bool: {}: only 1 element has a truth value, not {}",
    "x or 1": "bool: {}: only 1 element has a truth value, not {}",
    "1 if x else 2": "bool: {}: only 1 element has a truth value, not {}",
    "1 if x > 0 else 2": "bool: {}: only 1 element has a truth value, not {}",
    "1 if 0 < x < 1 else 2": "bool: {}: only 1 element has a truth value, not {}",
    "1 if x == 3 and True else 2": "bool: {}: only 1 element has a truth value, not {}",
    "[y for y in range(2) if x]": "bool: {}: only 1 element has a truth value, not {}",
}


def found(body: str, shape: str) -> list[str]:
    program = f'{IMPORTS}def f(x: Float[Tensor, "{shape}"]):\n    {body}\n'
    return [one.message for one in Checker(show_traceback=True).check(Path("f.py"), program).diagnostics]


def raises(body: str, shape: tuple[int, ...]) -> bool:
    try:
        eval(body, {"x": torch.ones(shape)})
    except (RuntimeError, ValueError):
        return True
    return False


@pytest.mark.parametrize("asked", ASKING)
def test_several_elements_are_no_number(asked: str) -> None:
    assert found(f"return {asked}", "3 5") == [ASKING[asked].format("(3, 5)", 15)]
    assert raises(asked, (3, 5))


@pytest.mark.parametrize("asked", ASKING)
def test_neither_are_they_if_that_is_so_for_every_size_of_the_batch(asked: str) -> None:
    assert found(f"return {asked}", "b 3") == [ASKING[asked].format("(b, 3)", "3*b")]
    assert all(raises(asked, (b, 3)) for b in (1, 2))


@pytest.mark.parametrize("asked", ASKING)
def test_one_element_is_a_number_whatever_the_rank(asked: str) -> None:
    for shape in ("", "1", "1 1"):
        assert not found(f"return {asked}", shape)
        assert not raises(asked, tuple(map(int, shape.split())))


@pytest.mark.parametrize("asked", ASKING)
def test_a_size_that_may_be_one_is_no_fault(asked: str) -> None:
    assert not found(f"return {asked}", "b")
    assert not found(f"return {asked}", "*axes")


@pytest.mark.parametrize(
    "statement",
    ["if x > 0: return 1", "while x < 3: x = x + 1", "assert x == 3", "if (x > 0).all() and x < 3: return 1"],
)
def test_statements_ask_too(statement: str) -> None:
    assert found(statement, "3 5") == ["bool: (3, 5): only 1 element has a truth value, not 15"]


@pytest.mark.parametrize(
    "statement",
    [
        "if (x > 0).any(): return 1",
        "if x is None: return 1",
        "if x == None: return 1",  # False, as for any two that cannot be compared
        "if x == 'a' or x == [1, 2]: return 1",
        "if x.shape == (3, 5): return 1",
        "if len(x): return 1",
        "if x.sum() > 0: return 1",
        "if isinstance(x, Tensor) and x.ndim == 2: return 1",
        "return x > 0",
        "return None if x is None else x",
        "return 1 and x",
    ],
)
def test_other_conditions_do_not(statement: str) -> None:
    assert not found(statement, "3 5")


def test_a_hint_asks_for_all_or_any() -> None:
    program = f'{IMPORTS}def f(x: Float[Tensor, "3 5"]):\n    if x > 0:\n        return x\n'
    [one] = Checker().check(Path("f.py"), program).diagnostics
    assert one.hint == ".any() or .all()?"


def test_operands_that_cannot_be_compared_are_told_in_a_condition_as_elsewhere() -> None:
    assert found("if x == torch.ones(4): return 1", "3 5") == ["eq: (3, 5) == (4,): sizes 5 and 4 of axis -1 differ"]
