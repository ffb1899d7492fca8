"""The reference, `jaxtyped(typechecker=beartype)`, beside `checked`: what each does with one call.

A call is written in one line: the axes of each argument with the shape that it has, `k = 3` for an int argument, and
the axes and the shape of what the function returns: `b c: 3 4; k = 2 -> c {k}: 4 2`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import jaxtyping
import torch
from beartype import beartype
from jaxtyping import Float, jaxtyped
from torch import Tensor

import shaped.errors
from shaped.runtime.checked import checked

DECORATORS: dict[str, Callable[[Any], Any]] = {"jaxtyped": jaxtyped(typechecker=beartype), "checked": checked}


class Outcome(Enum):
    """What a call does."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    MALFORMED = "the annotation says nothing"


MALFORMED = (jaxtyping.AnnotationError, shaped.errors.AnnotationError)
"""What says that an annotation is malformed."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a signature and the value that a call gives it.

    Args:
        name: its name; with a `*` or `**` in front it takes every argument in `values`.
        annotation: its annotation, None for a parameter without one.
        values: the values that the call gives it: one; none where it has a default; several for a `*` parameter.
        default: its default, `...` for none.
        by_name: it is given by its name; behind a `*` in the signature it can be given in no other way.
    """

    name: str
    annotation: Any
    values: tuple[Any, ...]
    default: Any = ...
    by_name: bool = False


@dataclass(frozen=True)
class Call:
    """A signature, the arguments of one call and what the function returns.

    Args:
        parameters: the parameters with their arguments.
        returns: the annotation of the result.
        value: the result.
        has_return: whether the result is annotated.
        asks: values and annotations of which the body asks `isinstance`.
    """

    parameters: tuple[Parameter, ...]
    returns: Any = None
    value: Any = None
    has_return: bool = True
    asks: tuple[tuple[Any, Any], ...] = ()

    def function(self, heard: list[bool]) -> Callable[..., Any]:
        """The function, not decorated; made anew, so that nothing that a decorator keeps is shared.

        Its body adds what it hears to `heard`.
        """
        scope: dict[str, Any] = {"value": self.value, "returned": self.returns, "asks": self.asks, "heard": heard}
        written = []
        behind_star = False
        for i, parameter in enumerate(self.parameters):
            scope[f"hint{i}"], scope[f"default{i}"] = parameter.annotation, parameter.default
            if parameter.by_name and not behind_star:
                written.append("*")
                behind_star = True
            behind_star = behind_star or parameter.name.startswith("*")
            hint = "" if parameter.annotation is None else f": hint{i}"
            default = "" if parameter.default is ... else f" = default{i}"
            written.append(f"{parameter.name}{hint}{default}")
        arrow = " -> returned" if self.has_return else ""
        body = "    for asked, hint in asks:\n        heard.append(isinstance(asked, hint))\n" if self.asks else ""
        exec(f"def f({', '.join(written)}){arrow}:\n{body}    return value", scope)
        function: Callable[..., Any] = scope["f"]
        return function

    def outcome(self, decorator: Callable[[Any], Any]) -> tuple[Outcome, str]:
        """What the decorated function does with the call, and what it says: its error, or what its body heard."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for parameter in self.parameters:
            if parameter.name.startswith("**"):
                kwargs.update({f"extra{i}": value for i, value in enumerate(parameter.values)})
            elif parameter.by_name:
                kwargs.update((parameter.name, value) for value in parameter.values)
            else:
                args.extend(parameter.values)
        heard: list[bool] = []
        try:
            result = decorator(self.function(heard))(*args, **kwargs)
        except MALFORMED as error:
            return Outcome.MALFORMED, str(error)
        except TypeError as error:
            return Outcome.REFUSED, str(error)
        assert result is self.value
        return Outcome.ACCEPTED, str(heard)


def read(text: str) -> Call:
    """The call that a line describes: `b c: 3 4; k = 2 -> c {k}: 4 2`."""
    before, arrow, after = text.partition("->")
    parameters = []
    for i, part in enumerate(before.split(";") if before else ()):
        axes, colon, shape = part.rpartition(":")
        if colon:
            parameters.append(Parameter(f"x{i}", Float[Tensor, axes.strip()], (torch.zeros(_sizes(shape)),)))
        else:
            name, _, value = part.partition("=")
            parameters.append(Parameter(name.strip(), int, (int(value),)))
    if not arrow:
        return Call(tuple(parameters), has_return=False)
    axes, _, shape = after.rpartition(":")
    return Call(tuple(parameters), Float[Tensor, axes.strip()], torch.zeros(_sizes(shape)))


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in re.findall(r"\d+", text))
