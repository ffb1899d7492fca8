"""Mutants of the shapes of programs: changed in one place, judged by torch, found by the checker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.rivals import Finding, Findings
from benchmarks.shape_mutants.changes import changes
from benchmarks.shape_mutants.declaring import with_declared_dims
from benchmarks.shape_mutants.judge import Behaviour, Effect, effect_of, observe
from benchmarks.shape_mutants.measuring import Mutant, found_by, mutants, row, said_by_shaped, without_main
from benchmarks.shape_mutants.sources import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = """\
import torch
from jaxtyping import Float
from torch import Tensor, nn


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(9, width)
        self.linear = nn.Linear(width, 4)

    def forward(self, x: Float[Tensor, "b t width"]) -> Float[Tensor, "b 4"]:
        x = x + self.table(torch.arange(3)).sum(0)
        return self.linear(x).softmax(dim=-1).transpose(1, 2).mean(-1)


def main() -> None:
    assert Net(5)(torch.randn(2, 3, 5)).shape == (2, 4)
"""


@pytest.fixture(scope="module")
def behaviour() -> Behaviour:
    seen = observe(PROGRAM)
    assert seen is not None
    return seen


def effect(behaviour: Behaviour, old: str, new: str, *, enforce: bool = False) -> Effect | None:
    assert old in PROGRAM
    return effect_of(PROGRAM.replace(old, new), behaviour, enforce=enforce)


def test_what_torch_refuses_raises(behaviour: Behaviour) -> None:
    assert effect(behaviour, "nn.Linear(width, 4)", "nn.Linear(4, width)") is Effect.RAISES


def test_another_shape_is_seen(behaviour: Behaviour) -> None:
    assert effect(behaviour, ".transpose(1, 2)", "") is Effect.SHAPE


def test_other_values_are_seen(behaviour: Behaviour) -> None:
    assert effect(behaviour, "softmax(dim=-1)", "softmax(dim=1)") is Effect.VALUE


def test_what_a_program_does_not_use_changes_nothing(behaviour: Behaviour) -> None:
    """A table of more rows is the same table, though it draws more random numbers when it is made."""
    assert effect(behaviour, "nn.Embedding(9, width)", "nn.Embedding(10, width)") is Effect.NONE


def test_what_main_asserts_is_not_the_programs_own(behaviour: Behaviour) -> None:
    assert effect(behaviour, "shape == (2, 4)", "shape == (4, 2)") is Effect.NONE


def test_an_annotation_is_judged_by_jaxtyping(behaviour: Behaviour) -> None:
    assert behaviour.is_enforceable
    assert effect(behaviour, '"b 4"', '"4 b"') is Effect.NONE
    assert effect(behaviour, '"b 4"', '"4 b"', enforce=True) is Effect.CONTRADICTS
    assert effect(behaviour, '"b t width"', '"b width t"', enforce=True) is Effect.NONE


def test_calls_are_repeated_at_other_sizes_of_the_names_that_are_free(behaviour: Behaviour) -> None:
    (call,) = behaviour.calls
    shapes = [resized.shapes[1] for resized, _ in call.at_sizes]
    assert len({b for b, _, _ in shapes}) > 1
    assert len({t for _, t, _ in shapes}) > 1
    assert {width for _, _, width in shapes} == {5}


def test_what_shows_at_some_sizes_only_is_seen() -> None:
    program = (
        "import torch\n{}\ndef f(x: Float[torch.Tensor, 'n']):\n    return x[{}:]\ndef main():\n    f(torch.ones(3))\n"
    )
    program = program.replace("{}\n", "from jaxtyping import Float\n", 1)
    seen = observe(program.replace("{}", "-3"))
    assert seen is not None
    assert effect_of(program.replace("{}", "-4"), seen) is Effect.SHAPE


def test_changes_are_of_every_kind_that_the_program_has_a_place_for() -> None:
    found = {one.kind: one.applied(PROGRAM) for one in changes(PROGRAM)}
    assert {
        "annotation reordered",
        "constant changed",
        "dim changed",
        "keepdim flipped",
        "sizes swapped",
        "softmax dim changed",
        "transpose dropped",
    } <= found.keys()
    for text in found.values():
        compile(text, "changed", "exec")
        assert text != PROGRAM
        assert text.endswith("== (2, 4)\n")


def test_mutants_are_drawn_judged_and_looked_for() -> None:
    source = Source(Path("nowhere", "program.py"), PROGRAM)
    drawn = list(mutants(10, programs=[source]))
    assert [one.change for one in drawn] == [one.change for one in mutants(10, programs=[source])]
    judged = [one for one in drawn if one.effect is not Effect.NONE]
    assert len(judged) == 10
    assert said_by_shaped(source, PROGRAM) == set()
    found = [bool(said_by_shaped(source, one.text)) for one in judged]
    raising = [is_found for one, is_found in zip(judged, found) if one.effect is Effect.RAISES]
    assert raising
    assert all(raising)
    assert row("all", judged, found)[-1] == f"{100 * sum(found) / 10:.0f}%"


def test_a_mutant_shows_its_changed_line() -> None:
    source = Source(Path("nowhere", "program.py"), PROGRAM)
    change = next(one for one in changes(PROGRAM) if one.kind == "transpose dropped")
    *_, before, after = Mutant(source, change, Effect.SHAPE).difference.splitlines()
    assert before.replace(".transpose(1, 2)", "").split("- ")[1] == after.split("+ ")[1]


def test_dims_are_declared_above_the_functions_whose_annotations_pyrefly_reads() -> None:
    text = with_declared_dims(PROGRAM)
    assert '    @static_jaxtyping("b t width")\n    def forward(' in text
    assert text.count("static_jaxtyping") == 2  # the import and the method


def test_annotations_that_pyrefly_refuses_are_left_undeclared() -> None:
    text = 'def f(x: Float[Tensor, "b c*h"]) -> Float[Tensor, "b c"]: ...\n'
    assert with_declared_dims(text) == text


def test_a_tool_finds_a_mutant_if_it_says_what_it_does_not_say_of_the_original() -> None:
    source = Source(Path("net_good.py"), PROGRAM)
    change = next(one for one in changes(PROGRAM) if one.kind == "dim changed")
    mutant = Mutant(source, change, Effect.VALUE)

    def said(files: Sequence[Path]) -> Findings:
        texts = {path: path.read_text(encoding="utf-8") for path in files}
        return {path: [Finding(1, "both"), *([Finding(1, "new")] * (text != PROGRAM))] for path, text in texts.items()}

    assert found_by(said, [mutant]) == ([True], 1)
    assert found_by(lambda files: {path: [Finding(1, "both")] for path in files}, [mutant]) == ([False], 1)
    assert found_by(said, [mutant], without_main)[1] == 1
