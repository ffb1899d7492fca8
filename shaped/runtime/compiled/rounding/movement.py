"""Operations that compute nothing: views, and entries at other places. They are done on values and bounds alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, fx
from torch._ops import OpOverload

from shaped.runtime.compiled.rounding.bounded import Bounded, Terms, terms_of
from shaped.runtime.compiled.rounding.formats import format_of


def bounded_in(arguments: object) -> Iterator[Bounded]:
    """The tensors among arguments."""
    if isinstance(arguments, Bounded):
        yield arguments
    elif isinstance(arguments, (list, tuple)):
        for each in arguments:
            yield from bounded_in(each)


def with_tensors(arguments: Any, function: Callable[[Bounded], Tensor]) -> Any:
    """Arguments with tensors in place of bounded ones."""
    if isinstance(arguments, Bounded):
        return function(arguments)
    if isinstance(arguments, (list, tuple)):
        return [with_tensors(each, function) for each in arguments]
    return arguments


def moved(target: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bounded | list[Bounded]:
    """An operation that moves entries, on values, bounds and terms; a list if it gives several tensors.

    What moves are floats, if there are any, and integers else; integers beside floats say where to.
    """
    used = list(bounded_in([*args, *kwargs.values()]))
    moving = [each for each in used if each.format.is_float] or (used if len(used) == 1 else [])
    gives_several = False

    def of(function: Callable[[Bounded], Tensor]) -> list[Tensor]:
        nonlocal gives_several

        def tensor(each: Bounded) -> Tensor:
            return function(each) if each in moving else each.value

        made = target(*with_tensors(args, tensor), **{name: with_tensors(one, tensor) for name, one in kwargs.items()})
        gives_several = not isinstance(made, Tensor)
        return list(made) if gives_several else [made]

    values = of(lambda each: each.value)
    if moving:
        to = max((each.format for each in moving), key=lambda each: each.precision)
        bounds = of(lambda each: each.bound)
    else:
        to = format_of(values[0].dtype)
        bounds = [torch.zeros(value.shape, dtype=torch.float64) for value in values]
    if any(not each.is_exact for each in used if each not in moving):  # from where is undecided
        bounds = [torch.full_like(bound, math.inf) for bound in bounds]
    results = [Bounded(value, bound, to) for value, bound in zip(values, bounds)]
    if any(each.terms for each in moving):
        roundings = max(terms_of(each).roundings for each in moving)
        magnitudes, errors = of(lambda each: terms_of(each).magnitude), of(lambda each: terms_of(each).error)
        for result, magnitude, error in zip(results, magnitudes, errors):
            result.terms = Terms(roundings, magnitude, error)
    return results if gives_several else results[0]


def viewed(
    node: fx.Node, target: OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Bounded | list[Bounded]:
    """A view, of the memory of values and of that of bounds."""
    if target._schema.name == "aten::as_strided":
        base = node.args[0]
        assert isinstance(base, fx.Node)
        target = _by_strides(base.meta["val"].storage_offset())
    return moved(target, args, kwargs)


def _by_strides(base_offset: int) -> Any:
    """A view by strides; its offset counts from the start of the memory, which is another one here."""

    def function(
        values: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
    ) -> Tensor:
        further = 0 if storage_offset is None else storage_offset - base_offset
        return values.as_strided(size, stride, values.storage_offset() + further)

    return function
