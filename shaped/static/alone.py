"""Functions by themselves, for all that callers may give them: what is wrong then is said once, where they stand."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from shaped.static import objects, program
from shaped.static.ends import Findings
from shaped.static.values import ClassValue, FunctionValue, Instance

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter


def run(interpreter: Interpreter, function: FunctionValue, cls: ClassValue | None) -> None:
    """Run a function, or a method of `cls`, for all that callers may give it."""
    if cls is None or function.is_decorated("staticmethod"):
        program.run_alone(interpreter, function)
        return
    scope = f"{cls.module.name}.{cls.name}"
    if isinstance(function.node, ast.FunctionDef) and function.node.name == "__init__":
        objects.generic(interpreter, cls, scope, quiet=False)
        return
    receiver = cls if function.is_decorated("classmethod") else objects.generic(interpreter, cls, scope)
    if isinstance(receiver, (ClassValue, Instance)):
        program.run_alone(interpreter, function, receiver, f"{scope}.{function.name}")


def is_wrong_for_all(interpreter: Interpreter, function: FunctionValue, node: ast.AST) -> bool:
    """Whether a function of another file is wrong at `node` whoever calls it: then that file's own check says so."""
    key = id(function.node)
    if key not in interpreter.wrong_alone:
        interpreter.wrong_alone[key] = ()  # a function that calls itself
        interpreter.wrong_alone[key] = _wrong_nodes(interpreter, function)
    return any(known is node for known in interpreter.wrong_alone[key])


def contradicts_itself(interpreter: Interpreter, function: FunctionValue) -> bool:
    """Whether a function is known to give back something else than it says: then nothing is known of its result."""
    return any(isinstance(node, ast.Return) for node in interpreter.wrong_alone.get(id(function.node), ()))


def _wrong_nodes(interpreter: Interpreter, function: FunctionValue) -> tuple[ast.AST, ...]:
    outer, frame = interpreter.findings, interpreter.frame
    findings = interpreter.findings = Findings(interpreter.muted + 1)
    try:
        with interpreter.quietly(), interpreter.steps_apart():
            interpreter.journal.on_path(partial(run, interpreter, function, function.owner))
    finally:
        interpreter.findings, interpreter.frame = outer, frame
    return tuple(node for node, _ in findings.faults)
