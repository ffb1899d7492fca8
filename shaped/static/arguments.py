"""The arguments of a call."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shaped.spec import ops as _all_ops  # noqa: F401  # declares the operations
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN
from shaped.static.values import (
    DictValue,
    ListValue,
    ManyValue,
    ShapeValue,
    StaticValue,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter


class Arguments:
    """The arguments of a call. `complete` is False when a `*` or `**` hides some."""

    def __init__(self) -> None:
        self.args: list[StaticValue] = []
        self.kwargs: dict[str, StaticValue] = {}
        self.nodes: dict[int | str, ast.expr] = {}
        self.complete = True
        self.many: list[tuple[int, tuple[StaticValue, ...] | ManyValue]] = []  # where a `*` of items not counted stood
        self.axes: Shape | None = None  # the sizes, when an argument `*x.shape[:-1]` is a shape of unknown rank


def evaluate_arguments(interpreter: Interpreter, node: ast.Call) -> Arguments:
    """The arguments of a call, in order."""
    from shaped.static import iteration

    found = Arguments()
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = interpreter.evaluate_present(argument.value)
            counted = iteration.items(interpreter, value)
            if counted is not None:
                found.args.extend(counted)
            elif isinstance(value, ShapeValue) and found.axes is None:
                found.axes = value.shape
                found.args.append(value)
            else:
                found.many.append((len(found.args), iteration.content(interpreter, value)))
                found.complete = False
        else:
            found.nodes[len(found.args)] = argument
            found.args.append(interpreter.evaluate(argument))
    for keyword in node.keywords:
        value = interpreter.evaluate(keyword.value)
        if keyword.arg is not None:
            found.kwargs[keyword.arg] = value
            found.nodes[keyword.arg] = keyword.value
        elif isinstance(value, DictValue):
            found.kwargs.update({key: item for key, item in value.items.items() if isinstance(key, str)})
            found.complete = found.complete and value.complete
        else:
            found.complete = False
    return found


def forget_arguments(interpreter: Interpreter, arguments: Arguments) -> None:
    """A function that is not followed may change the lists that it is given, and cast and move the modules."""
    from shaped.static import placement

    for value in (*arguments.args, *arguments.kwargs.values()):
        if isinstance(value, ListValue):
            interpreter.journal.set(value.__dict__, "content", ManyValue(UNKNOWN, interpreter.context.fresh()))
        elif isinstance(value, DictValue):
            for known in list(value.items):
                interpreter.journal.set(value.items, known, UNKNOWN)
            interpreter.journal.set(value.__dict__, "complete", False)
        else:
            placement.forget(interpreter, value)
