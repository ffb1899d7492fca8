"""Conditions: whether they hold on the path under way."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from shaped.static import comparisons, one_element, refinement
from shaped.static.journal import Changes
from shaped.static.values import (
    Claim,
    StaticValue,
)
from shaped.static.walk import walk

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter

T = TypeVar("T")


def truth(interpreter: Interpreter, test: ast.expr) -> bool | None:
    """Whether a condition holds, None if it may or may not."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = truth(interpreter, operand)
            return None if inner is None else not inner
        case ast.BoolOp(op=op, values=[first, *rest]):
            stop = isinstance(op, ast.Or)
            answer = truth(interpreter, first)
            if answer is stop or not rest:
                return answer
            others = ast.copy_location(ast.BoolOp(op, rest), test)
            if answer is not None:
                return truth(interpreter, others)
            answer = where_open(interpreter, first, rest[0], stop, lambda: truth(interpreter, others))
            return stop if answer is stop else None
        case ast.Compare():
            values = [interpreter.evaluate(node) for node in (test.left, *test.comparators)]
            one_element.check_compared(interpreter, test, values)
            return comparisons.comparison_truth(interpreter, test.ops, values)
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
    value = interpreter.evaluate(test)
    one_element.check_truth(interpreter, test, value)
    return comparisons.claim_truth(interpreter, value) if isinstance(value, Claim) else comparisons.truth_of(value)


def where_open(interpreter: Interpreter, first: ast.expr, second: ast.expr, stop: bool, run: Callable[[], T]) -> T:
    """Run what `and` and `or` only read where their first part leaves it open; it may or may not have been run then."""
    context = interpreter.context
    facts, certain, guarded = context.facts, context.certain, interpreter.guarded

    def path() -> tuple[T, Changes]:
        if not refinement.refine(interpreter, first, not stop):
            context.certain, interpreter.guarded = False, True
        return interpreter.journal.on_path(run)

    (result, changes), _ = interpreter.journal.on_path(path)
    interpreter.restore(facts, certain)
    interpreter.guarded = guarded
    interpreter.operands[id(second)] = changes
    interpreter.join_paths([changes, Changes()])
    return result


def never_returns(interpreter: Interpreter, node: ast.expr) -> bool:
    """Whether a call ends the program."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func
    if isinstance(name, ast.Attribute) and isinstance(name.value, ast.Name):
        return (name.value.id, name.attr) in (("sys", "exit"), ("os", "_exit"))
    return isinstance(name, ast.Name) and name.id in ("exit", "quit")


def pattern_test(interpreter: Interpreter, subject: ast.expr, case: ast.match_case) -> ast.expr | None:
    """A case of a `match` as a condition, None if its pattern captures or was not understood."""
    test = _pattern_condition(subject, case.pattern)
    if test is None:
        return None
    if case.guard is not None:
        test = ast.BoolOp(ast.And(), [test, case.guard])
    return ast.fix_missing_locations(ast.copy_location(test, subject))


def _pattern_condition(subject: ast.expr, pattern: ast.pattern) -> ast.expr | None:
    match pattern:
        case ast.MatchValue(value=value):
            return ast.Compare(subject, [ast.Eq()], [value])
        case ast.MatchSingleton(value=value):
            return ast.Compare(subject, [ast.Is()], [ast.Constant(value)])
        case ast.MatchOr(patterns=patterns):
            tests = [_pattern_condition(subject, option) for option in patterns]
            known = [test for test in tests if test is not None]
            return ast.BoolOp(ast.Or(), known) if len(known) == len(tests) else None
    return None


def capture(interpreter: Interpreter, pattern: ast.pattern, value: StaticValue) -> None:
    """The names that a pattern binds."""
    for node in walk(pattern):
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        if isinstance(name, str):
            interpreter.assign_name(name, value)
