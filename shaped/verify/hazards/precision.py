"""Faults of float32 and half precision: NaN and infinity, gradients that vanish, gradients without a right digit.

The truth is autograd in float64 at the same inputs. Only what autograd of the forward does right in the same precision
is asked of a backward: an input at which no formula could work is nobody's fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.comparison import Entry, finite_truth, reference
from shaped.verify.faults import Counterexample, Fault, is_nan, number
from shaped.verify.hazards.points import special_samples
from shaped.verify.samples import Sample, all_finite, draw_upstream
from shaped.verify.subject import differentiable
from shaped.verify.trials import counts, finite_outputs, in_dtype, tensors_in_dtype
from shaped.verify.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shaped.verify.samples import Sampler
    from shaped.verify.subject import Inputs, Subject, Tensors

PRECISIONS = (torch.float32, torch.float16, torch.bfloat16)
# An error of a quarter of the largest entry leaves no digit; autograd's own must be far from that.
_GROSS, _FINE = 0.25, 0.02
# An entry this much smaller than the largest one may be lost to rounding.
_NOT_SMALL = 1e-3


def faults_of_precision(
    subject: Subject, sampler: Sampler, dtype: torch.dtype, domain: Callable[..., bool] | None
) -> Iterator[Counterexample]:
    """The faults at special points in one precision; none where the forward or the backward does not support it."""
    for sample in special_samples(subject, sampler, dtype):
        inputs = in_dtype(sample.inputs, dtype)
        exact = in_dtype(inputs, torch.float64)
        if not all_finite(inputs) or not counts(subject, Sample(exact, sample.sizes), domain):
            continue
        outputs = finite_outputs(subject, inputs)
        exact_outputs = None if outputs is None else finite_outputs(subject, exact)
        if outputs is None or exact_outputs is None:
            continue
        upstream = tensors_in_dtype(draw_upstream(exact_outputs, 1), dtype)
        fault = _fault(subject, inputs, exact, upstream, dtype)
        if fault is not None:
            yield Counterexample(fault, Sample(inputs, sample.sizes, sample.point), upstream)


def _fault(subject: Subject, inputs: Inputs, exact: Inputs, upstream: Tensors, dtype: torch.dtype) -> Fault | None:
    exact_upstream = tensors_in_dtype(upstream, torch.float64)
    truth = reference(subject, exact, exact_upstream)
    by_autograd = reference(subject, inputs, upstream)
    try:
        found = subject.run(inputs, upstream).gradients
    except Exception:  # not supported in this precision
        return None
    for place in differentiable(inputs):
        expected, own, actual = truth[place], by_autograd[place], found[place]
        if expected is None or own is None or actual is None or not expected.numel() or actual.shape != expected.shape:
            continue
        entry = Entry(subject, exact, exact_upstream, place)
        fault = _of_gradient(entry, expected, own.to(expected.dtype), actual.to(expected.dtype), dtype)
        if fault is not None:
            return fault
    return None


def _of_gradient(entry: Entry, truth: Tensor, own: Tensor, actual: Tensor, dtype: torch.dtype) -> Fault | None:
    limits = torch.finfo(dtype)
    known = truth.isfinite() & own.isfinite() & (truth.abs() < limits.max / 2)
    largest = float(truth.abs()[known].max()) if bool(known.any()) else 0.0
    close = (own - truth).abs() <= _FINE * largest
    where = f"in {str(dtype).removeprefix('torch.')}"
    kinds = (
        (known & ~actual.isfinite(), f"is not finite {where}"),
        (
            known & close & (actual == 0) & (truth.abs() > max(limits.tiny * 2**10, _NOT_SMALL * largest)),
            f"vanishes {where}",
        ),
        (
            known & close & ((actual - truth).abs() > _GROSS * largest) & (largest > limits.tiny * 2**10),
            f"has no right digit {where}",
        ),
    )
    for places, what in kinds:
        for position in places.nonzero().tolist()[:1]:
            index = tuple(position)
            value = number(actual[index])
            if not bool(actual[index].isfinite()) and not is_nan(value) and finite_truth(entry, index, truth) is None:
                continue
            reason = f"the gradient of {entry.name} {what}"
            return Fault(Level.HAZARD, reason, entry.name, index, number(truth[index]), value)
    return None
