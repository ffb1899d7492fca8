"""The meaning of a check, written plainly: what jaxtyping does, one value at a time.

Generated code decides whether a call passes; this module says what is wrong with one that does not. It is slow, and
only failing calls, unions with containers and axes of arithmetic that no code is generated for pay for it.
"""

from __future__ import annotations

import collections.abc
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jaxtyping import _array_types as jaxtyping_axes

from shaped.runtime.checked.hints import Anything, Array, Either, Every, EveryPair, Hint, Instance, Judged, Row
from shaped.spec.annotation import AnnotatedAxis, Anonymous, AnonymousPack, Fixed, Named, NamedPack
from shaped.spec.axis_arithmetic import Computed

PackSizes = tuple[bool, tuple[int, ...]]
"""The sizes of a `*name`, and whether they may still grow from 1 because it was bound as `*#name`."""


@dataclass
class Bound:
    """What the names of one call stand for.

    Args:
        sizes: the sizes of names.
        packs: the sizes of `*name`s.
        arguments: the arguments by name, which the fields of an axis (`{self.d}`) refer to.
        origins: where each name was bound (`axis 0 of x`).
    """

    sizes: dict[str, int] = field(default_factory=dict)
    packs: dict[str, PackSizes] = field(default_factory=dict)
    arguments: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)

    def copy(self) -> Bound:
        """The same bindings, to try an option of a union."""
        return Bound(dict(self.sizes), dict(self.packs), self.arguments, dict(self.origins))

    def take(self, other: Bound) -> None:
        """Take over the bindings of an option that was met."""
        self.sizes, self.packs, self.origins = other.sizes, other.packs, other.origins


@dataclass
class Mismatch(Exception):
    """A value that is not what its hint says.

    Args:
        hint: the innermost hint that is not met.
        value: the value that it was checked against.
        path: the value in the user's words: `argument x`, `argument x[2]`, `return`.
        reason: why, for hints other than those of arrays and classes.
        bound: the bindings before this check.
        cause: beartype's complaint, or the exception that an axis of arithmetic raised.
    """

    hint: Hint
    value: Any
    path: str
    bound: Bound
    reason: str = ""
    cause: Exception | None = None


@dataclass
class Unbound(Exception):
    """An axis of arithmetic with a name that nothing bound."""

    axis: Computed
    cause: NameError


def check(hint: Hint, value: Any, path: str, bound: Bound) -> None:
    """Check a value, binding the names of its axes.

    Raises:
        Mismatch: the value is not what the hint says.
        Unbound: an axis of arithmetic uses a name that is not bound.
    """
    match hint:
        case Anything():
            return
        case Instance(kind=kind):
            if not isinstance(value, kind):
                raise Mismatch(hint, value, path, bound.copy())
        case Judged(judge=judge):
            complaint = judge(value)
            if complaint is not None:
                raise Mismatch(hint, value, path, bound.copy(), cause=complaint)
        case Array():
            _check_array(hint, value, path, bound)
        case Either():
            _check_options(hint, value, path, bound)
        case Row() | Every() | EveryPair():
            if not isinstance(value, hint.kind):
                raise Mismatch(hint, value, path, bound.copy())
            for item, part, place in _parts(hint, value, path, bound):
                check(item, part, place, bound)


def _parts(hint: Row | Every | EveryPair, value: Any, path: str, bound: Bound) -> Iterator[tuple[Hint, Any, str]]:
    """What a container holds: the hint, the value and the path of each part."""
    match hint:
        case Row(items=items):
            if len(value) != len(items):
                count = f"{len(value)} item{'s' * (len(value) != 1)}"
                raise Mismatch(hint, value, path, bound.copy(), f"it has {count}, not {len(items)}")
            yield from ((item, part, f"{path}[{i}]") for i, (item, part) in enumerate(zip(items, value)))
        case Every(item=item):
            yield from ((item, part, f"{path}[{i}]") for i, part in enumerate(again(value)))
        case EveryPair(key=key, value=item):
            for name, part in value.items():
                yield key, name, f"key {name!r} of {path}"
                yield item, part, f"{path}[{name!r}]"


def again(value: Iterable[Any]) -> Iterable[Any]:
    """The items of what can be gone through twice; none of an iterator, whose items a check would use up."""
    return value if isinstance(value, collections.abc.Collection) else ()


def _check_options(hint: Either, value: Any, path: str, bound: Bound) -> None:
    failures: list[Mismatch] = []
    for option in hint.options:
        attempt = bound.copy()
        try:
            check(option, value, path, attempt)
        except Mismatch as mismatch:
            failures.append(mismatch)
        else:
            bound.take(attempt)
            return
    # The one option that is about such a value says best why it is refused.
    close = [failure for failure in failures if is_about(failure)]
    if len(close) == 1:
        raise close[0]
    raise Mismatch(hint, value, path, bound.copy())


def is_about(failure: Mismatch) -> bool:
    """Whether a value is of the kind that the hint wants, and fails in what it holds."""
    match failure.hint:
        case Array():
            return is_array(failure.hint, failure.value)
        case Row() | Every() | EveryPair():
            return isinstance(failure.value, failure.hint.kind)
    return False


def is_array(hint: Array, value: Any) -> bool:
    """Whether a value is an array of the class that an annotation names."""
    if hint.array_type is Any:
        return hasattr(value, "shape") and hasattr(value, "dtype")
    return isinstance(value, hint.array_type)


