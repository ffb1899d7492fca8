"""What a built-in function is to the checker."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shaped.static.arguments import Arguments
    from shaped.static.interpreter import Interpreter
    from shaped.static.values import StaticValue

Builtin = Callable[["Interpreter", "Arguments", ast.AST], "StaticValue"]
