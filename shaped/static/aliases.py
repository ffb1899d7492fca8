"""The names that hold one and the same value: what is changed in place is changed under all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.static.values import Environment, StaticValue

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter


def replace_everywhere(interpreter: Interpreter, before: StaticValue, after: StaticValue) -> None:
    """Every name, of the functions under way, that holds the very value `before` holds `after`."""
    frame = interpreter.frame
    while frame is not None:
        scope: Environment | None = frame.environment
        while scope is not None:
            for name in [name for name, value in scope.names.items() if value is before]:
                interpreter.journal.set(scope.names, name, after, local=True)
            scope = scope.outer
        frame = frame.caller
