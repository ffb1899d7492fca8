"""A recorded call repeated at other sizes of the names in its annotations."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from benchmarks.shape_mutants.weights import noise

if TYPE_CHECKING:
    import random

    from benchmarks.shape_mutants.wrapping import FunctionCall

Sizes = Mapping[str, int]

_DRAWS = 6  # of sizes of all free names
_KEPT = 4
_GREATEST = 7
_NAME = re.compile(r"[A-Za-z_]\w*")
_MOST_TRIED = 64  # as the size of a name that stands in arithmetic only


@dataclass(frozen=True)
class _Annotated:
    """An argument and its axes: an expression of names for each, None where its size is kept."""

    tensor: Tensor
    axes: tuple[str | None, ...]

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        """The shape at these sizes."""
        values = [None if axis is None else _value(axis, sizes) for axis in self.axes]
        return tuple(size if value is None else value for value, size in zip(values, self.tensor.shape))


@dataclass(frozen=True)
class Resized:
    """What is other in a call at other sizes, by the position or keyword of the argument.

    Shapes and not names, as a mutant may say the names in another order.
    """

    shapes: Mapping[int | str, tuple[int, ...]]
    numbers: Mapping[int | str, int]


def sizes_that_work(call: FunctionCall, draw: random.Random) -> list[Resized]:
    """Some sizes of the names of a call at which it runs, and gives what its annotation says.

    A name that cannot be changed alone, such as one that a layer holds, keeps its size.
    """
    annotated = _annotated(call)
    recorded = _recorded_sizes(annotated.values())
    free = []
    for name, size in recorded.items():
        for other in (size + 1, 2 * size, size - 1):
            if other > 0 and _works(call, {**recorded, name: other}):
                free.append(name)
                break
    found: list[Resized] = []
    for _ in range(_DRAWS if free else 0):
        sizes = {**recorded, **{name: draw.randint(1, _GREATEST) for name in free}}
        resized = _at(call, sizes)
        if sizes != recorded and resized not in found and _works(call, sizes):
            found.append(resized)
        if len(found) == _KEPT:
            break
    return found


def run_at(call: FunctionCall, resized: Resized) -> Any:
    """Repeat a call at other sizes. The tensors hold what the recorded ones held, over and over, with some noise."""
    arguments = [_resized(one, resized.shapes.get(k)) for k, one in enumerate(call.arguments)]
    keywords = {name: _resized(one, resized.shapes.get(name)) for name, one in call.keywords.items()}
    for key, number in resized.numbers.items():
        if isinstance(key, int):
            arguments[key] = number
        else:
            keywords[key] = number
    return call.inside(lambda: call.function(*arguments, **keywords))


def _at(call: FunctionCall, sizes: Sizes) -> Resized:
    shapes = {key: one.shape(sizes) for key, one in _annotated(call).items()}
    numbers = {key: sizes[name] for name, key in _integers(call).items() if name in sizes}
    return Resized(shapes, numbers)


def _works(call: FunctionCall, sizes: Sizes) -> bool:
    try:
        result = run_at(call, _at(call, sizes))
    except Exception:
        return False
    returned = _hints(call.function).get("return")
    if isinstance(result, Tensor):
        axes = _axes(returned, result)
        for axis, size in zip(axes or (), result.shape):
            value = None if axis is None else _value(axis, sizes)
            if value is not None and value != size:
                return False
    return True


def _annotated(call: FunctionCall) -> dict[int | str, _Annotated]:
    """The arguments whose annotation names axes, by position or keyword."""
    hints = _hints(call.function)
    found: dict[int | str, _Annotated] = {}
    for name, key in _places(call):
        value = call.arguments[key] if isinstance(key, int) else call.keywords[key]
        axes = _axes(hints.get(name), value) if isinstance(value, Tensor) else None
        if axes is not None:
            found[key] = _Annotated(value, axes)
    return found


def _integers(call: FunctionCall) -> dict[str, int | str]:
    """The int arguments, by the names of their parameters."""
    return {
        name: key
        for name, key in _places(call)
        if type(call.arguments[key] if isinstance(key, int) else call.keywords[key]) is int
    }


def _places(call: FunctionCall) -> Iterator[tuple[str, int | str]]:
    """The parameters' names, each with the position or keyword of its argument."""
    parameters = [
        one
        for one in inspect.signature(call.function).parameters.values()
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    yield from ((one.name, k) for k, one in enumerate(parameters[: len(call.arguments)]))
    yield from ((name, name) for name in call.keywords)


def _hints(function: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:  # whatever evaluating the annotations raises
        return {}


def _axes(hint: Any, tensor: Tensor) -> tuple[str | None, ...] | None:
    """The axes that an annotation gives a tensor; None if it does not fit, or is none."""
    if not hasattr(hint, "dim_str"):
        fitting = (_axes(one, tensor) for one in typing.get_args(hint))
        return next((axes for axes in fitting if axes is not None), None)
    words: list[str | None] = [_expression(word) for word in hint.dim_str.split()]
    packs = [k for k, word in enumerate(hint.dim_str.split()) if word.lstrip("#?").startswith("*") or word == "..."]
    if packs:
        (at,) = packs
        words[at : at + 1] = [None] * (tensor.dim() - len(words) + 1)
    return tuple(words) if len(words) == tensor.dim() else None


def _expression(word: str) -> str | None:
    word = word.lstrip("#?")
    if "=" in word:
        word = word.partition("=")[2]
    return None if word.startswith(("_", "*")) or "{" in word or word == "..." else word


def _recorded_sizes(annotated: typing.Iterable[_Annotated]) -> dict[str, int]:
    """The sizes that names have in a call."""
    pairs = [pair for one in annotated for pair in zip(one.axes, one.tensor.shape) if pair[0] is not None]
    sizes = {axis: size for axis, size in pairs if axis and _NAME.fullmatch(axis)}
    for axis, size in pairs:
        unknown = [name for name in _NAME.findall(axis or "") if name not in sizes and name not in ("min", "max")]
        if axis and len(set(unknown)) == 1:
            fitting = (n for n in range(1, _MOST_TRIED) if _value(axis, {**sizes, unknown[0]: n}) == size)
            solved = next(fitting, None)
            if solved is not None:
                sizes[unknown[0]] = solved
    return sizes


def _value(axis: str, sizes: Sizes) -> int | None:
    try:
        return int(eval(axis, {"__builtins__": {}, "min": min, "max": max}, dict(sizes)))
    except Exception:  # a name without a size, a division by zero
        return None


def _resized(value: Any, shape: Sequence[int] | None) -> Any:
    if not isinstance(value, Tensor):
        return value
    x = value.detach()
    if shape is None:
        return x.clone()
    for axis, (size, wanted) in enumerate(zip(value.shape, shape)):
        if wanted != size:
            if wanted < 0 or not size:
                raise ValueError("no such size")
            x = x.index_select(axis, torch.arange(wanted) % size)
    if x.is_floating_point():
        x = x * (1 + 0.2 * noise(tuple(x.shape), 0).to(x.dtype))  # signs and zeros stay
    return x.clone()