def _check_array(hint: Array, value: Any, path: str, bound: Bound) -> None:
    before = bound.copy()
    if not is_array(hint, value) or not is_dtype_allowed(hint.hint, value):
        raise Mismatch(hint, value, path, before)
    sizes = tuple(value.shape)
    index = hint.pack_index
    if len(sizes) != len(hint.axes) if index is None else len(sizes) < len(hint.axes) - 1:
        raise Mismatch(hint, value, path, before)
    pairs, pack, middle = facing(hint, sizes)
    for number, axis, size in pairs:
        try:
            is_met = check_axis(axis, size, f"axis {number} of {path.removeprefix('argument ')}", bound)
        except Unbound:
            raise
        except Exception as problem:  # whatever the arithmetic of an axis raises refuses the value
            reason = f"axis {number} is {size}, and {axis} has no value: {type(problem).__name__}: {problem}"
            raise Mismatch(hint, value, path, before, reason, problem) from problem
        if not is_met:
            raise Mismatch(hint, value, path, before)
    if isinstance(pack, NamedPack):
        together = joined_packs(bound.packs.get(pack.name), pack.broadcastable, middle)
        if together is None:
            raise Mismatch(hint, value, path, before)
        bound.packs[pack.name] = together
        bound.origins.setdefault(f"*{pack.name}", f"axes of {path.removeprefix('argument ')}")


def facing(
    hint: Array, sizes: tuple[int, ...]
) -> tuple[list[tuple[int, AnnotatedAxis, int]], AnnotatedAxis | None, tuple[int, ...]]:
    """The axes that face one size each, with their numbers; the pack and the sizes that face it."""
    index = hint.pack_index
    if index is None:
        return [(i, axis, size) for i, (axis, size) in enumerate(zip(hint.axes, sizes))], None, ()
    end = len(sizes) - (len(hint.axes) - index - 1)
    head = [(i, axis, sizes[i]) for i, axis in enumerate(hint.axes[:index])]
    tail = [(end + i, axis, sizes[end + i]) for i, axis in enumerate(hint.axes[index + 1 :])]
    return head + tail, hint.axes[index], sizes[index:end]


def check_axis(axis: AnnotatedAxis, size: int, origin: str, bound: Bound) -> bool:
    """Whether one axis has a size that is allowed; binds its name.

    Raises:
        Unbound: its arithmetic uses a name that is not bound.
    """
    match axis:
        case Anonymous() | AnonymousPack():
            return True
        case Fixed(broadcastable=True) | Named(broadcastable=True) | Computed(broadcastable=True) if size == 1:
            return True
        case Fixed(size=wanted):
            return size == wanted
        case Named(name=name):
            if name not in bound.sizes:
                bound.sizes[name] = size
                bound.origins[name] = origin
            return bound.sizes[name] == size
        case Computed():
            return bool(evaluate(axis, bound.sizes, bound.arguments) == size)
    raise AssertionError(f"{axis} faces more than one axis")


def evaluate(axis: Computed, sizes: Mapping[str, int], arguments: Mapping[str, Any]) -> Any:
    """The size of an axis of arithmetic: its fields formatted with the arguments, then evaluated over the names.

    Raises:
        Unbound: it uses a name that is not bound.

    >>> evaluate(Computed("{n}*b+1"), {"b": 3}, {"n": 2})
    7
    """
    try:
        text = eval(f"f'{axis.text}'", dict(arguments))
        return eval(text, dict(sizes))
    except NameError as problem:
        raise Unbound(axis, problem) from problem


def joined_packs(bound: PackSizes | None, broadcastable: bool, sizes: Sequence[int]) -> PackSizes | None:
    """What a `*name` stands for after it met further sizes; None if they do not fit.

    >>> joined_packs((True, (1, 3)), True, (2, 1))
    (True, (2, 3))
    """
    new = tuple(sizes)
    if bound is None:
        return broadcastable, new
    may_grow, old = bound
    if not may_grow and not broadcastable:
        return bound if new == old else None
    together = _broadcast(new, old)
    if may_grow:
        return None if together is None or (not broadcastable and together != new) else (broadcastable, together)
    return bound if together == old else None


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that two shapes broadcast to, None if they do not."""
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    shorter = (1,) * (len(longer) - len(shorter)) + shorter
    if any(x != y and x != 1 and y != 1 for x, y in zip(longer, shorter)):
        return None
    return tuple(y if x == 1 else x for x, y in zip(longer, shorter))


def is_dtype_allowed(hint: Any, value: Any) -> bool:
    """Whether an annotation of jaxtyping's allows the dtype of an array."""
    return isinstance(hint.dtypes, tuple) is False or allows(hint.dtypes, dtype_name(value.dtype))


def allows(patterns: Iterable[str | re.Pattern[str]], name: str) -> bool:
    """Whether the dtypes of a word include the one of a name."""
    return any(name == entry if isinstance(entry, str) else bool(entry.match(name)) for entry in patterns)


def dtype_name(dtype: Any) -> str:
    """The name of a dtype of any library, as jaxtyping compares it: `float32`.

    >>> import numpy
    >>> dtype_name(numpy.dtype("int8")), dtype_name("float32")
    ('int8', 'float32')
    """
    scalar = getattr(dtype, "type", None)
    if scalar is not None and hasattr(scalar, "__name__"):  # numpy, jax
        is_record = jaxtyping_axes._dtype_is_numpy_struct_array(dtype)  # type: ignore[no-untyped-call]  # jaxtyping's own
        return str(dtype) if is_record else str(scalar.__name__)
    if hasattr(dtype, "as_numpy_dtype"):  # tensorflow
        return str(dtype.as_numpy_dtype.__name__)
    return dtype if isinstance(dtype, str) else repr(dtype).rpartition(".")[2]
