"""The mutants of all programs, what `shaped check` says of them, and the table."""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import rivals
from benchmarks.measure import table
from benchmarks.shape_mutants.changes import Change, changes
from benchmarks.shape_mutants.declaring import with_declared_dims
from benchmarks.shape_mutants.judge import Behaviour, Effect, effect_of, observe
from benchmarks.shape_mutants.sources import Source, sources
from shaped.static.check import Checker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ANNOTATION = "annotation reordered"  # nothing raises but a check of annotations
_MOST = 1_000
_LOUD = (Effect.RAISES, Effect.CONTRADICTS)


@dataclass(frozen=True)
class Mutant:
    """A changed program and what the change does."""

    source: Source
    change: Change
    effect: Effect

    @property
    def text(self) -> str:
        """The changed program."""
        return self.change.applied(self.source.text)

    @property
    def difference(self) -> str:
        """The changed line, before and after."""
        line = self.change.line - 1
        old, new = (text.splitlines()[line].strip() for text in (self.source.text, self.text))
        return f"{self.source.name}:{line + 1}: {self.effect.value}\n    - {old}\n    + {new}"


def mutants(most: int, seed: int = 0, kind: str = "", programs: Sequence[Source] | None = None) -> Iterator[Mutant]:
    """Mutants in the order drawn, until so many of them change behaviour; the others come, too.

    Args:
        most: how many that change behaviour.
        seed: decides which are drawn.
        kind: only kinds whose name has this in it.
        programs: what is changed, by default all sources.
    """
    drawn: list[tuple[Source, Behaviour, Change]] = []
    for source in sources() if programs is None else programs:
        with _importing(source):
            behaviour = observe(source.text, source.driver)
        if behaviour is None:
            print(f"left out: {source.name} does not do the same twice", file=sys.stderr)
            continue
        drawn += [
            (source, behaviour, change)
            for change in changes(source.text)
            if kind in change.kind and _is_judged(change, behaviour)
        ]
    random.Random(seed).shuffle(drawn)
    count = 0
    for source, behaviour, change in drawn:
        with _importing(source):
            effect = effect_of(change.applied(source.text), behaviour, source.driver, enforce=change.kind == ANNOTATION)
        if effect is not None:
            yield Mutant(source, change, effect)
            count += effect is not Effect.NONE
            if count == most:
                return


def _is_judged(change: Change, behaviour: Behaviour) -> bool:
    """Whether runs reach what is changed."""
    return behaviour.is_enforceable if change.kind == ANNOTATION else change.line in behaviour.lines


@contextlib.contextmanager
def _importing(source: Source) -> Iterator[None]:
    """Let a program import its neighbours."""
    sys.path.insert(0, str(source.path.parent))
    try:
        yield
    finally:
        sys.path.remove(str(source.path.parent))


# What tools say

Said = set[str]


def said_by_shaped(source: Source, text: str, *, uncalled: bool = False) -> Said:
    """The errors that `shaped check` gives for a program, or for it without what tries it out."""
    report = Checker().check(source.path, without_main(text) if uncalled else text)
    return {f"{one.code}: {one.message}" for one in report.diagnostics if one.severity == "error"}


def without_main(text: str) -> str:
    """A program without what tries it out, which stands at its end."""
    return text.partition("\ndef main(")[0]


