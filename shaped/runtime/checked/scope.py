"""The names of a checked call as jaxtyping keeps them: its dynamic scope.

A body may ask `isinstance(y, Float[Tensor, "b"])`, or call a function that does: `b` is that of the call under way.
jaxtyping keeps the calls of a thread on a stack; generated code puts its own calls on the same one.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import jaxtyping
from jaxtyping import AbstractArray, AbstractDtype, _storage  # no public name opens a scope with names bound

STORAGE: Any = _storage._shape_storage
"""Holds the stack of the thread, once there is one: `memo_stack`, a list of `(sizes, packs, trees, arguments)`."""

_READERS = frozenset(["isinstance", "issubclass", "print_bindings"])


def new_stack() -> list[Any]:
    """The first stack of a thread."""
    _storage.push_shape_memo({})
    _storage.pop_shape_memo()
    stack: list[Any] = STORAGE.memo_stack
    return stack


def compile_test() -> Callable[[], bool] | None:
    """Says whether torch is compiling, so that a call is traced and has no scope; None without torch."""
    torch = sys.modules.get("torch")
    return None if torch is None else torch.compiler.is_dynamo_compiling


def reads_scope(function: Any) -> bool:
    """Whether the body of a function may ask for the names of its call.

    >>> reads_scope(lambda x: isinstance(x, int)), reads_scope(lambda x: x + 1)
    (True, False)
    """
    return not _READERS.isdisjoint(names_in(function))


def asks_jaxtyping(function: Any) -> bool:
    """Whether the body of a function asks `isinstance` of one of jaxtyping's annotations.

    torch.compile answers that wrongly: it knows nothing of axes.
    """
    if not reads_scope(function):
        return False
    plain = inspect.unwrap(function)
    around = getattr(plain, "__globals__", {}) | closure_of(plain)
    names = names_in(function) | set(closure_of(plain))
    return any(_is_of_jaxtyping(around.get(name)) for name in names)


def _is_of_jaxtyping(value: Any) -> bool:
    return value is jaxtyping or (isinstance(value, type) and issubclass(value, (AbstractArray, AbstractDtype)))


def closure_of(function: Any) -> dict[str, Any]:
    """The variables around a function that it uses."""
    found = {}
    code = getattr(function, "__code__", None)
    for name, cell in zip(getattr(code, "co_freevars", ()), getattr(function, "__closure__", None) or ()):
        with contextlib.suppress(ValueError):  # not assigned yet
            found[name] = cell.cell_contents
    return found


def names_in(function: Any) -> frozenset[str]:
    """The global names and attributes that a function uses, and those of what it wraps and of functions in it."""
    names: set[str] = set()
    while function is not None:
        code = getattr(function, "__code__", None)
        if code is not None:
            names.update(*(inner.co_names for inner in _codes(code)))
        function = getattr(function, "__wrapped__", None)
    return frozenset(names)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A function's code and that of all functions and comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)
