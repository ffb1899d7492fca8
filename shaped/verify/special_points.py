"""Inputs at which gradients go wrong that are right elsewhere: one input special at a time, the others generic.

Each point has a name that reads well after "where": `x has one entry 0`.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.samples import Sample, positions, readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shaped.verify.samples import Sampler
    from shaped.verify.subject import Inputs

Point = tuple[str, Tensor]
_MOST_AXES = 3
_MOST_PAIRS = 3
# Tiny enough that squares vanish in the dtype, or for half precision products with another tiny number.
_TINY = {torch.float64: 1e-30, torch.float32: 1e-30, torch.float16: 1e-6, torch.bfloat16: 1e-30}


def near_constants(sampler: Sampler, constants: tuple[float, ...]) -> Iterator[Sample]:
    """Generic floats around each number that the code mentions, so that both sides of it are visited."""
    for constant in constants:
        values = list(sampler.draw(11).inputs)
        for i, slot in enumerate(sampler.layout.slots):
            value = values[i]
            if slot.kind == "float" and isinstance(value, Tensor):
                values[i] = readable(constant + 0.3 * (abs(constant) + 0.1) * value)
        yield Sample(tuple(values), sampler.layout.sizes)


def float_points(sampler: Sampler, constants: tuple[float, ...], dtype: torch.dtype) -> Iterator[tuple[int, Point]]:
    """For each float or complex input, its special values with their names."""
    for i, slot in enumerate(sampler.layout.slots):
        if slot.kind not in ("float", "complex") or not positions(slot):
            continue
        base = sampler.draw(1).inputs[i]
        assert isinstance(base, Tensor)
        for named in (_zeros(base), _ties(base), _magnitudes(base, dtype), _simple(base), _at(base, constants)):
            yield from ((i, (f"{slot.name} {name}", value)) for name, value in named)


def _entry(base: Tensor, position: int, value: float) -> Tensor:
    changed = base.clone()
    changed.view(-1)[position] = value
    return changed


def _zeros(base: Tensor) -> Iterator[Point]:
    yield "is all 0" if base.ndim else "is 0", torch.zeros_like(base)
    count = base.numel()
    if count > 1:
        yield "has one entry 0", _entry(base, 0, 0.0)
        yield "has one entry 0", _entry(base, count - 1, 0.0)
    if count > 2:
        yield "has two entries 0", _entry(_entry(base, 0, 0.0), 1, 0.0)
    if base.ndim > 1:
        yield "has one row 0", _row(base, torch.zeros_like(base))


def _row(base: Tensor, values: Tensor) -> Tensor:
    """`base` with its first row, along the last axis, from `values`."""
    changed = base.clone()
    first = (0,) * (base.ndim - 1)
    changed[first] = values[first]
    return changed


def _ties(base: Tensor) -> Iterator[Point]:
    if base.numel() < 2:
        return
    yield "has all entries equal", base.view(-1)[0].expand_as(base).clone()
    if base.ndim > 1:
        yield "has one constant row", _row(base, base[..., :1].expand_as(base))
        for axis in range(min(base.ndim, _MOST_AXES)):
            yield f"is constant along axis {axis}", base.narrow(axis, 0, 1).expand_as(base).clone()
    changed = base.clone()
    if base.ndim and base.shape[-1] > 1:
        changed[..., 1] = changed[..., 0]
        yield "has equal entries", changed
        if not base.is_complex():
            changed = base.clone()
            changed[..., 0] = changed[..., -1] = base.amax(-1)
            yield "has its largest entry twice", changed
            changed = base.clone()
            changed[..., 0] = changed[..., -1] = base.amin(-1)
            yield "has its smallest entry twice", changed


def _magnitudes(base: Tensor, dtype: torch.dtype) -> Iterator[Point]:
    tiny = _TINY.get(dtype, 1e-30)
    yield f"is about {tiny:.0e}", base * tiny
    if base.numel() > 1:
        yield f"has one entry {tiny:.0e}", _entry(base, 0, tiny)
    # In half precision cubes of more than 40 are infinite, and exp of more than 11.
    large, largest = (4.0, 12.0) if torch.finfo(dtype).bits == 16 else (1e3, 1e4)
    yield f"is about {large:.0f}", base * large
    yield f"is about {largest:.0f}", base * largest
    if base.is_complex():
        return
    yield f"is {large:.0f}", torch.full_like(base, large)
    yield f"is {-large:.0f}", torch.full_like(base, -large)
    if base.numel() > 1:
        yield f"has one entry {large:.0f}", _entry(base, 0, large)
        yield f"has one entry {-large:.0f}", _entry(base, 0, -large)
        yield f"is {largest:.0f} with a small spread", base + largest


def _simple(base: Tensor) -> Iterator[Point]:
    yield "is all 1", torch.ones_like(base)
    yield "is all -1", -torch.ones_like(base)
    if base.is_complex():
        yield "is real", torch.complex(base.real, torch.zeros_like(base.real))
        yield "is imaginary", torch.complex(torch.zeros_like(base.real), base.imag)
        return
    yield "is negative", -base.abs() - 0.1
    yield "is positive", base.abs() + 0.1
    yield "has integer entries", (base * 2).round()
    yield "has entries 0 and 1", torch.where(base < 0, 0.0, 1.0).to(base.dtype)
    yield "has entries 1 and -1", torch.where(base < 0, -1.0, 1.0).to(base.dtype)


def _at(base: Tensor, constants: tuple[float, ...]) -> Iterator[Point]:
    """Entries at the numbers that the code mentions."""
    for constant in constants:
        if constant in (0, 1, -1) or base.is_complex():
            continue
        yield f"has one entry {constant:g}", _entry(base, 0, constant)
        yield f"has all entries {constant:g}", torch.full_like(base, constant)


def joint_points(sampler: Sampler) -> Iterator[Sample]:
    """Inputs that are special together: all 0, two equal ones, two with an equal first row (a distance of 0)."""
    base = sampler.draw(2).inputs
    slots = sampler.layout.slots
    places = [i for i, slot in enumerate(slots) if slot.kind in ("float", "complex") and positions(slot)]
    if len(places) < 2:
        return
    zeros = {i: torch.zeros_like(value) for i, value in enumerate(base) if i in places and isinstance(value, Tensor)}
    yield _with(sampler, base, zeros, f"{' and '.join(slots[i].name for i in places)} are all 0")
    for i, j in itertools.islice(itertools.combinations(places, 2), _MOST_PAIRS):
        first, second = base[i], base[j]
        assert isinstance(first, Tensor)
        assert isinstance(second, Tensor)
        names = f"{slots[i].name} and {slots[j].name}"
        if first.shape == second.shape:
            yield _with(sampler, base, {j: first.to(second.dtype)}, f"{names} are equal")
        if first.ndim and second.ndim and first.shape[1:] == second.shape[1:] and min(len(first), len(second)):
            changed = second.clone()
            changed[0] = first[0].to(second.dtype)
            yield _with(sampler, base, {j: changed}, f"{names} have an equal first row")


def _with(sampler: Sampler, base: Inputs, changed: Mapping[int, Tensor], point: str) -> Sample:
    inputs = tuple(changed.get(i, value) for i, value in enumerate(base))
    return Sample(inputs, sampler.layout.sizes, point)


def infinite_points(sampler: Sampler) -> Iterator[tuple[int, list[Point]]]:
    """For each float input, the points with entries -inf, a class of points after the other."""
    for i, slot in enumerate(sampler.layout.slots):
        if slot.kind != "float" or not positions(slot):
            continue
        bases = [sampler.draw(number).inputs[i] for number in (1, 2, 3)]
        tensors = [base for base in bases if isinstance(base, Tensor)]
        low = [torch.full_like(base, -math.inf) for base in tensors]
        count = tensors[0].numel()
        if count > 1:
            ends = [_entry(base, at, -math.inf) for base in tensors for at in {0, count - 1}]
            yield i, [(f"{slot.name} has one entry -inf", value) for value in ends]
        if tensors[0].ndim > 1:
            rows = [_row(base, infinite) for base, infinite in zip(tensors, low)]
            yield i, [(f"{slot.name} has one row -inf", value) for value in rows]
        yield i, [(f"{slot.name} is all -inf", low[0])]


def all_infinite(sampler: Sampler) -> Iterator[Sample]:
    """All float inputs -inf, where there are several: logarithms of 0 alone."""
    base = sampler.draw(2).inputs
    slots = sampler.layout.slots
    places = [i for i, slot in enumerate(slots) if slot.kind == "float" and positions(slot)]
    if len(places) > 1:
        low = {i: torch.full(slots[i].shape, -math.inf, dtype=torch.float64) for i in places}
        yield _with(sampler, base, low, f"{' and '.join(slots[i].name for i in places)} are all -inf")


def integer_points(sampler: Sampler, constants: tuple[float, ...]) -> Iterator[Sample]:
    """Special integers and booleans: repeated and distinct indices, masks of all, of none, and of one row."""
    values = sampler.draw(5).inputs
    for i, slot in enumerate(sampler.layout.slots):
        value = values[i]
        if not isinstance(value, Tensor) or slot.kind not in ("int", "bool") or not value.numel():
            continue
        named = _masks(value) if slot.kind == "bool" else _indices(value, sampler.tops.get(i, 1), constants)
        for name, special in named:
            inputs = (*values[:i], special, *values[i + 1 :])
            yield Sample(inputs, sampler.layout.sizes, f"{slot.name} {name}")


def _masks(base: Tensor) -> Iterator[Point]:
    for answer in (True, False):
        yield f"is all {answer}", torch.full_like(base, answer)
        if base.ndim > 1:
            yield f"has one row of {answer}", _row(base, torch.full_like(base, answer))
        if base.numel() > 1:
            one = torch.full_like(base, not answer)
            one.view(-1)[0] = answer
            yield f"has one entry {answer}", one


def _indices(base: Tensor, top: int, constants: tuple[float, ...]) -> Iterator[Point]:
    yield "is all equal", torch.full_like(base, max(top - 1, 0))
    yield "is all 0", torch.zeros_like(base)
    if base.numel() > 1:
        repeated = base.clone()
        repeated.view(-1)[-1] = repeated.view(-1)[0]
        yield "has an index twice", repeated
        spread = torch.arange(base.numel(), dtype=base.dtype).reshape(base.shape) % max(top, 1)
        yield "counts up", spread
        yield "counts down", spread.flip(-1) if base.ndim else spread
    # Numbers that stand for "ignore": torch's own and those of the code.
    for ignored in {-100, *(int(c) for c in constants if c < 0 and c == int(c))}:
        changed = base.clone()
        changed.view(-1)[0] = ignored
        yield f"has one entry {ignored}", changed
