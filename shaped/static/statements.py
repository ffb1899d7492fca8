"""What statements do to the path under way. Each function says whether a path goes on behind the statement."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from shaped.errors import Fault
from shaped.static import annotate, assignment, conditions, functions, loops, refinement
from shaped.static.imports import absolute_name
from shaped.static.join import forgotten
from shaped.static.journal import Changes, Touched
from shaped.static.values import UNKNOWN, External, Imported, StaticValue

if TYPE_CHECKING:
    from shaped.spec.facts import Facts
    from shaped.static.interpreter import Interpreter


def execute(interpreter: Interpreter, node: ast.stmt) -> bool:
    """Run one statement; False if no path goes on behind it."""
    assumed = len(interpreter.context.assumptions)
    try:
        goes_on = _EXECUTE.get(type(node), _other)(interpreter, node)
    except Fault as fault:
        interpreter.fault(node, fault)
        goes_on = True
    if len(interpreter.context.assumptions) > assumed and not isinstance(node, _COMPOUND):
        interpreter.assume(node, assumed)
    return goes_on


_COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match, ast.FunctionDef, ast.ClassDef)


def _other(interpreter: Interpreter, node: ast.stmt) -> bool:
    return True


def _expression(interpreter: Interpreter, node: ast.Expr) -> bool:
    interpreter.evaluate(node.value)
    return not conditions.never_returns(interpreter, node.value)


def _return(interpreter: Interpreter, node: ast.Return) -> bool:
    value: StaticValue = None if node.value is None else interpreter.evaluate(node.value)
    functions.leave(interpreter, node, value)
    return False


def _raise(interpreter: Interpreter, node: ast.Raise) -> bool:
    return False


def _if(interpreter: Interpreter, node: ast.If) -> bool:
    def path(positive: bool) -> Callable[[], bool]:
        return lambda: interpreter.execute(node.body if positive else node.orelse)

    return branch(interpreter, node.test, path(True), path(False))


def branch(interpreter: Interpreter, test: ast.expr, if_true: Callable[[], bool], if_false: Callable[[], bool]) -> bool:
    """Run the paths that a condition leaves open, and join what they leave behind; False if none goes on."""
    truth = conditions.truth(interpreter, test)
    if truth is not None:
        refinement.refine(interpreter, test, truth)
        return (if_true if truth else if_false)()
    facts, certain, guarded = interpreter.context.facts, interpreter.context.certain, interpreter.guarded
    live: list[tuple[Changes, Facts, bool]] = []
    for positive, run in ((True, if_true), (False, if_false)):

        def path(positive: bool = positive, run: Callable[[], bool] = run) -> tuple[bool, bool]:
            understood = refinement.refine(interpreter, test, positive)
            if not understood:
                interpreter.context.certain, interpreter.guarded = False, True
            return run(), understood

        (goes_on, understood), changes = interpreter.on_path(path)
        if goes_on:
            live.append((changes, interpreter.context.facts, understood))
        interpreter.restore(facts, certain)
        interpreter.guarded = guarded
    interpreter.join_paths([changes for changes, _, _ in live])
    if live:
        joined = live[0][1]
        for _, other, _ in live[1:]:
            joined = joined.join(other)
        interpreter.context.facts = joined
    if len(live) == 1:
        # The other path left: what follows is run only under a condition, which may bind sizes in unknown ways.
        interpreter.context.certain = certain and live[0][2]
        interpreter.guarded = guarded or not live[0][2]
    return bool(live)


def _with(interpreter: Interpreter, node: ast.With | ast.AsyncWith) -> bool:
    swallows = False
    for item in node.items:
        value = interpreter.evaluate(item.context_expr)
        swallows = swallows or functions.swallows(value, item.context_expr)
        if item.optional_vars is not None:
            assignment.assign(interpreter, item.optional_vars, functions.entered(interpreter, value))
    if not swallows:
        return interpreter.execute(node.body)
    facts = interpreter.context.facts
    with interpreter.journal.watching() as touched, interpreter.quietly():
        interpreter.on_path(lambda: interpreter.execute(node.body))
    interpreter.restore(facts, interpreter.context.certain)
    _forget(interpreter, touched)
    return True


def _try(interpreter: Interpreter, node: ast.Try | ast.TryStar) -> bool:
    facts, certain, repeats = interpreter.context.facts, interpreter.context.certain, interpreter.context.repeats
    live: list[Changes] = []

    def normal() -> bool:
        return interpreter.execute(node.body) and interpreter.execute(node.orelse)

    left = _Left(interpreter)
    # A fault inside `try` may be meant: code probes what works. It is not reported when something catches it.
    quiet = bool(node.handlers)
    interpreter.muted += quiet
    try:
        with interpreter.journal.watching() as touched:
            goes_on, changes = interpreter.on_path(normal)
    finally:
        interpreter.muted -= quiet
    if goes_on:
        live.append(changes)
    after_body = interpreter.context.facts
    for handler in node.handlers:
        interpreter.context.facts = facts
        interpreter.context.certain = interpreter.context.repeats = False

        def handle(handler: ast.ExceptHandler = handler) -> bool:
            # What the body changed may or may not have happened before it raised.
            _forget(interpreter, touched)
            if handler.name:
                interpreter.assign_name(handler.name, UNKNOWN)
            return interpreter.execute(handler.body)

        handled, after = interpreter.on_path(handle)
        if handled:
            live.append(after)
    interpreter.join_paths(live)
    interpreter.context.facts = after_body if goes_on and len(live) == 1 else facts
    interpreter.context.certain, interpreter.context.repeats = certain, repeats
    with interpreter.journal.watching() as touched_finally:
        goes_on = interpreter.execute(node.finalbody)
    left.forget(touched_finally)
    return goes_on and bool(live)


def _forget(interpreter: Interpreter, touched: Touched) -> None:
    for slots, key in touched.values():
        interpreter.journal.set(slots, key, forgotten(interpreter.context, key))


class _Left:
    """The paths that leave a `try` by return, break or continue: they pass its `finally` block."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self._before = [len(changes) for changes in self._lists()]

    def _lists(self) -> list[list[Changes]]:
        frame = self._interpreter.here
        lists = [[end.changes for end in frame.returned]]
        return lists + [changes for loop in frame.loops[-1:] for changes in (loop.breaks, loop.continues)]

    def forget(self, touched: Touched) -> None:
        """What the `finally` block changes is not known on these paths."""
        for changes, count in zip(self._lists(), self._before):
            for path in changes[count:]:
                for change, (slots, key) in touched.items():
                    path.slots[change] = (slots, key, forgotten(self._interpreter.context, key))


