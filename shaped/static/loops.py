"""Loops: counted ones are run round by round, others once from a state that holds for every round."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shaped.spec.dims import Dim, Symbol
from shaped.spec.values import TensorType
from shaped.static import assignment, conditions, ends, iteration, refinement
from shaped.static.changes import objects_changed
from shaped.static.join import covers, forgotten, join, join_many
from shaped.static.journal import Change, Changes, Missing
from shaped.static.node_cache import kept_on_node
from shaped.static.values import ListValue, ManyValue, StaticValue
from shaped.static.walk import walk

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter

MOST_ROUNDS = 16  # a loop of more rounds is run once from a joined state
MOST_WIDENINGS = 4


@dataclass
class Loop:
    """A loop under way, and the states in which paths left its body.

    `continues` are changes since the round began (`round_depth` of the journal), `breaks` since the loop began.
    """

    round_depth: int
    loop_depth: int
    breaks: list[Changes] = field(default_factory=list)
    continues: list[Changes] = field(default_factory=list)


def leave(interpreter: Interpreter, *, continues: bool) -> None:
    """A path leaves the body of the innermost loop: keep its state for where it goes on."""
    if interpreter.here.loops:
        loop = interpreter.here.loops[-1]
        if continues:
            loop.continues.append(interpreter.journal.since(loop.round_depth))
        else:
            loop.breaks.append(interpreter.journal.since(loop.loop_depth))


def execute_for(interpreter: Interpreter, node: ast.For | ast.AsyncFor) -> bool:
    """`for target in iterable`; False if no path goes on behind it."""
    iterable = interpreter.evaluate_present(node.iter)
    rounds = iteration.items(interpreter, iterable)
    is_changed = _is_changed(interpreter, iterable, node.body)
    if rounds is not None and len(rounds) <= MOST_ROUNDS and not is_changed:
        starts = [functools.partial(assignment.assign, interpreter, node.target, value) for value in rounds]
        return _run_counted(interpreter, starts, node.body, node.orelse)
    element, count = iteration.element(interpreter, iterable)

    def start() -> None:
        assignment.assign(interpreter, node.target, element())

    def run_end(item: StaticValue) -> None:
        assignment.assign(interpreter, node.target, item)
        interpreter.execute(node.body)

    _run_widened(
        interpreter,
        start,
        node.body,
        None if is_changed else count,
        lambda: ends.check_ends(
            interpreter,
            ends.ends_of(interpreter, node.iter, iterable),
            ends.name_of_number(node.target),
            node.body,
            run_end,
        ),
    )
    return interpreter.execute(node.orelse)


def _is_changed(interpreter: Interpreter, iterable: StaticValue, body: list[ast.stmt]) -> bool:
    """Whether a loop over a list changes the list, so that its items are not those that were counted."""
    if not isinstance(iterable, ListValue):
        return False
    with interpreter.quietly():
        owners = [owner for statement in body for owner in objects_changed(statement)]
        return any(interpreter.evaluate(owner) is iterable for owner in owners)


def execute_while(interpreter: Interpreter, node: ast.While) -> bool:
    """`while test`; False if no path goes on behind it."""
    if conditions.truth(interpreter, node.test) is False:
        return interpreter.execute(node.orelse)
    endless = isinstance(node.test, ast.Constant) and bool(node.test.value)

    def start() -> None:
        conditions.truth(interpreter, node.test)
        refinement.refine(interpreter, node.test, True)

    end_of_count = ends.end_of_count(interpreter, node)

    def run_end(item: StaticValue) -> None:
        assert isinstance(node.test, ast.Compare)
        assignment.assign(interpreter, node.test.left, item)
        interpreter.execute(node.body)

    def check_ends() -> None:
        if found := end_of_count():
            assert isinstance(node.test, ast.Compare)
            ends.check_ends(interpreter, found, ends.name_of_number(node.test.left), node.body, run_end)

    broke = _run_widened(interpreter, start, node.body, None, check_ends)
    if endless:
        return broke
    refinement.refine(interpreter, node.test, False)
    return interpreter.execute(node.orelse)


def _round(interpreter: Interpreter, start: Callable[[], None], body: list[ast.stmt], loop: Loop) -> bool:
    """Run one round on the path under way; False if no path reaches its end."""
    facts = interpreter.context.facts
    loop.round_depth = interpreter.journal.depth()
    loop.continues = []

    def run() -> bool:
        start()
        return interpreter.execute(body)

    interpreter.here.loops.append(loop)
    try:
        goes_on, changes = interpreter.on_path(run)
    finally:
        interpreter.here.loops.pop()
    ends = [*([changes] if goes_on else []), *loop.continues]
    interpreter.join_paths(ends)
    # What a round learned need not hold in the next one: its names are bound anew.
    interpreter.restore(facts, interpreter.context.certain)
    return bool(ends)


def _run_counted(
    interpreter: Interpreter, starts: Sequence[Callable[[], None]], body: list[ast.stmt], orelse: list[ast.stmt]
) -> bool:
    context = interpreter.context
    certain, repeats = context.certain, context.repeats
    if starts and _changes_shapes(interpreter, starts[0], body):
        # What one round leaves to the next is joined with what was there before.
        context.certain = context.repeats = False
    loop = Loop(0, interpreter.journal.depth())

    def run() -> bool:
        return all(_round(interpreter, start, body, loop) for start in starts) and interpreter.execute(orelse)

    goes_on, changes = interpreter.journal.on_path(run)
    context.certain, context.repeats = certain, repeats
    ends = [*([changes] if goes_on else []), *loop.breaks]
    interpreter.join_paths(ends)
    return bool(ends)


def _changes_shapes(interpreter: Interpreter, start: Callable[[], None], body: list[ast.stmt]) -> bool:
    """Whether a round leaves a tensor to the next one in another shape than it had before."""
    names = interpreter.here.environment.names
    assigned = frozenset().union(*map(_assigned, body))
    if interpreter.in_trial or not any(isinstance(names.get(name), TensorType) for name in assigned):
        return False
    before = dict(names)
    loop = Loop(0, interpreter.journal.depth())
    changes = interpreter.trial(lambda: _round(interpreter, start, body, loop))
    return any(
        slots is names
        and isinstance(value, TensorType)
        and isinstance(old := before.get(str(key)), TensorType)
        and old.shape != value.shape
        for slots, key, value in changes.slots.values()
    )


@kept_on_node
def _assigned(root: ast.stmt) -> frozenset[str]:
    """The names that a statement may bind anew."""
    return frozenset(node.id for node in walk(root) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _run_widened(
    interpreter: Interpreter,
    start: Callable[[], None],
    body: list[ast.stmt],
    count: Dim | None,
    check_ends: Callable[[], None] | None = None,
) -> bool:
    """Run a body once from a state that holds for every round; whether a path broke out of it."""
    context = interpreter.context
    grown = _widen_entry(interpreter, start, body)
    if check_ends is not None:
        check_ends()
    certain, repeats = context.certain, context.repeats
    context.repeats = context.is_clear
    context.certain = False
    loop = Loop(0, interpreter.journal.depth())

    def run() -> bool:
        return _round(interpreter, start, body, loop)

    goes_on, changes = interpreter.journal.on_path(run)
    context.certain, context.repeats = certain, repeats
    ends = [*([changes] if goes_on else []), *loop.breaks]
    entries = {change: slots.get(key) for change, (slots, key, _) in changes.slots.items() if change in grown}
    never_skipped = count is not None and context.is_at_least(count, 1)
    interpreter.join_paths(ends if ends and never_skipped else [*ends, Changes()])
    if count is not None and goes_on and not loop.breaks:
        for change, (slots, key, value) in changes.slots.items():
            entry = entries.get(change)
            if isinstance(value, ManyValue) and isinstance(entry, ManyValue):
                original, added = grown[change]
                if value.length != entry.length + added:
                    continue  # not every round adds as much as the first one
                interpreter.journal.set(slots, key, ManyValue(value.element, count * added + original))
    return bool(loop.breaks)


def _widen_entry(
    interpreter: Interpreter, start: Callable[[], None], body: list[ast.stmt]
) -> dict[Change, tuple[int, int]]:
    """Replace what rounds change by what holds before every round.

    Gives the lists that each round makes longer: (their length before the loop, what a round adds).
    """
    grown: dict[Change, tuple[int, int]] = {}
    first_number = interpreter.context.count()
    most = 1 if interpreter.in_trial else MOST_WIDENINGS

    def is_wide(symbol: Symbol) -> bool:
        return symbol.number is not None and symbol.number >= first_number

    for attempt in range(most + 1):
        loop = Loop(0, interpreter.journal.depth())
        changes = interpreter.trial(functools.partial(_round, interpreter, start, body, loop))
        stable = True
        for change, (slots, key, value) in changes.slots.items():
            if key not in slots:
                continue  # first set inside: each round sets it anew
            old = slots[key]
            if not isinstance(value, Missing) and covers(old, value, is_wide):
                continue
            stable = False
            if attempt == 0 and isinstance(old, tuple) and isinstance(value, tuple) and len(value) > len(old):
                grown[change] = (len(old), len(value) - len(old))
            if isinstance(value, Missing) or attempt == most:
                new = forgotten(interpreter.context, key)
            else:
                new = _widen(interpreter, old, value)
            interpreter.journal.set(slots, key, new)
        if stable:
            break
    return grown


def _widen(interpreter: Interpreter, old: StaticValue, new: StaticValue) -> StaticValue:
    if isinstance(old, Dim) and isinstance(new, Dim):
        return interpreter.context.fresh(low=None)
    if isinstance(old, tuple) and isinstance(new, tuple) and len(old) != len(new):
        return ManyValue(join_many(interpreter.context, old, new).element, interpreter.context.fresh())
    return join(interpreter.context, old, new)
