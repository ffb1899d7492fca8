"""Faults of float32 and half precision: NaN and infinity, gradients that vanish, gradients without a right digit.

The backward is compared with itself in float64 at the same inputs. Only what autograd of the forward does right in the
same precision is asked of it: an input at which no formula could work is nobody's fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.runtime.tensor_types import dtype_name
from shaped.verify.comparison import reference
from shaped.verify.faults import Counterexample, Fault, number
from shaped.verify.hazards.points import with_companions
from shaped.verify.leaves import differentiable
from shaped.verify.samples import Sample, all_finite, draw_upstream
from shaped.verify.special_points import float_points
from shaped.verify.trials import counts, finite_outputs, given_sample, in_dtype, tensors_in_dtype
from shaped.verify.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shaped.verify.samples import Sampler
    from shaped.verify.subject import Inputs, Subject, Tensors

# bfloat16 has the range of float32, and so few digits that right formulas lose them all.
PRECISIONS = (torch.float32, torch.float16)
_UPSTREAM_SCALES = {torch.float32: (1e-25, 1e4), torch.float16: (1e-4, 1e2)}
# An error of a quarter of the largest entry leaves no digit; autograd's own must be far from that.
_GROSS, _FINE = 0.25, 0.02
# An entry this much smaller than the largest one may be lost to rounding, after a few operations that cancel.
_NOT_SMALL = 0.1
# Where a softmax is saturated its gradient is 0 but for rounding, in the units of what it is elsewhere.
_ROUNDINGS = 64
_SMALLEST = 1e-3


def faults_of_precision(
    subject: Subject, sampler: Sampler, dtype: torch.dtype, domain: Callable[..., bool] | None
) -> Iterator[Counterexample]:
    """The faults at special points in one precision; none where the forward or the backward does not support it."""
    for sample in _samples(sampler, dtype):
        inputs = in_dtype(sample.inputs, dtype)
        exact = in_dtype(inputs, torch.float64)
        if not all_finite(inputs) or not counts(subject, Sample(exact, sample.sizes), domain):
            continue
        outputs = finite_outputs(subject, inputs)
        exact_outputs = None if outputs is None else finite_outputs(subject, exact)
        if outputs is None or exact_outputs is None or not _are_close(outputs, exact_outputs):
            continue
        for upstream, point in _upstreams(exact_outputs, sample.point, dtype):
            fault = _fault(subject, inputs, exact, upstream, dtype)
            if fault is not None and _is_noise(subject, fault, exact, upstream, sampler):
                continue
            if fault is not None:
                yield Counterexample(fault, Sample(inputs, sample.sizes, point), upstream)


def _samples(sampler: Sampler, dtype: torch.dtype) -> Iterator[Sample]:
    given = given_sample(sampler)
    if given is not None:
        yield given
    yield sampler.draw(0)
    for i, (name, value) in float_points(sampler, (), dtype):
        # The cube of the reciprocal of a root of eps overflows half precision where a row is constant.
        if dtype is torch.float16 and _is_degenerate(value):
            continue
        for inputs in with_companions(sampler, i, value):
            yield Sample(inputs, sampler.layout.sizes, name)


def _is_degenerate(value: Tensor) -> bool:
    """Whether an input, or a row of it, is constant, or next to 0."""
    if not value.ndim or value.shape[-1] < 2:
        return False
    spread = (value - value[..., :1]).abs().amax(-1)
    return bool((spread < _SMALLEST).any())


def _upstreams(outputs: tuple[object, ...], point: str, dtype: torch.dtype) -> Iterator[tuple[Tensors, str]]:
    """A generic upstream gradient; at generic inputs a small and a large one too, as losses are scaled."""
    drawn = draw_upstream(outputs, 1)
    yield tensors_in_dtype(drawn, dtype), point
    for scale in () if point else _UPSTREAM_SCALES[dtype]:
        scaled = tuple(None if value is None else scale * value for value in drawn)
        yield tensors_in_dtype(scaled, dtype), f"the upstream is about {scale:.0e}"


def _are_close(outputs: tuple[object, ...], exact: tuple[object, ...]) -> bool:
    """Whether the forward itself is right in this precision."""
    pairs = [(a, b) for a, b in zip(outputs, exact) if isinstance(a, Tensor) and isinstance(b, Tensor) and b.numel()]
    return all(float((a.to(b.dtype) - b).abs().max()) <= _FINE * float(b.abs().max()) for a, b in pairs)


def _fault(subject: Subject, inputs: Inputs, exact: Inputs, upstream: Tensors, dtype: torch.dtype) -> Fault | None:
    exact_upstream = tensors_in_dtype(upstream, torch.float64)
    try:
        found, truth = subject.run(inputs, upstream).gradients, subject.run(exact, exact_upstream).gradients
    except Exception:  # not supported in this precision
        return None
    for place in differentiable(inputs):
        expected, actual = truth[place], found[place]
        if expected is None or actual is None or not expected.numel() or actual.shape != expected.shape:
            continue
        actual = actual.to(expected.dtype)
        fault = _suspicion(subject.inputs[place].name, expected, actual, dtype)
        if fault is None:
            continue
        own = reference(subject, inputs, upstream)[place]
        own_exact = reference(subject, exact, exact_upstream)[place]
        if own is not None and own_exact is not None and _is_attainable(own.to(own_exact.dtype), own_exact, fault):
            return fault
    return None


def _suspicion(name: str, truth: Tensor, actual: Tensor, dtype: torch.dtype) -> Fault | None:
    """What is wrong with a gradient in a lower precision, if autograd shows that there is a better one."""
    limits = torch.finfo(dtype)
    largest = float(truth.abs().max())
    if not limits.tiny * 2**10 < largest < limits.max / 2:  # also for NaN
        return None
    gap = (actual - truth).abs()
    kinds = (
        (~actual.isfinite(), "is not finite"),
        ((actual == 0) & (truth.abs() > _NOT_SMALL * largest), "vanishes"),
        (gap > _GROSS * largest, "has no right digit"),
    )
    for places, what in kinds:
        if bool(places.any()):
            index = tuple(places.nonzero().tolist()[0])
            reason = f"the gradient of {name} {what} in {dtype_name(dtype)}"
            return Fault(Level.HAZARD, reason, name, index, number(truth[index]), number(actual[index]))
    return None


def _is_noise(subject: Subject, fault: Fault, inputs: Inputs, upstream: Tensors, sampler: Sampler) -> bool:
    """Whether an entry is off by no more than the rounding of gradients of ordinary size."""
    if fault.expected is None or fault.actual is None:
        return False
    generic = in_dtype(sampler.draw(0).inputs, torch.float64)
    place = next(i for i, parameter in enumerate(subject.inputs) if parameter.name == fault.gradient)
    try:
        gradient = subject.run(generic, tensors_in_dtype(upstream, torch.float64)).gradients[place]
    except Exception:  # outside of what the backward takes
        return False
    if gradient is None or not bool(gradient.isfinite().all()):
        return False
    stretched = [_largest(one) / max(_largest(other), _SMALLEST) for one, other in zip(inputs, generic)]
    dtype = torch.float16 if fault.reason.endswith("float16") else torch.float32
    explained = _ROUNDINGS * torch.finfo(dtype).eps * _largest(gradient) * max(1.0, *stretched)
    return abs(fault.actual - fault.expected) <= explained  # False for NaN and infinity


def _largest(value: object) -> float:
    if not isinstance(value, Tensor) or not value.numel() or not (value.is_floating_point() or value.is_complex()):
        return 0.0
    return float(value.abs().max())


def _is_attainable(own: Tensor, own_exact: Tensor, fault: Fault) -> bool:
    """Whether autograd of the forward, in the same precision, has the digits of the gradient and of the entry."""
    if not bool(own.isfinite().all()) or own.shape != own_exact.shape:
        return False
    gap = (own - own_exact).abs()
    is_right = float(gap.max()) <= _FINE * float(own_exact.abs().max())
    vanishes = fault.actual == 0
    return is_right and (not vanishes or bool(gap[fault.index] <= _GROSS * own_exact[fault.index].abs()))
