"""einops' pattern language: `b (h d) ... -> b h d ...`, parsed; what is wrong with a malformed one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import EllipsisType

Element = Union[str, "Number", "EllipsisType"]
Group = tuple[Element, ...]


class PatternError(ValueError):
    """What is wrong with a pattern."""


@dataclass(frozen=True, eq=False)
class Number:
    """An axis written as its size; two of them are never the same axis."""

    size: int

    def __str__(self) -> str:
        return str(self.size)


@dataclass(frozen=True)
class Side:
    """One side of a pattern: for each axis the elements that it is composed of, or `...` for any number of axes.

    A `1` or `()` is the empty group.
    """

    text: str
    axes: tuple[Group | EllipsisType, ...]

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The axes without the `...` that stands for itself."""
        return tuple(axis for axis in self.axes if axis is not ...)

    @cached_property
    def split(self) -> int | None:
        """The number of axes before the `...` that stands for itself, None if there is none."""
        return self.axes.index(...) if ... in self.axes else None

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        """The elements of all axes, in order; `...` once, wherever it stands."""
        return tuple(element for axis in self.axes for element in ((axis,) if axis is ... else axis))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(element for element in self.elements if isinstance(element, str))

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """The axes written as sizes other than 1."""
        return tuple(element for element in self.elements if isinstance(element, Number))

    @cached_property
    def has_ellipsis(self) -> bool:
        """Whether `...` stands anywhere."""
        return ... in self.elements


@lru_cache(maxsize=512)
def parse_side(text: str, *, underscore: bool = False, repeated: bool = False) -> Side:
    """Parse one side of a pattern.

    Args:
        text: the side.
        underscore: whether `_` is a name.
        repeated: whether a name may stand twice.

    Raises:
        PatternError: it is malformed.

    >>> parse_side("b (h d) 1").axes
    (('b',), ('h', 'd'), ())
    """
    axes: list[Group | EllipsisType] = []
    group: list[Element] | None = None
    seen: set[str] = set()
    for token in _tokens(text):
        if token == "(":
            if group is not None:
                raise PatternError("brackets inside brackets")
            group = []
        elif token == ")":
            if group is None:
                raise PatternError("`)` without `(`")
            axes.append(tuple(group))
            group = None
        else:
            if token in seen and not (repeated or (underscore and token == "_")):
                raise PatternError(f"{_shown(token)} stands twice on one side")
            if not token.isdecimal():
                seen.add(token)
            element = _element(token, underscore=underscore)
            if group is not None:
                group.extend(() if element is None else (element,))
            elif element is ...:
                axes.append(...)
            else:
                axes.append(() if element is None else (element,))
    if group is not None:
        raise PatternError("`(` without `)`")
    return Side(text, tuple(axes))


def _tokens(text: str) -> Iterator[str]:
    word = ""
    for character in text.replace("...", "…"):
        if character in "() ":
            if word:
                yield word
            word = ""
            if character != " ":
                yield character
        elif character.isalnum() or character in "_…":
            word += character
        elif character == ".":
            raise PatternError("dots other than one `...`")
        else:
            raise PatternError(f"the character {character!r} is not part of the pattern language")
    if word:
        yield word


def _shown(token: str) -> str:
    return token.replace("…", "...")


def _element(token: str, *, underscore: bool) -> Element | None:
    """The element that a token stands for, None for a 1."""
    if token == "…":
        return ...
    if token.isdecimal():
        if int(token) == 0:
            raise PatternError("an axis of size 0")
        return None if int(token) == 1 else Number(int(token))
    if not token.isidentifier():
        raise PatternError(f"{_shown(token)} is no name")
    if token != token.strip("_") and not (underscore and token == "_"):
        raise PatternError(f"the name {token} starts or ends with an underscore")
    return token


@lru_cache(maxsize=512)
def parse_pattern(pattern: str) -> tuple[Side, Side]:
    """Both sides of `left -> right`.

    Raises:
        PatternError: it is malformed.
    """
    sides = pattern.split("->")
    if len(sides) != 2:
        raise PatternError("there is no `->`" if len(sides) == 1 else "there is more than one `->`")
    left, right = parse_side(sides[0]), parse_side(sides[1])
    if right.has_ellipsis and not left.has_ellipsis:
        raise PatternError("`...` stands on the right side only")
    if left.has_ellipsis and left.split is None:
        raise PatternError("`...` in brackets on the left side")
    return left, right


def check_operation(operation: str, left: Side, right: Side, given: frozenset[str]) -> None:
    """Check that axes appear only in `repeat` and disappear only in `reduce`.

    Raises:
        PatternError: they do not.
    """
    only_left = _missing(left, right)
    only_right = _missing(right, left)
    if operation == "rearrange":
        if left.numbers or right.numbers:
            number = (*left.numbers, *right.numbers)[0]
            raise PatternError(f"the size {number} for an axis, where only names and 1 are allowed")
        if only_left or only_right:
            side = "left" if only_left else "right"
            raise PatternError(f"{_listed(only_left or only_right)} on the {side} side only")
    elif operation == "repeat":
        if only_left or left.numbers:
            raise PatternError(f"{_listed((*only_left, *map(str, left.numbers)))} on the left side only")
        unsized = [name for name in only_right if name not in given]
        if unsized:
            raise PatternError(f"no size is given for the new axis {_listed(tuple(unsized))}")
    elif only_right or right.numbers:
        raise PatternError(f"{_listed((*only_right, *map(str, right.numbers)))} on the right side only")
    for name in sorted(given):
        if name not in left.names and name not in right.names:
            raise PatternError(f"a size is given for {name}, which is not in the pattern")


def _missing(side: Side, other: Side) -> tuple[str, ...]:
    """The elements of a side that the other one does not have, numbers aside."""
    names = (*side.names, *(("...",) if side.has_ellipsis and not other.has_ellipsis else ()))
    return tuple(name for name in names if name not in other.names)


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(names)


def parse_packing(pattern: str) -> tuple[int, int]:
    """The numbers of axes before and after the `*` of a `pack` or `unpack` pattern.

    Raises:
        PatternError: it is malformed.

    >>> parse_packing("b * d")
    (1, 1)
    """
    axes = pattern.split()
    if len(set(axes)) != len(axes):
        raise PatternError("an axis stands twice")
    if "*" not in axes:
        raise PatternError("there is no `*`")
    for name in axes:
        if name != "*" and (not name.isidentifier() or name != name.strip("_")):
            raise PatternError(f"{name} is no name of an axis")
    before = axes.index("*")
    return before, len(axes) - before - 1
