"""The gradients of a backward against the true ones at concrete inputs, and never a false alarm.

An entry that differs from autograd through the forward is only a suspicion. It is a fault where the one-sided
difference quotients of the forward settle as well and both tell another number. At a kink any number between the two
slopes is right, as long as the entries together add up.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.difference_quotient import Quotient, one_sided
from shaped.verify.faults import Fault, is_nan, number
from shaped.verify.leaves import differentiable, has_gradient
from shaped.verify.ties import fault_of_ties
from shaped.verify.verdict import Level

if TYPE_CHECKING:
    from shaped.verify.subject import Inputs, Outcome, Subject, Tensors

# A constant kept in float32 has an error of 6e-8, which makes no other function; where such terms cancel, the error is
# relative to them.
_RELATIVE = 1e-6
_OF_THE_LARGEST = 1e-7
# What is left of 1 - exp(-x) for a tiny x, in units of the upstream gradient, is the rounding of 1.
_OF_THE_UPSTREAM = 1e-15
# Noise and errors are estimates, not bounds.
_SAFETY = 10.0
# So many that every order of a few tied entries is met.
_NEIGHBOURS, _NEAR = 128, 1e-7
_MOST_CONFIRMED = 4  # suspicious entries of one gradient that are looked at
# Inputs times these keep zeros, ties and signs, but round differently, in sums of numbers of any size.
_FACTORS = (1 + 1e-12, 1 - 1.7e-6, 1 + 2.3e-4, 1 - 1.1e-3)


def fault_of_values(subject: Subject, inputs: Inputs, upstream: Tensors, outcome: Outcome) -> Fault | None:
    """The first gradient with an entry that is NaN, infinite or another number than the true one.

    Args:
        inputs: at which the forward is finite, in float64.
        upstream: the upstream gradients.
        outcome: what the backward returned for them.
    """
    expected = reference(subject, inputs, upstream)
    for place in differentiable(inputs):
        value, actual = inputs[place], outcome.gradients[place]
        assert isinstance(value, Tensor)
        truth = expected[place]
        given = torch.zeros_like(value) if actual is None else actual.detach().to(value.dtype)
        if not given.numel():
            continue
        entry = Entry(subject, inputs, upstream, place)
        fault = _non_finite(entry, given, truth) or _differing(entry, given, truth)
        if fault is not None and actual is None:
            reason = f"None is returned for {entry.name}, whose gradient is not 0"
            return Fault(Level.REFUTED, reason, fault.gradient, fault.index, fault.expected, 0.0)
        if fault is not None:
            return fault

    def noise(place: int, index: tuple[int, ...]) -> float:
        given, truth = outcome.gradients[place], expected[place]
        assert given is not None
        assert truth is not None
        return Entry(subject, inputs, upstream, place).noise(index, number(given[index]), number(truth[index]))

    return fault_of_ties(subject, inputs, upstream, outcome.gradients, expected, noise)


def reference(subject: Subject, inputs: Inputs, upstream: Tensors) -> Tensors:
    """The gradients that autograd finds; None where it does not differentiate the forward."""
    try:
        return subject.reference(inputs, upstream)
    except Exception:  # in-place writes, numpy, a kernel: then only the difference quotients count
        return (None,) * len(inputs)


class Entry:
    """One gradient of one subject at one sample, entry by entry."""

    def __init__(self, subject: Subject, inputs: Inputs, upstream: Tensors, place: int) -> None:
        self.subject, self.inputs, self.upstream, self.place = subject, inputs, upstream, place
        self.name = subject.inputs[place].name

    @property
    def upstream_size(self) -> float:
        """The greatest entry of the upstream gradients."""
        return max((float(one.abs().max()) for one in self.upstream if one is not None and one.numel()), default=0.0)

    def slopes(self, index: tuple[int, ...], direction: complex = 1) -> tuple[Quotient, Quotient]:
        """The slopes of the forward to the right and to the left, for one entry of the input."""
        value = self.inputs[self.place]
        assert isinstance(value, Tensor)
        step = 0.1 * max(1.0, abs(number(value[index])))

        def along(t: float) -> float:
            moved = value.clone()
            moved[index] += direction * t if value.is_complex() else t
            try:
                return self.subject.value(
                    (*self.inputs[: self.place], moved, *self.inputs[self.place + 1 :]), self.upstream
                )
            except Exception:  # outside of what the forward takes
                return math.nan

        return one_sided(along, step), one_sided(along, -step)

    def noise(self, index: tuple[int, ...], actual: float | complex, truth: float | complex | None) -> float:
        """How far rounding moves the entry that the backward returns.

        That is how the distance to autograd's entry changes when all inputs are multiplied by the same number, which
        keeps zeros, ties and signs: the distance of a wrong function changes as little as the inputs do.
        """
        largest = 0.0
        for factor in _FACTORS if truth is not None else _FACTORS[:1]:
            inputs = tuple(
                value * factor if isinstance(value, Tensor) and i in differentiable(self.inputs) else value
                for i, value in enumerate(self.inputs)
            )
            try:
                gradient = self.subject.run(inputs, self.upstream).gradients[self.place]
            except Exception:  # outside of what the backward takes
                return math.inf
            moved = 0.0 if gradient is None else number(gradient[index])
            own = None if truth is None else reference(self.subject, inputs, self.upstream)[self.place]
            shift = 0.0 if own is None or truth is None else number(own[index]) - truth
            largest = max(largest, abs(moved - actual - shift))
        return largest

    def is_near(self, index: tuple[int, ...], actual: float | complex) -> bool:
        """Whether the entry lies between gradients at points close by: a generalised gradient in the sense of Clarke.

        Where several entries are tied, as for a median, steps along one entry do not see all slopes.
        """
        found: list[float | complex] = []
        generator = torch.Generator().manual_seed(1)
        for _ in range(_NEIGHBOURS):
            inputs = tuple(
                value + _NEAR * (1 + value.abs()) * torch.randn(value.shape, generator=generator, dtype=value.dtype)
                if isinstance(value, Tensor) and has_gradient(value)
                else value
                for value in self.inputs
            )
            gradient = reference(self.subject, inputs, self.upstream)[self.place]
            if gradient is None or not bool(gradient[index].isfinite()):
                return False
            found.append(number(gradient[index]))
        parts = ((actual.real, [one.real for one in found]), (actual.imag, [one.imag for one in found]))
        return all(min(near) <= part <= max(near) for part, near in parts)


def _non_finite(entry: Entry, actual: Tensor, truth: Tensor | None) -> Fault | None:
    bad = (~actual.isfinite()).nonzero().tolist()
    for position in bad[:_MOST_CONFIRMED]:
        index = tuple(position)
        found = number(actual[index])
        expected = finite_truth(entry, index, truth)
        if is_nan(found):
            return Fault(Level.HAZARD, f"the gradient of {entry.name} is NaN", entry.name, index, expected, found)
        if expected is not None:
            reason = f"the gradient of {entry.name} is infinite, the true one is not"
            return Fault(Level.HAZARD, reason, entry.name, index, expected, found)
    return None


def finite_truth(entry: Entry, index: tuple[int, ...], truth: Tensor | None) -> float | complex | None:
    """The true gradient of an entry if it is known to be finite; at a kink, 0 where it is between the slopes."""
    right, left = entry.slopes(index)
    if truth is not None and not truth.is_complex() and right.settled and left.settled:
        low, high = sorted((right.value, left.value))
        of_autograd = number(truth[index]).real
        if low <= of_autograd <= high:
            return of_autograd
        return 0.0 if low <= 0 <= high else (low + high) / 2
    # Autograd masks some infinite slopes as 0, so a 0 of its own proves nothing.
    if truth is not None and bool(truth[index].isfinite()) and number(truth[index]) != 0:
        return number(truth[index])
    return None


def _differing(entry: Entry, actual: Tensor, truth: Tensor | None) -> Fault | None:
    largest = float(actual.abs()[actual.isfinite()].max()) if bool(actual.isfinite().any()) else 0.0
    if truth is None:
        suspicious = list(torch.ones_like(actual, dtype=torch.bool).nonzero().tolist())
    else:
        gap = (actual - truth).abs()
        floor = _OF_THE_LARGEST * largest + _OF_THE_UPSTREAM * entry.upstream_size
        bound = _RELATIVE * torch.maximum(actual.abs(), truth.abs()) + floor
        places = ((gap > bound) | truth.isnan()).nonzero().tolist()
        suspicious = sorted(places, key=lambda at: -_sortable(float(gap[tuple(at)])))
    for position in suspicious[:_MOST_CONFIRMED]:
        index = tuple(position)
        if not bool(actual[index].isfinite()):
            continue
        expected = _confirmed(entry, index, number(actual[index]), truth, largest)
        if expected is not None:
            reason = f"the gradient of {entry.name} is wrong"
            return Fault(Level.REFUTED, reason, entry.name, index, expected, number(actual[index]))
    return None


def _sortable(gap: float) -> float:
    return gap if math.isfinite(gap) else math.inf


def _confirmed(
    entry: Entry, index: tuple[int, ...], actual: float | complex, truth: Tensor | None, largest: float
) -> float | complex | None:
    """The true gradient of an entry if `actual` is certainly not it, None if it may be."""
    of_autograd = None if truth is None or not bool(truth[index].isfinite()) else number(truth[index])
    directions: tuple[complex, ...] = (1, 1j) if isinstance(actual, complex) else (1,)
    bound = _RELATIVE * max(abs(actual), abs(of_autograd or 0.0)) + _OF_THE_LARGEST * largest
    parts: list[float] = []
    differs = False
    for direction in directions:
        right, left = entry.slopes(index, direction)
        if not (right.settled and left.settled):
            return None
        low, high = sorted((right.value, left.value))
        part = actual.real if direction == 1 else actual.imag
        error = _SAFETY * max(right.error, left.error) + bound + _RELATIVE * max(abs(low), abs(high))
        differs = differs or not low - error <= part <= high + error
        parts.append(min(max(part, low), high))
    if not differs or not _SAFETY * entry.noise(index, actual, of_autograd) < _gap(actual, parts):
        return None
    if entry.is_near(index, actual):
        return None
    if of_autograd is not None:
        return of_autograd
    return complex(*parts) if len(parts) > 1 else parts[0]


def _gap(actual: float | complex, parts: list[float]) -> float:
    return abs(actual - (complex(*parts) if len(parts) > 1 else parts[0]))