def _match(interpreter: Interpreter, node: ast.Match) -> bool:
    interpreter.evaluate(node.subject)
    return _cases(interpreter, node.subject, node.cases)


def _cases(interpreter: Interpreter, subject: ast.expr, cases: list[ast.match_case]) -> bool:
    if not cases:
        return True
    case, rest = cases[0], cases[1:]
    test = conditions.pattern_test(interpreter, subject, case)
    if test is None:
        conditions.capture(interpreter, case.pattern, UNKNOWN)
        if isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None:
            if case.pattern.name:
                interpreter.assign_name(case.pattern.name, interpreter.evaluate(subject))
            return interpreter.execute(case.body)
        test = ast.copy_location(ast.Name("_not_followed_", ast.Load()), subject)
    return branch(interpreter, test, lambda: interpreter.execute(case.body), lambda: _cases(interpreter, subject, rest))


def _assert(interpreter: Interpreter, node: ast.Assert) -> bool:
    if conditions.truth(interpreter, node.test) is False:
        return isinstance(node.test, ast.Constant) is False
    refinement.refine(interpreter, node.test, True)
    return True


def _import(interpreter: Interpreter, node: ast.Import) -> bool:
    for alias in node.names:
        name = alias.name if alias.asname else alias.name.split(".", 1)[0]
        found = interpreter.imports.load(name, interpreter.here.module)
        value: StaticValue = found or External(name)
        interpreter.assign_name(alias.asname or name, value)
    return True


def _import_from(interpreter: Interpreter, node: ast.ImportFrom) -> bool:
    name = absolute_name(interpreter.here.module, node.level, node.module)
    for alias in node.names:
        if alias.name == "*":
            functions.import_all(interpreter, name)
            continue
        interpreter.assign_name(alias.asname or alias.name, Imported(name, alias.name))
    return True


def _define_function(interpreter: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    functions.define(interpreter, node)
    return True


def _define_class(interpreter: Interpreter, node: ast.ClassDef) -> bool:
    functions.define_class(interpreter, node)
    return True


def _global(interpreter: Interpreter, node: ast.Global) -> bool:
    for name in node.names:
        interpreter.here.declared[name] = interpreter.here.module.environment
    return True


def _nonlocal(interpreter: Interpreter, node: ast.Nonlocal) -> bool:
    outer = interpreter.here.environment.outer
    for name in node.names:
        scope = outer.find(name) if outer is not None else None
        if scope is not None:
            interpreter.here.declared[name] = scope
    return True


def _delete(interpreter: Interpreter, node: ast.Delete) -> bool:
    for target in node.targets:
        if isinstance(target, ast.Name):
            interpreter.assign_name(target.id, UNKNOWN)
        elif isinstance(target, (ast.Subscript, ast.Attribute)):
            assignment.forget(interpreter, target.value)
    return True


def _break(interpreter: Interpreter, node: ast.Break) -> bool:
    loops.leave(interpreter, continues=False)
    return False


def _continue(interpreter: Interpreter, node: ast.Continue) -> bool:
    loops.leave(interpreter, continues=True)
    return False


def _type_alias(interpreter: Interpreter, node: ast.stmt) -> bool:
    annotate.declare_alias(interpreter, node)
    return True


_EXECUTE: dict[type[ast.stmt], Callable[..., bool]] = {
    ast.Expr: _expression,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.If: _if,
    ast.For: loops.execute_for,
    ast.AsyncFor: loops.execute_for,
    ast.While: loops.execute_while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.Match: _match,
    ast.Assert: _assert,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.FunctionDef: _define_function,
    ast.AsyncFunctionDef: _define_function,
    ast.ClassDef: _define_class,
    ast.Global: _global,
    ast.Nonlocal: _nonlocal,
    ast.Delete: _delete,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Assign: assignment.execute_assign,
    ast.AnnAssign: assignment.execute_annotated,
    ast.AugAssign: assignment.execute_augmented,
}
if hasattr(ast, "TypeAlias"):
    _EXECUTE[ast.TypeAlias] = _type_alias
