"""The first and the last round of a loop over a range that is not counted: `x[i + 1]` is out of range in the last one.

A round that stands for all says nothing of `x[i + 1]`, which most rounds may read. So the body is also run for the
ends of the range alone, and what is wrong there is said of what every round reaches: no part of an `if`, nothing in a
loop that may be left early.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from shaped.errors import Fault
from shaped.spec.dims import Dim
from shaped.static.values import RangeValue, StaticValue
from shaped.static.walk import children, walk

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter

Place = tuple[int, int, "int | None", "int | None"]

_LEAVES_EARLY = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await, ast.Try)
_OPEN = (
    *(ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Match, ast.Lambda),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


class Findings:
    """What is wrong in a run of which nothing is reported yet, by the node that is at fault."""

    def __init__(self, muted: int) -> None:
        self.muted = muted
        self.faults: list[tuple[ast.AST, Fault]] = []


def check_ends(
    interpreter: Interpreter,
    iterable: StaticValue,
    target: ast.expr,
    body: Sequence[ast.AST],
    run: Callable[[StaticValue], object],
) -> None:
    """Report where an index is out of range in the first or the last round of a loop over a range.

    Args:
        interpreter: the state of the check, before a round.
        iterable: what is gone through.
        target: the name for an item.
        body: what each round evaluates.
        run: runs one round for an item.
    """
    if interpreter.muted or not isinstance(iterable, RangeValue) or not isinstance(target, ast.Name):
        return
    places = _places(body, target.id)
    if not places:
        return
    for end in _ends(iterable):
        for node, fault in _faults(interpreter, iterable, end, run):
            if _place(node) in places:
                interpreter.fault(node, fault)


def _ends(iterable: RangeValue) -> list[Dim]:
    """The first and the last item of a range that has one."""
    start, stop, step = iterable.start, iterable.stop, iterable.step.constant
    if not step:
        return []
    last = stop - 1 if step == 1 else stop + 1 if step == -1 else start + (stop - start - 1) // step * step
    return [start] if start == last or step < -1 else [start, last]


def _faults(
    interpreter: Interpreter, iterable: RangeValue, end: Dim, run: Callable[[StaticValue], object]
) -> list[tuple[ast.AST, Fault]]:
    context = interpreter.context
    facts, certain, outer = context.facts, context.certain, interpreter.findings

    def round_at_end() -> None:
        rising = (iterable.step.constant or 0) > 0
        low, high = (iterable.start, iterable.stop) if rising else (iterable.stop, iterable.start)
        context.facts = facts.with_at_least(high, low + 1)  # there is a round
        context.certain = False
        run(end)

    findings = interpreter.findings = Findings(interpreter.muted + 1)
    try:
        interpreter.trial(round_at_end)
    finally:
        interpreter.findings = outer
        interpreter.restore(facts, certain)
    return findings.faults


def _place(node: ast.AST) -> Place:
    return (
        getattr(node, "lineno", 0),
        getattr(node, "col_offset", 0),
        getattr(node, "end_lineno", None),
        getattr(node, "end_col_offset", None),
    )


def _places(body: Sequence[ast.AST], name: str) -> frozenset[Place]:
    """Where an index that depends on `name` is read in every round, none if a round may end before it is over."""
    if any(isinstance(node, _LEAVES_EARLY) for root in body for node in walk(root)):
        return frozenset()
    names = {name}
    places: set[Place] = set()
    for root in body:
        for node in _always(root):
            if isinstance(node, ast.Subscript) and any(_mentions(item, names) for item in _ints(node.slice)):
                places.add(_place(node))
                if isinstance(node.ctx, ast.Store):
                    places.add(_place(root))
        if isinstance(root, ast.Assign) and _mentions(root.value, names):
            names.update(target.id for target in root.targets if isinstance(target, ast.Name))
    return frozenset(places)


def _always(root: ast.AST) -> Iterator[ast.AST]:
    """The nodes that are evaluated whenever `root` is."""
    if isinstance(root, _OPEN):
        return
    yield root
    for child in children(root):
        yield from _always(child)


def _ints(index: ast.expr) -> list[ast.expr]:
    """The parts of an index that are no slices."""
    items = index.elts if isinstance(index, ast.Tuple) else [index]
    return [item for item in items if not isinstance(item, ast.Slice)]


def _mentions(node: ast.expr, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in walk(node))
