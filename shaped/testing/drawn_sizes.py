"""The sizes of a call's tensors: one for each name of its annotations, so that every axis has a size.

Names that occur in arithmetic only get sizes for which it gives a size: `n-1` needs `n >= 2`, `d/h` that h divides d.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import TYPE_CHECKING

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from shaped.errors import AnnotationError
from shaped.spec.annotation import AnnotatedAxis, Anonymous, AnonymousPack, Fixed, Named, NamedPack
from shaped.spec.axis_arithmetic import Computed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hypothesis.strategies import DrawFn

    from shaped.verify.signature import Parameter

MOST_ASSIGNMENTS = 5_000  # of sizes to names of arithmetic that are tried one by one

SizeLike = int | tuple[int, ...] | SearchStrategy[int] | SearchStrategy[tuple[int, ...]]
"""What a caller gives for a name: a size, a strategy of sizes, or for a pack the sizes of its axes."""


def sizes(max_size: int = 4, min_size: int = 1) -> SearchStrategy[int]:
    """Sizes of one axis, from the smallest; give `min_size=0` for empty tensors too.

    >>> from hypothesis import find
    >>> find(sizes(), lambda n: n > 1)
    2
    """
    if not 0 <= min_size <= max_size:
        raise ValueError(f"there is no size from {min_size} to {max_size}: give 0 <= min_size <= max_size")
    return st.integers(min_size, max_size)


@dataclass(frozen=True)
class Limits:
    """Which sizes are drawn.

    Args:
        min_size: the least size of an axis; 0 for empty tensors too.
        max_size: the greatest.
        max_rank: the most axes that a pack (`*s`, `...`) stands for.
        given: what is drawn for a name instead.
    """

    min_size: int = 1
    max_size: int = 4
    max_rank: int = 2
    given: Mapping[str, SizeLike] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sizes(self.max_size, self.min_size)
        if self.max_rank < 0:
            raise ValueError(f"max_rank is {self.max_rank}: a pack stands for 0 axes or more")


@dataclass
class DrawnSizes:
    """The sizes of one call."""

    dims: dict[str, int] = field(default_factory=dict)
    packs: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Arithmetic:
    """The arithmetic of an axis where the fields have values.

    Args:
        text: as Python reads it.
        names: the sizes that it depends on.
    """

    text: str
    names: tuple[str, ...]
    code: CodeType = field(compare=False, repr=False)

    @staticmethod
    def of(axis: Computed, arguments: Mapping[str, object]) -> Arithmetic:
        """Read an axis as jaxtyping does: as an f-string of the arguments, then as Python.

        >>> from shaped.spec.axis_arithmetic import read_arithmetic
        >>> Arithmetic.of(read_arithmetic("{k}*n+1"), {"k": 3}).text
        '3*n+1'
        """
        text = axis.text
        if axis.fields:
            try:
                text = str(eval(f"f'{text}'", {**arguments}))
            except Exception as problem:  # whatever the user's expression raises
                known = ", ".join(arguments) or "none"
                raise AnnotationError(
                    axis.text, f"the field has no value: {problem}", hint=f"use an argument that is drawn: {known}"
                ) from None
        return _read(text)

    def size(self, dims: Mapping[str, int]) -> int | None:
        """The size for these sizes of the names, which may be negative; None if it is no integer."""
        try:
            value = eval(self.code, {}, dict(dims))
        except ZeroDivisionError:
            return None
        return int(value) if value == int(value) else None


@functools.lru_cache(maxsize=1024)
def _read(text: str) -> Arithmetic:
    tree = ast.parse(text, mode="eval")
    nodes = list(ast.walk(tree))
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    names = dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name) and node.id not in called)
    return Arithmetic(text, tuple(names), compile(tree, "<annotation>", "eval"))


def key_of(leaf: Parameter, index: int) -> str:
    """The name of the size, or of the pack, that an axis has: `x[0]` and `x[...]` for axes without a name."""
    assert leaf.annotation is not None
    match leaf.annotation.axes[index]:
        case Named(name=name) | NamedPack(name=name):
            return name
        case AnonymousPack():
            return f"{leaf.name}[...]"
    return f"{leaf.name}[{index}]"


class SizeDrawer:
    """Draws the sizes of tensors that are drawn together."""

    def __init__(self, leaves: Sequence[Parameter], limits: Limits) -> None:
        self.leaves = leaves
        self.limits = limits
        self.dims: dict[str, None] = {}  # in order
        self.packs: dict[str, None] = {}
        self.computed: list[Computed] = []
        self._fitting: dict[object, list[tuple[int, ...]]] = {}
        for leaf in leaves:
            for i, axis in enumerate(leaf.annotation.axes if leaf.annotation else ()):
                self._note(axis, leaf, i)
        in_arithmetic = (name for axis in self.computed for name in axis.names)
        known = dict.fromkeys((*self.dims, *self.packs, *in_arithmetic))
        if any(axis.fields for axis in self.computed):
            return  # a field may be the text of a name
        for name in limits.given:
            if name not in known:
                raise AnnotationError(
                    f"sizes of {name}", "no axis has that name", hint=f"the names are {', '.join(known) or 'none'}"
                )

    def _note(self, axis: AnnotatedAxis, leaf: Parameter, index: int) -> None:
        if getattr(axis, "by_leaf", False):
            raise AnnotationError(
                f"parameter {leaf.name}",
                f'"{axis}" has a size for each leaf of a PyTree',
                hint=f"pass {leaf.name}=strategy",
            )
        if isinstance(axis, Computed):
            self.computed.append(axis)
        elif isinstance(axis, (NamedPack, AnonymousPack)):
            self.packs[key_of(leaf, index)] = None
        elif isinstance(axis, (Named, Anonymous)):
            self.dims[key_of(leaf, index)] = None

    def draw(
        self, draw: DrawFn, arguments: Mapping[str, object], linked: Mapping[str, int], are_constant: bool
    ) -> DrawnSizes:
        """Draw a size for every name.

        Args:
            arguments: the values of fields.
            linked: sizes that are settled: int arguments that have the name of a dim.
            are_constant: the settled sizes are the same in every draw.
        """
        limits, drawn = self.limits, DrawnSizes(dict(linked))
        arithmetic = tuple(Arithmetic.of(axis, arguments) for axis in self.computed)
        names = dict.fromkeys((*self.dims, *(name for one in arithmetic for name in one.names)))
        for name in names:
            if name in limits.given and name not in drawn.dims:
                drawn.dims[name] = _drawn_size(draw, name, limits.given[name])
        if arithmetic:
            in_arithmetic = {name for one in arithmetic for name in one.names}
            bound = tuple(name for name in names if name in in_arithmetic and name not in drawn.dims)
            given_strategy = any(isinstance(one, SearchStrategy) for one in limits.given.values())
            fields_vary = bool(arguments) and any(axis.fields for axis in self.computed)
            is_constant = are_constant and not given_strategy and not fields_vary
            self._draw_bound(draw, bound, arithmetic, drawn, is_constant)
        for name in names:
            if name not in drawn.dims:
                drawn.dims[name] = draw(st.integers(limits.min_size, limits.max_size))
        for name in self.packs:
            if name in limits.given:
                drawn.packs[name] = _drawn_pack(draw, name, limits.given[name])
            else:
                size = st.integers(limits.min_size, limits.max_size)
                drawn.packs[name] = tuple(draw(st.lists(size, max_size=limits.max_rank)))
        return drawn

    def _draw_bound(
        self,
        draw: DrawFn,
        names: tuple[str, ...],
        arithmetic: tuple[Arithmetic, ...],
        drawn: DrawnSizes,
        is_constant: bool,
    ) -> None:
        """Draw the sizes of names in arithmetic. `is_constant`: another draw would leave the same choice."""
        limits = self.limits
        choices = range(limits.min_size, limits.max_size + 1)
        if len(choices) ** len(names) > MOST_ASSIGNMENTS:
            for name in names:
                drawn.dims[name] = draw(st.integers(limits.min_size, limits.max_size))
            if not self._fits(arithmetic, drawn.dims):
                reject()
            return
        key = (arithmetic, *drawn.dims.items())
        if key not in self._fitting:
            self._fitting[key] = [
                values
                for values in itertools.product(choices, repeat=len(names))
                if self._fits(arithmetic, {**drawn.dims, **dict(zip(names, values, strict=True))})
            ]
        fitting = self._fitting[key]
        if not fitting:
            if not is_constant:
                reject()
            given = "".join(f", {name} = {size}" for name, size in drawn.dims.items())
            raise AnnotationError(
                " ".join(f'"{one.text}"' for one in arithmetic),
                f"no sizes from {limits.min_size} to {limits.max_size} make it a size{given}",
                hint="raise max_size, or give sizes={...}",
            )
        for i, name in enumerate(names):
            # A size and not a place among those that fit, so that it keeps its meaning while other sizes shrink.
            least = draw(st.integers(limits.min_size, limits.max_size))
            options = {values[i] for values in fitting}
            value = min((size for size in options if size >= least), default=max(options))
            fitting = [values for values in fitting if values[i] == value]
            drawn.dims[name] = value

    def _fits(self, arithmetic: Iterable[Arithmetic], dims: Mapping[str, int]) -> bool:
        found = (one.size(dims) for one in arithmetic)
        return all(size is not None and size >= self.limits.min_size for size in found)


def draw_shape(draw: DrawFn, leaf: Parameter, drawn: DrawnSizes, arguments: Mapping[str, object]) -> tuple[int, ...]:
    """The shape of a tensor; an axis with `#` may be 1, and the axes of `*#s` may also be missing."""
    shape: list[int] = []
    for i, axis in enumerate(leaf.annotation.axes if leaf.annotation else ()):
        match axis:
            case Fixed(size=size):
                sizes_here: tuple[int, ...] = (size,)
            case Computed():
                size_here = Arithmetic.of(axis, arguments).size(drawn.dims)
                assert size_here is not None, "sizes are drawn so that arithmetic gives a size"
                sizes_here = (size_here,)
            case NamedPack() | AnonymousPack():
                sizes_here = drawn.packs[key_of(leaf, i)]
                if isinstance(axis, NamedPack) and axis.broadcastable:
                    sizes_here = sizes_here[draw(st.integers(0, len(sizes_here))) :]
            case _:
                sizes_here = (drawn.dims[key_of(leaf, i)],)
        if getattr(axis, "broadcastable", False):
            sizes_here = tuple(1 if draw(st.booleans()) else size for size in sizes_here)
        shape += sizes_here
    return tuple(shape)


def _drawn_size(draw: DrawFn, name: str, given: SizeLike) -> int:
    size = draw(given) if isinstance(given, SearchStrategy) else given
    if not isinstance(size, int) or size < 0:
        raise AnnotationError(f"sizes of {name}", f"{size!r} is no size", hint=f"sizes={{'{name}': 3}}")
    return size


def _drawn_pack(draw: DrawFn, name: str, given: SizeLike) -> tuple[int, ...]:
    pack = draw(given) if isinstance(given, SearchStrategy) else given
    if not isinstance(pack, (tuple, list)) or not all(isinstance(size, int) and size >= 0 for size in pack):
        raise AnnotationError(f"sizes of *{name}", f"{pack!r} is no tuple of sizes", hint=f"sizes={{'{name}': (2, 3)}}")
    return tuple(pack)
