"""The names of a checked call as jaxtyping keeps them, for bodies that ask `isinstance(y, Float[Tensor, "b"])`."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

from jaxtyping import _storage  # no public name opens a scope with names bound

from shaped.runtime.checked.reference import PackSizes

Memo = tuple[dict[str, int], dict[str, PackSizes], dict[str, Any], dict[str, Any]]
"""jaxtyping's own record: sizes of names, of `*name`s, structures of trees, arguments."""

_READERS = frozenset(["isinstance", "issubclass", "print_bindings"])


def reads_scope(function: Callable[..., Any]) -> bool:
    """Whether the body of a function may ask for the names of its call.

    >>> reads_scope(lambda x: isinstance(x, int)), reads_scope(lambda x: x + 1)
    (True, False)
    """
    code = getattr(function, "__code__", None)
    return code is not None and any(_READERS.intersection(inner.co_names) for inner in _codes(code))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A function's code and that of all functions and comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def open_scope(sizes: dict[str, int], packs: dict[str, PackSizes], arguments: dict[str, Any]) -> None:
    """Make the names of a call those that jaxtyping sees."""
    memo = _storage.push_shape_memo(arguments)
    memo[0].update(sizes)
    memo[1].update(packs)


def close_scope() -> Memo:
    """Leave the call; gives the names that its body has bound as well."""
    memo: Memo = _storage._shape_storage.memo_stack.pop()
    return memo
