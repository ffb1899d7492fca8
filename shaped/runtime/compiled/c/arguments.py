"""The arguments of an operation by the names of torch's schema: numbers in C, tensors as views."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import fx

from shaped.runtime.compiled.c.layout import C_TYPES, View
from shaped.runtime.compiled.program import CannotCompile

# What a node of the graph is to the lowering: a view, the name of a scalar in C, or several results.
Value: TypeAlias = "View | str | tuple[View | None, ...]"


@dataclass(frozen=True)
class Call:
    """A node of the graph that is an operation.

    Args:
        node: the node.
        arguments: all arguments by name, defaults too: nodes and what Python has.
        values: what the nodes before are.
        places: where the results go: new buffers, or for an operation in place its first argument; None for a result
            that is not wanted.
    """

    node: fx.Node
    arguments: Mapping[str, object]
    values: Mapping[fx.Node, Value]
    places: tuple[View | None, ...]

    @property
    def results(self) -> tuple[View, ...]:
        """Where the results that are wanted go."""
        return tuple(place for place in self.places if place is not None)

    @property
    def comment(self) -> str:
        """The operation, its arguments and the shape of its result."""
        given = [*map(str, self.node.args), *(f"{name}={value}" for name, value in self.node.kwargs.items())]
        shapes = ", ".join(str(result.shape) for result in self.results)
        return f"{self.node.name} {shapes} = {self.node.target}({', '.join(given)})".replace("*/", "* /")

    def view(self, name: str) -> View:
        """The tensor of this argument."""
        view = self.optional(name)
        if view is None:
            raise self.refusal(f"{name}=None")
        return view

    def optional(self, name: str) -> View | None:
        """The tensor of this argument, or None."""
        given = self.arguments[name]
        if given is None:
            return None
        value = self.values[given] if isinstance(given, fx.Node) else None
        if not isinstance(value, View):
            raise self.refusal(f"{name} is no tensor")
        return value

    def views(self, name: str) -> list[View]:
        """The tensors of this argument, a list."""
        given = self.arguments[name]
        found = [self.values[one] for one in given if isinstance(one, fx.Node)] if isinstance(given, Sequence) else []
        return [one for one in found if isinstance(one, View)]

    def integer(self, name: str) -> int:
        """The int of this argument."""
        given = self.arguments[name]
        if not isinstance(given, int):
            raise self.refusal(f"{name}={given!r}")
        return given

    def number(self, name: str, dtype: torch.dtype) -> str:
        """The number of this argument as a constant of C of this type, or the name of a scalar."""
        given = self.arguments[name]
        if isinstance(given, fx.Node):
            value = self.values[given]
            if not isinstance(value, str):
                raise self.refusal(f"{name} is no number")
            return f"({C_TYPES[dtype]}){value}"
        if not isinstance(given, int | float):
            raise self.refusal(f"{name}={given!r}")
        return constant(given, dtype)

    def dims(self, name: str, rank: int) -> tuple[int, ...]:
        """The dims of this argument, counted from 0; all where it says None or nothing."""
        given = self.arguments[name]
        if isinstance(given, int):
            given = [given]
        if not given:
            return tuple(range(rank))
        if not isinstance(given, Sequence) or not all(isinstance(one, int) for one in given):
            raise self.refusal(f"{name}={given!r}")
        return tuple(sorted({one % rank for one in given})) if rank else ()

    def refusal(self, reason: str) -> CannotCompile:
        """An error that names the operation."""
        return CannotCompile(f"{self.node.target}: no C for {reason}")


def constant(value: float, dtype: torch.dtype) -> str:
    """A number in C, rounded to the type as torch rounds it.

    >>> constant(0.1, torch.float32), constant(3, torch.int64), constant(-math.inf, torch.float64)
    ('0x1.99999a0000000p-4f', '3', '(-(double)INFINITY)')
    """
    kind = C_TYPES[dtype]
    if dtype == torch.bool:
        return f"{int(bool(value))}"
    if not dtype.is_floating_point and not math.isfinite(value):
        raise CannotCompile(f"there is no {value} of {dtype}")
    if not dtype.is_floating_point:
        return f"INT64_C({int(value)})" if abs(value) >= 2**31 else f"{int(value)}" if value >= 0 else f"({int(value)})"
    value = float(value)
    if dtype == torch.float32:
        try:
            (value,) = struct.unpack("f", struct.pack("f", value))
        except OverflowError:
            value = math.copysign(math.inf, value)
    if math.isnan(value):
        return f"({kind})NAN"
    if math.isinf(value):
        return f"(({kind})INFINITY)" if value > 0 else f"(-({kind})INFINITY)"
    digits = f"{value:.1f}" if value == int(value) and abs(value) < 1e6 else value.hex()
    text = digits + ("f" if dtype == torch.float32 else "")
    return f"({text})" if digits.startswith("-") else text
