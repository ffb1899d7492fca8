"""The numbers that a function's code mentions: bounds of a clamp, thresholds, indices that mean "ignore".

A gradient goes wrong at such numbers more often than anywhere else, so samples have entries at them.
"""

from __future__ import annotations

import inspect
import math
import types
from typing import TYPE_CHECKING, Any

from shaped.runtime.checked.scope import closure_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Functions on logarithms of probabilities, where -inf is the logarithm of 0.
_LOG_DOMAIN = frozenset(["logsumexp", "logaddexp", "logaddexp2", "logcumsumexp"])
_MOST_CONSTANTS = 8


def constants(functions: tuple[Callable[..., object], ...]) -> tuple[float, ...]:
    """The finite numbers that the code of functions mentions, also by global name or in what they call beside them.

    >>> LOW, HIGH = -0.5, 2.0
    >>> constants((eval("lambda x: x.clamp(LOW, HIGH)", {"LOW": LOW, "HIGH": HIGH}),))
    (-0.5, 2.0)
    """
    found = [value for code, names in _codes(functions) for value in _numbers(code, names)]
    finite = (float(value) for value in found if math.isfinite(value) and abs(value) < 1e9)
    return tuple(sorted(dict.fromkeys(finite), key=abs)[:_MOST_CONSTANTS])


def takes_logarithms(functions: tuple[Callable[..., object], ...]) -> bool:
    """Whether the code computes with logarithms of probabilities: -inf is a regular value of it."""
    return any(_LOG_DOMAIN & set(code.co_names) for code, _ in _codes(functions))


def _codes(functions: tuple[Callable[..., object], ...]) -> Iterator[tuple[types.CodeType, dict[str, Any]]]:
    """The code of functions and of the functions of the same module that they name, each with its globals."""
    waiting: list[Any] = [inspect.unwrap(function) for function in functions]
    seen: set[int] = set()
    while waiting:
        function = waiting.pop(0)
        code = getattr(function, "__code__", None)
        if not isinstance(code, types.CodeType) or id(code) in seen:
            continue
        seen.add(id(code))
        names = getattr(function, "__globals__", {}) | closure_of(function)
        yield code, names
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                yield inner, names
        called = (names.get(name) for name in (*code.co_names, *code.co_freevars))
        module = getattr(function, "__module__", None)
        waiting += [one for one in called if getattr(one, "__module__", None) == module]


def _numbers(code: types.CodeType, names: dict[str, Any]) -> Iterator[float]:
    mentioned = (*code.co_consts, *(names.get(name) for name in (*code.co_names, *code.co_freevars)))
    for value in mentioned:
        parts = value if isinstance(value, tuple) else (value,)
        yield from (part for part in parts if isinstance(part, (int, float)) and not isinstance(part, bool))
