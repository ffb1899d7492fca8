"""How each kind of parameter is drawn: a tensor, a tuple or list of them, a dataclass, what may be None, the rest."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import torch
from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from shaped.errors import AnnotationError
from shaped.runtime.tensor_types import dtype_name
from shaped.testing.drawn_sizes import DrawnSizes, Limits, draw_shape
from shaped.testing.drawn_tensors import has_infinity, tensors
from shaped.testing.wanted import Wanted
from shaped.verify.signature import Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hypothesis.strategies import DrawFn

MOST_ELEMENTS = 3  # of a list or dict of tensors

LEFT_OUT: Any = inspect.Parameter.empty
"""In place of a value: the argument is left to its default."""


@dataclass
class Drawing:
    """One draw of a call's arguments.

    Args:
        draw: Hypothesis's function.
        limits: which sizes are drawn.
        dtypes: the dtypes that are drawn where an annotation allows several.
        special: draw special points.
        minus_infinity: draw -inf.
        sizes: the sizes, once they are drawn.
        arguments: the values of fields.
        chosen: the dtype for each set of allowed ones: `Float` is one dtype in one call.
    """

    draw: DrawFn
    limits: Limits
    dtypes: Sequence[torch.dtype]
    special: bool
    minus_infinity: bool
    sizes: DrawnSizes = field(default_factory=DrawnSizes)
    arguments: Mapping[str, object] = field(default_factory=dict)
    chosen: dict[frozenset[str], torch.dtype] = field(default_factory=dict)

    def dtype(self, leaf: Parameter) -> torch.dtype:
        """The dtype of a tensor."""
        allowed = leaf.dtypes.names
        if allowed not in self.chosen:
            candidates = [dtype for dtype in self.dtypes if dtype_name(dtype) in allowed]
            if not candidates:
                known = [getattr(torch, name) for name in _USUAL_FIRST if name in allowed and hasattr(torch, name)]
                candidates = known[:1]
            if not candidates:
                raise AnnotationError(str(leaf), "torch has no dtype for it", hint=f"pass {leaf.name}=strategy")
            self.chosen[allowed] = self.draw(st.sampled_from(candidates)) if len(candidates) > 1 else candidates[0]
        return self.chosen[allowed]

    def wanted(self, leaf: Parameter) -> Wanted:
        """The tensor that an annotation asks for."""
        shape = draw_shape(self.draw, leaf, self.sizes, self.arguments)
        return Wanted(leaf.name, shape, self.dtype(leaf), self.sizes.dims)


_USUAL_FIRST = (
    *("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"),
    *("complex64", "complex128", "complex32", "uint16", "uint32", "uint64"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"),
)


class Node:
    """How one value is drawn."""

    is_given = False
    """Whether the caller said what to draw."""
    is_known = True
    """Whether it can be drawn."""

    def leaves(self) -> Iterator[Parameter]:
        """The tensors in it that are drawn from annotations."""
        yield from ()

    @property
    def is_about_tensors(self) -> bool:
        """Whether its value depends on sizes."""
        return next(self.leaves(), None) is not None

    def draw(self, drawing: Drawing) -> Any:
        """One value."""
        raise NotImplementedError


@dataclass
class Unknown(Node):
    """A parameter without an annotation."""

    is_known = False


@dataclass
class Default(Node):
    """A parameter that is left to its default."""

    def draw(self, drawing: Drawing) -> Any:
        return LEFT_OUT


@dataclass
class Linked(Node):
    """An int that has the name of an axis, or that sizes are computed from.

    Args:
        name: the parameter.
        comes_first: a field needs it before sizes are drawn; else it is the size of the axis.
    """

    name: str
    comes_first: bool

    @property
    def is_about_tensors(self) -> bool:
        return True

    def draw(self, drawing: Drawing) -> int:
        if not self.comes_first:
            return drawing.sizes.dims[self.name]
        given = drawing.limits.given.get(self.name)
        if isinstance(given, int):
            return given
        if isinstance(given, SearchStrategy):
            return cast(int, drawing.draw(given))
        return drawing.draw(st.integers(drawing.limits.min_size, drawing.limits.max_size))


@dataclass
class Drawn(Node):
    """What a strategy draws."""

    strategy: SearchStrategy[Any]
    is_given: bool = False

    def draw(self, drawing: Drawing) -> Any:
        return drawing.draw(self.strategy)


@dataclass
class TensorNode(Node):
    """A tensor from its annotation, or one that the caller makes of its shape."""

    leaf: Parameter
    given: Callable[[Wanted], SearchStrategy[Any]] | None = None

    def __post_init__(self) -> None:
        self.is_given = self.given is not None

    def leaves(self) -> Iterator[Parameter]:
        yield self.leaf

    def draw(self, drawing: Drawing) -> Any:
        wanted = drawing.wanted(self.leaf)
        if self.given is not None:
            return drawing.draw(self.given(wanted))
        draw = drawing.draw
        if wanted.dtype.is_floating_point:
            infinite = drawing.minus_infinity and has_infinity(wanted.dtype)
            return self.typed(
                draw(tensors(wanted.shape, wanted.dtype, special=drawing.special, minus_infinity=infinite))
            )
        if wanted.dtype.is_complex or wanted.dtype is torch.bool:
            return self.typed(draw(tensors(wanted.shape, wanted.dtype, special=drawing.special)))
        least = min((*drawing.sizes.dims.values(), *_flat(drawing.sizes.packs)), default=drawing.limits.max_size)
        if least == 0 and 0 not in wanted.shape:
            reject()  # there is no index into an empty axis
        return draw(tensors(wanted.shape, wanted.dtype, low=0, high=max(least - 1, 0), special=drawing.special))

    def typed(self, x: torch.Tensor) -> torch.Tensor:
        """The tensor as an object of the annotation's class."""
        wanted = getattr(self.leaf.type, "array_type", self.leaf.type)
        return torch.nn.Parameter(x) if wanted is torch.nn.Parameter else x


def _flat(packs: Mapping[str, tuple[int, ...]]) -> Iterator[int]:
    for pack in packs.values():
        yield from pack


@dataclass
class Maybe(Node):
    """What may also be None."""

    present: Node

    def leaves(self) -> Iterator[Parameter]:
        return self.present.leaves()

    def draw(self, drawing: Drawing) -> Any:
        return self.present.draw(drawing) if drawing.draw(st.booleans()) else None


@dataclass
class Several(Node):
    """A tuple, a named tuple, a dataclass: an object made of its parts."""

    parts: dict[str, Node]
    make: Callable[..., Any]

    def __post_init__(self) -> None:
        self.is_given = any(part.is_given for part in self.parts.values())

    def leaves(self) -> Iterator[Parameter]:
        for part in self.parts.values():
            yield from part.leaves()

    def draw(self, drawing: Drawing) -> Any:
        drawn = {name: part.draw(drawing) for name, part in self.parts.items()}
        return self.make(**{name: value for name, value in drawn.items() if value is not LEFT_OUT})


@dataclass
class Repeated(Node):
    """A list, tuple or dict of any number of elements."""

    element: Node
    make: Callable[[list[Any]], Any]

    def __post_init__(self) -> None:
        self.is_given = self.element.is_given

    def leaves(self) -> Iterator[Parameter]:
        return self.element.leaves()

    def draw(self, drawing: Drawing) -> Any:
        count = drawing.draw(st.integers(0, MOST_ELEMENTS))
        return self.make([self.element.draw(drawing) for _ in range(count)])
