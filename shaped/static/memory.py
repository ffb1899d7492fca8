"""Calls that were followed before: a layer that is applied twelve times is interpreted once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shaped.spec.op import Module
from shaped.static.fingerprints import Same
from shaped.static.values import Container, DictValue, FunctionValue, Instance, ListValue, ManyValue, Maybe, StaticValue

if TYPE_CHECKING:
    from shaped.spec.facts import Facts
    from shaped.static.interpreter import Interpreter

Result = tuple["StaticValue", "Facts"]


@dataclass
class Memory:
    """The results of calls by what they depend on. A call that reported its faults serves one that does not, too."""

    results: dict[tuple[Hashable, bool], Result] = field(default_factory=dict)

    def recall(self, key: Hashable | None, *, quiet: bool) -> Result | None:
        """The result of an equal call, None if there was none."""
        if key is None:
            return None
        found = self.results.get((key, False))
        return found if found is not None or not quiet else self.results.get((key, True))

    def keep(self, key: Hashable | None, result: Result, *, quiet: bool) -> None:
        """Remember a call that changed nothing."""
        if key is not None and not _is_object(result[0]):
            self.results[(key, quiet)] = result


def key(interpreter: Interpreter, function: FunctionValue, bound: dict[str, StaticValue]) -> Hashable | None:
    """What the result of a call depends on, None if that cannot be told."""
    context, fingerprints = interpreter.context, interpreter.fingerprints
    try:
        scope = (Same(function.node), Same(function.environment), fingerprints.around(function))
        values = tuple((name, fingerprints.of(value)) for name, value in bound.items())
        complete = (scope, values, context.certain, context.is_clear, context.facts)
        hash(complete)
    except TypeError:
        return None
    return complete


def _is_object(value: object) -> bool:
    """Whether a value is or holds an object that each call makes anew."""
    if isinstance(value, tuple):
        return any(map(_is_object, value))
    if isinstance(value, (Maybe, ManyValue)):
        return _is_object(value.value if isinstance(value, Maybe) else value.element)
    return isinstance(value, (ListValue, DictValue, Instance, Container, Module))
