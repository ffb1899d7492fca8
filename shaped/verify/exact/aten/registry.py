"""The table of ATen operations that are read exactly: a rule for each, found by overload or by operation.

A rule takes the operation's arguments, floating tensors as `Value`, all others as they are, and gives values back for
floating results, tensors for whole numbers and booleans.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Rule = Callable[..., Any]

RULES: dict[str, Rule] = {}


class UnsupportedError(Exception):
    """An operation, or a use of it, that is not read exactly."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Declare a rule.

    Args:
        names: operations (`mul`), for all their overloads, or overloads (`max.dim`), which go first.
    """

    def declare(function: Rule) -> Rule:
        for name in names:
            assert name not in RULES, f"two rules for {name}"
            RULES[name] = function
        return function

    return declare


def find_rule(operation: str, overload: str) -> Rule | None:
    """The rule for an operation, if there is one."""
    return RULES.get(f"{operation}.{overload}") or RULES.get(operation)
