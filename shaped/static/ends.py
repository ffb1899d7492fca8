"""The first and the last round of a loop whose rounds are not counted: `x[i + 1]` is out of range in the last one.

A round that stands for all says nothing of `x[i + 1]`, which most rounds may read. So the body is also run for the
ends alone, and what is wrong there is said of what every round reaches: no part of an `if`, nothing in a loop that may
be left early.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaped.errors import Fault
from shaped.spec.dims import Dim
from shaped.static.iteration import renewed
from shaped.static.values import ManyValue, RangeValue, StaticValue, as_dim
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


@dataclass(frozen=True)
class End:
    """The round of a loop that begins with `item`. There is one where `most` is at least `least`."""

    item: StaticValue
    least: Dim
    most: Dim


def check_ends(
    interpreter: Interpreter,
    ends: Sequence[End],
    name: str,
    body: Sequence[ast.AST],
    run: Callable[[StaticValue], object],
) -> None:
    """Report where an index is out of range in the first or the last round of a loop.

    Args:
        interpreter: the state of the check, before a round.
        ends: those rounds.
        name: what their number is called.
        body: what each round evaluates.
        run: runs one round for an item.
    """
    places = _places(body, name) if ends and not interpreter.muted else frozenset()
    if not places:
        return
    for end in ends:
        for node, fault in _faults(interpreter, end, run):
            if _place(node) in places:
                interpreter.fault(node, fault)


def ends_of(interpreter: Interpreter, source: ast.expr, iterable: StaticValue) -> list[End]:
    """The ends of a range, or of what `enumerate` numbers."""
    match source, iterable:
        case _, RangeValue():
            return _ends_of_range(iterable)
        case ast.Call(func=ast.Name(id="enumerate"), args=[_], keywords=[]), ManyValue(element=(Dim(), _)):
            assert isinstance(iterable.element, tuple)
            last = iterable.length - 1
            return [End((last, renewed(interpreter, iterable.element[1])), Dim.of(0), last)]
    return []


def name_of_number(target: ast.expr) -> str:
    """What the number of a round is called: `i` of `for i in` and of `for i, x in`; empty if it has no name."""
    if isinstance(target, ast.Tuple) and target.elts:
        target = target.elts[0]
    return target.id if isinstance(target, ast.Name) else ""


def _ends_of_range(numbers: RangeValue) -> list[End]:
    start, stop, step = numbers.start, numbers.stop, numbers.step.constant
    if not step:
        return []
    last = stop - 1 if step == 1 else stop + 1 if step == -1 else start + (stop - start - 1) // step * step
    least, most = (start, stop - 1) if step > 0 else (stop + 1, start)
    items = [start] if start == last or step < -1 else [start, last]
    return [End(item, least, most) for item in items]


def end_of_count(interpreter: Interpreter, node: ast.While) -> Callable[[], list[End]]:
    """The last round of `while i < n` with an `i += 1` in every round; to be asked for again before a round.

    It is there if n is the same before the loop and in it, since i then takes every value from its first one to n - 1.
    """
    match node.test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Lt() | ast.LtE() as operator], comparators=[limit]):
            pass
        case _:
            return list
    if not _counts(node.body, name):
        return list

    def evaluated(expression: ast.expr) -> Dim | None:
        with interpreter.quietly():
            return as_dim(interpreter.evaluate(expression))

    first, before = evaluated(node.test.left), evaluated(limit)

    def ends() -> list[End]:
        now = evaluated(limit)
        if first is None or before is None or now != before:
            return []
        last = before - 1 if isinstance(operator, ast.Lt) else before
        return [End(last, first, last)]

    return ends


def _counts(body: Sequence[ast.stmt], name: str) -> bool:
    """Whether every round of a loop adds 1 to `name`, and does nothing else to it."""
    bindings = [
        node
        for root in body
        for node in walk(root)
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
    ]
    steps = [
        statement
        for statement in body
        if isinstance(statement, ast.AugAssign)
        and isinstance(statement.target, ast.Name)
        and statement.target.id == name
        and isinstance(statement.op, ast.Add)
        and isinstance(statement.value, ast.Constant)
        and statement.value.value == 1
    ]
    return len(bindings) == len(steps) == 1


def _faults(interpreter: Interpreter, end: End, run: Callable[[StaticValue], object]) -> list[tuple[ast.AST, Fault]]:
    context = interpreter.context
    facts, certain, repeats, outer = context.facts, context.certain, context.repeats, interpreter.findings

    def round_at_end() -> None:
        context.facts = facts.with_at_least(end.most, end.least)
        context.certain = context.repeats = False
        run(end.item)

    findings = interpreter.findings = Findings(interpreter.muted + 1)
    try:
        interpreter.trial(round_at_end)
    finally:
        interpreter.findings = outer
        interpreter.restore(facts, certain)
        context.repeats = repeats
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
