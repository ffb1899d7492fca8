"""A program in the form in which Pyrefly reads jaxtyping annotations: dims declared above each function.

Pyrefly checks the shapes of a jaxtyping annotation only under `@static_jaxtyping("b c *rest")`, which names the dims.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_READ = re.compile(r"\*?#?[A-Za-z]\w*|#?[A-Za-z]\w*[+-]\d+|\d+|_|\.\.\.")  # other words it refuses
_NAME = re.compile(r"\*?[A-Za-z]\w*")
_IMPORT = "from shape_extensions import static_jaxtyping\n"


def with_declared_dims(text: str) -> str:
    """Declare the dims of each function whose annotations Pyrefly can read; the others stay as they are.

    >>> print(with_declared_dims('def f(x: Float[Tensor, "*s n+1"]) -> Float[Tensor, "*s n"]: ...'))
    from shape_extensions import static_jaxtyping
    @static_jaxtyping("*s n")
    def f(x: Float[Tensor, "*s n+1"]) -> Float[Tensor, "*s n"]: ...
    """
    tree = ast.parse(text)
    above: dict[int, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            words = [word for shape in _shapes(node) for word in shape.split()]
            if words and all(_READ.fullmatch(word) for word in words):
                names = [match[0] for word in words if (match := _NAME.search(word.replace("#", "")))]
                line = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                above[line] = f'{" " * node.col_offset}@static_jaxtyping("{" ".join(dict.fromkeys(names))}")\n'
    if not above:
        return text
    lines = text.splitlines(keepends=True)
    for line in sorted(above, reverse=True):
        lines.insert(line - 1, above[line])
    lines.insert(_first_line(tree) - 1, _IMPORT)
    return "".join(lines)


def _shapes(function: ast.FunctionDef) -> Iterator[str]:
    """The shapes in the annotations of a function, also in its body."""
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
            shape = node.slice.elts[1]
            if isinstance(shape, ast.Constant) and isinstance(shape.value, str):
                yield shape.value
            elif isinstance(shape, ast.JoinedStr):
                yield "{}"


def _first_line(tree: ast.Module) -> int:
    """The line of the first statement behind the docstring and the imports from `__future__`."""
    for node in tree.body:
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            decorators = getattr(node, "decorator_list", [])
            return min([node.lineno, *(one.lineno for one in decorators)])
    return 1
