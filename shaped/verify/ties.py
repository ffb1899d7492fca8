"""Gradients at ties: entries that lie between the two slopes each, but together belong to no gradient.

At a tie of a maximum any share of the upstream gradient is right for one entry. Moved by the same amount, the entries
stay tied, and along that line the forward has one slope: to it the shares have to add up.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.difference_quotient import Quotient, one_sided
from shaped.verify.faults import Fault, number
from shaped.verify.leaves import differentiable
from shaped.verify.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shaped.verify.subject import Inputs, Subject, Tensors

# Shares of a tie are off by whole fractions; what is less may be the rounding of the quotients.
_RELATIVE = 1e-3
_SAFETY = 10.0  # noise is an estimate, not a bound
_STEP = 0.1
_TINY = 1e-3


def fault_of_ties(
    subject: Subject,
    inputs: Inputs,
    upstream: Tensors,
    gradients: Tensors,
    expected: Tensors,
    noise: Callable[[int, tuple[int, ...]], float],
) -> Fault | None:
    """The first gradient whose entries do not add up to the slope of the forward along a line without a kink.

    Args:
        inputs: at which the forward is finite, in float64.
        upstream: the upstream gradients.
        gradients: what the backward returned for them.
        expected: what autograd finds, whose entries do add up where anything is claimed.
        noise: how far rounding moves an entry of the gradient of an input.
    """
    for direction in _directions(inputs, gradients, expected):
        claimed, scale = _along(gradients, direction)
        of_autograd, own_scale = _along(expected, direction)
        bound = _RELATIVE * max(scale, own_scale)
        if not math.isfinite(claimed - of_autograd) or abs(claimed - of_autograd) <= bound:
            continue
        slope = _slope(subject, inputs, upstream, direction)
        bound += _SAFETY * slope.error
        if not slope.settled or abs(of_autograd - slope.value) > bound or abs(claimed - slope.value) <= bound:
            continue
        place, index, gap = _largest_gap(gradients, expected, tuple(direction))
        if gap <= _SAFETY * noise(place, index):
            continue
        given, truth = gradients[place], expected[place]
        assert given is not None
        assert truth is not None
        name = subject.inputs[place].name
        reason = f"the gradient of {name} is wrong: what tied entries receive does not add up"
        return Fault(Level.REFUTED, reason, name, index, number(truth[index]), number(given[index]))
    return None


def _directions(inputs: Inputs, gradients: Tensors, expected: Tensors) -> Iterator[dict[int, Tensor]]:
    """Lines on which ties stay ties: the entries of one input, or of all, moved by the same amount or stretched."""
    places = [
        i
        for i in differentiable(inputs)
        if isinstance(value := inputs[i], Tensor)
        and not value.is_complex()
        and gradients[i] is not None
        and expected[i] is not None
    ]
    values = {i: value for i in places if isinstance(value := inputs[i], Tensor)}
    for chosen in [*([i] for i in places), *([places] if len(places) > 1 else [])]:
        if sum(values[i].numel() for i in chosen) < 2 or any(_is_tiny(values[i]) for i in chosen):
            continue
        yield {i: torch.ones_like(values[i]) for i in chosen}
        yield {i: values[i].detach() for i in chosen}


def _is_tiny(value: Tensor) -> bool:
    """Whether an input is so close to 0 that a guard against dividing by it may act."""
    return value.numel() > 0 and 0 < float(value.abs().max()) < _TINY


def _along(gradients: Tensors, direction: dict[int, Tensor]) -> tuple[float, float]:
    """The slope that gradients claim along a direction, and the size of its terms."""
    slope = size = 0.0
    for place, step in direction.items():
        gradient = gradients[place]
        assert gradient is not None
        terms = gradient.detach().to(step.dtype) * step
        slope += float(terms.sum())
        size += float(terms.abs().sum())
    return slope, size


def _slope(subject: Subject, inputs: Inputs, upstream: Tensors, direction: dict[int, Tensor]) -> Quotient:
    """The slope of the forward along a direction, not settled where it has another to each side."""

    def moved(t: float) -> float:
        values = [
            value + t * direction[i] if isinstance(value, Tensor) and i in direction else value
            for i, value in enumerate(inputs)
        ]
        try:
            return subject.value(tuple(values), upstream)
        except Exception:  # outside of what the forward takes
            return math.nan

    right, left = one_sided(moved, _STEP), one_sided(moved, -_STEP)
    apart = abs(right.value - left.value)
    if apart > right.error + left.error + _RELATIVE * abs(right.value):
        return Quotient(math.nan, math.inf)
    return Quotient((right.value + left.value) / 2, max(right.error, left.error))


def _largest_gap(gradients: Tensors, expected: Tensors, places: tuple[int, ...]) -> tuple[int, tuple[int, ...], float]:
    """The entry that differs most from autograd's: the input, its index, and by how much."""
    pairs = [(i, gradients[i], expected[i]) for i in places]
    gaps = {i: (one.detach() - other).abs() for i, one, other in pairs if one is not None and other is not None}
    place = max(gaps, key=lambda i: float(gaps[i].max()))
    flat = gaps[place].argmax()
    index = tuple(int(one) for one in torch.unravel_index(flat, gaps[place].shape))
    return place, index, float(gaps[place][index])