def found_by(
    tool: Callable[[Sequence[Path]], rivals.Findings],
    judged: Sequence[Mutant],
    form: Callable[[str], str] = lambda text: text,
) -> tuple[list[bool], int]:
    """Of which mutants a tool of `benchmarks.rivals` says what it does not say of the original, and its false alarms.

    The programs lie in folders of their own, one for each original, beside it.

    Args:
        tool: checks files.
        judged: the mutants.
        form: what the tool is given instead of a program's text.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths: dict[Mutant | Source, Path] = {}
        everything: list[Mutant | Source] = [*dict.fromkeys(mutant.source for mutant in judged), *judged]
        for k, one in enumerate(everything):
            source = one if isinstance(one, Source) else one.source
            home = Path(folder).resolve() / source.name.replace("/", "_")
            home.mkdir(exist_ok=True)
            paths[one] = home / f"{source.path.stem}_{k}.py"
            paths[one].write_text(form(one.text), encoding="utf-8")
        found = tool(list(paths.values()))
    said = {one: {finding.message for finding in found.get(path, [])} for one, path in paths.items()}
    alarms = sum(bool(said[one]) for one in paths if isinstance(one, Source))
    return [bool(said[mutant] - said[mutant.source]) for mutant in judged], alarms


# The table


def row(title: str, judged: Sequence[Mutant], found: Sequence[bool]) -> list[object]:
    """What is found of some mutants: those that raise, those that give another shape, other values, and all."""
    cells: list[object] = [title, len(judged)]
    for effects in (_LOUD, (Effect.SHAPE,), (Effect.VALUE,), (*_LOUD, Effect.SHAPE, Effect.VALUE)):
        some = [is_found for mutant, is_found in zip(judged, found) if mutant.effect in effects]
        cells.append(f"{sum(some)}/{len(some)}")
    cells.append(f"{100 * sum(found) / len(found):.0f}%" if found else "")
    return cells


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Which mutants of right programs are found.")
    parser.add_argument("--most", type=int, default=_MOST, help="how many mutants that change behaviour")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", default="", help="only the kinds whose name has this in it")
    parser.add_argument("--missed", action="store_true", help="list those that are missed")
    parser.add_argument("--equivalent", action="store_true", help="list what is said of mutants that change nothing")
    parser.add_argument("--uncalled", action="store_true", help="check the programs without their `main`")
    parser.add_argument("--rivals", action="store_true", help="run Pyrefly and torchtyc, too, where installed")
    parser.add_argument("--environment", type=Path, default=Path(".venv/rivals"), help="where the other tools are")
    options = parser.parse_args()

    start = time.monotonic()
    drawn = list(mutants(options.most, options.seed, options.kind))
    judged = [one for one in drawn if one.effect is not Effect.NONE]
    equivalent = [one for one in drawn if one.effect is Effect.NONE]
    judging = time.monotonic() - start

    originals = {one.source: said_by_shaped(one.source, one.source.text, uncalled=options.uncalled) for one in drawn}
    start = time.monotonic()
    found = [
        bool(said_by_shaped(one.source, one.text, uncalled=options.uncalled) - originals[one.source]) for one in judged
    ]
    seconds = time.monotonic() - start
    said = [said_by_shaped(one.source, one.text, uncalled=options.uncalled) for one in equivalent]

    rows = []
    for kind in sorted({one.change.kind for one in judged}):
        chosen = [k for k, one in enumerate(judged) if one.change.kind == kind]
        rows.append(row(kind, [judged[k] for k in chosen], [found[k] for k in chosen]))
    rows.append(row("all", judged, found))
    print(table(["change", "mutants", "raises", "another shape", "other values", "found", "share"], rows))
    print(f"\nshaped: {seconds:.1f} s for {len(judged)} programs; torch judged {len(drawn)} in {judging:.0f} s")
    print(f"false alarms: {sum(map(bool, originals.values()))} of {len(originals)} originals")
    print(f"said of {sum(map(bool, said))} of {len(equivalent)} mutants that change nothing")
    if options.equivalent:
        for mutant, messages in zip(equivalent, said):
            if messages:
                print(f"{mutant.change.kind}: {mutant.difference}\n    {'; '.join(sorted(messages))}")
    if options.missed:
        effects = list(Effect)
        missed = [mutant for mutant, is_found in zip(judged, found) if not is_found]
        for mutant in sorted(missed, key=lambda one: (effects.index(one.effect), one.change.kind, one.source.name)):
            print(f"{mutant.change.kind}: {mutant.difference}")
    if options.rivals:
        _print_rivals(options.environment.absolute(), judged)


def _print_rivals(environment: Path, judged: list[Mutant]) -> None:
    def declared_without_main(text: str) -> str:
        return with_declared_dims(without_main(text))

    rows = []
    for title, tool, form in (
        ("pyrefly", rivals.pyrefly, str),
        ("pyrefly, dims declared", rivals.pyrefly, with_declared_dims),
        ("pyrefly, dims declared, no main", rivals.pyrefly, declared_without_main),
        ("torchtyc", rivals.torchtyc, str),
    ):
        if not (environment / "bin" / title.partition(",")[0]).exists():
            print(f"{title} is not installed in {environment}: left out")
            continue
        start = time.monotonic()
        found, alarms = found_by(partial(tool, environment), judged, form)
        rows.append([*row(title, judged, found), alarms, f"{time.monotonic() - start:.0f}"])
    head = ["tool", "mutants", "raises", "another shape", "other values", "found", "share", "false alarms", "seconds"]
    if rows:
        print(table(head, rows))
