"""What the annotations of a function demand, as data that code is generated from.

A `Hint` is a type hint reduced to the checks that it means. `lowering` makes it, `generation` writes code for it,
`reference` checks by it slowly and says what is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from shaped.spec.annotation import AnnotatedAxis, Named, NamedPack, index_of_pack
from shaped.spec.axis_arithmetic import Computed


@dataclass(frozen=True)
class Anything:
    """No demand."""

    def __str__(self) -> str:
        return "Any"


@dataclass(frozen=True)
class Instance:
    """An instance of a class; `None` is the instance of its type."""

    kind: type

    def __str__(self) -> str:
        return "None" if self.kind is type(None) else self.kind.__name__


@dataclass(frozen=True)
class Judged:
    """What beartype decides: `judge` gives its complaint, None where it has none."""

    hint: Any
    judge: Callable[[object], Exception | None]

    def __str__(self) -> str:
        return text_of(self.hint)


@dataclass(frozen=True)
class Array:
    """One of jaxtyping's annotations.

    Args:
        hint: the annotation itself.
        array_type: the class of the array, `Any` for whatever has a shape and a dtype.
        axes: its axes, at most one of them a pack.
    """

    hint: Any
    array_type: Any
    axes: tuple[AnnotatedAxis, ...]

    @property
    def pack_index(self) -> int | None:
        """The place of the axis that stands for several, None if there is none."""
        return index_of_pack(self.axes)

    def __str__(self) -> str:
        return f'{self.hint.dtype.__name__}[{text_of(self.array_type)}, "{self.hint.dim_str}"]'


@dataclass(frozen=True)
class Either:
    """The first of several hints that is met."""

    options: tuple[Hint, ...]

    def __str__(self) -> str:
        return " | ".join(map(str, self.options))


@dataclass(frozen=True)
class Row:
    """A tuple with one hint for each item."""

    kind: type
    items: tuple[Hint, ...]

    def __str__(self) -> str:
        return f"{self.kind.__name__}[{', '.join(map(str, self.items)) or '()'}]"


@dataclass(frozen=True)
class Every:
    """A container with the same hint for every item. What cannot be gone through twice is left alone."""

    kind: type
    item: Hint

    def __str__(self) -> str:
        return f"{self.kind.__name__}[{self.item}{', ...' * (self.kind is tuple)}]"


@dataclass(frozen=True)
class EveryPair:
    """A mapping with the same hints for every key and every value."""

    kind: type
    key: Hint
    value: Hint

    def __str__(self) -> str:
        return f"{self.kind.__name__}[{self.key}, {self.value}]"


Hint = Anything | Instance | Judged | Array | Either | Row | Every | EveryPair


def text_of(hint: object) -> str:
    """A type hint as users write it.

    >>> from typing import Optional
    >>> text_of(int), text_of(Optional[str])
    ('int', 'Optional[str]')
    """
    if isinstance(hint, type) and not hasattr(hint, "__origin__"):
        return hint.__name__
    return repr(hint).replace("typing.", "")


def is_for_tensors(hint: Array) -> bool:
    """Whether an annotation is for tensors of torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(hint.array_type, type) and issubclass(hint.array_type, torch.Tensor)


def children(hint: Hint) -> tuple[Hint, ...]:
    """The hints that a hint is made of."""
    match hint:
        case Either(options=parts) | Row(items=parts):
            return parts
        case Every(item=item):
            return (item,)
        case EveryPair(key=key, value=value):
            return (key, value)
    return ()


def arrays(hint: Hint) -> tuple[Array, ...]:
    """All arrays in a hint, in order."""
    if isinstance(hint, Array):
        return (hint,)
    return tuple(array for child in children(hint) for array in arrays(child))


def size_names(hint: Hint) -> tuple[str, ...]:
    """The names that a check may bind to one size, in order."""
    named = (axis.name for array in arrays(hint) for axis in array.axes if isinstance(axis, Named))
    return tuple(dict.fromkeys(named))


def pack_names(hint: Hint) -> tuple[str, ...]:
    """The names that a check may bind to any number of axes, in order."""
    named = (axis.name for array in arrays(hint) for axis in array.axes if isinstance(axis, NamedPack))
    return tuple(dict.fromkeys(named))


def computed_axes(hint: Hint) -> tuple[Computed, ...]:
    """The axes whose sizes are computed, in order."""
    return tuple(axis for array in arrays(hint) for axis in array.axes if isinstance(axis, Computed))
