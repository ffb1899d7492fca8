"""What the program's own code makes of annotations: axes in a name, objects that answer `Float["b d"]`."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from shaped.static import annotate, program
from shaped.static import annotations as forms
from shaped.static.annotations import TypeForm
from shaped.static.values import ClassValue, FunctionValue, Instance

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter


@dataclass
class RunAnnotations:
    """See `annotations.Known`."""

    interpreter: Interpreter

    def text(self, node: ast.expr) -> str | None:
        """The string that an expression gives."""
        with self.interpreter.quietly():
            value = self.interpreter.evaluate(node)
        return value if isinstance(value, str) else None

    def subscripted(self, node: ast.Subscript) -> TypeForm | None:
        """What `Float["b d"]` gives where `__getitem__` is written as `return self.dtype[Tensor, axes]`."""
        interpreter = self.interpreter
        receiver = annotate.named(interpreter, node.value)
        if isinstance(receiver, Instance):
            method = receiver.cls.find("__getitem__")
        else:
            method = receiver.find("__class_getitem__") if isinstance(receiver, ClassValue) else None
        if not isinstance(method, FunctionValue):
            return None
        given = _only_result(method)
        if given is None:
            return None
        with interpreter.quietly():
            bound = program.bind(interpreter, method, [receiver, interpreter.evaluate(node.slice)], {})
        if bound is None:
            return None
        frame = interpreter.new_frame(method.module, method.environment, "", method)
        frame.environment.names.update(bound)
        with interpreter.in_frame(frame):
            # Not kept: the same expression stands for another annotation when it is given other axes.
            return forms.read(given, partial(annotate.resolve, interpreter), interpreter.aliases.get, known=self)


def _only_result(function: FunctionValue) -> ast.Subscript | None:
    """The subscript that a function gives back and does nothing beside."""
    if not isinstance(function.node, ast.FunctionDef):
        return None
    body = [node for node in function.node.body if not isinstance(node, ast.Expr)]  # but its docstring
    returned = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
    return returned if isinstance(returned, ast.Subscript) else None
