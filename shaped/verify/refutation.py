"""Gradients refuted by numbers: random inputs and upstream gradients at several sizes.

That nothing is found proves nothing, so the answer is a refutation with a small counterexample, or None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from shaped.verify.comparison import fault_of_values
from shaped.verify.constants import constants
from shaped.verify.faults import Counterexample, Fault
from shaped.verify.returned import fault_of_form
from shaped.verify.samples import draw_upstream
from shaped.verify.smallest import smallest
from shaped.verify.special_points import integer_points, near_constants
from shaped.verify.subject import SubjectError
from shaped.verify.trials import counts, finite_outputs, given_sample, in_dtype, quiet, samplers, tensors_in_dtype
from shaped.verify.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shaped.verify.samples import Sample, Sampler
    from shaped.verify.subject import Inputs, Subject, Tensors
    from shaped.verify.verdict import Verdict

# Stretched values reach both sides of thresholds (hardtanh's 1, hardswish's 3, softplus' 20).
_SCALES = (1.0, 4.0, 1.0, 0.2, 30.0)


def numeric_refutation(subject: Subject, *inputs: object, domain: Callable[..., bool] | None = None) -> Verdict | None:
    """A counterexample to the gradients of a subject, None if none is found.

    Args:
        subject: forward and backward.
        inputs: inputs to use, needed where the parameters have no annotations.
        domain: says of inputs whether they count; all do without it.

    Raises:
        SubjectError: the forward takes none of the inputs that its annotations describe.

    >>> from jaxtyping import Float
    >>> from torch import Tensor
    >>> from shaped.verify.subject import Subject
    >>> def double(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    ...     return 2 * x
    >>> def wrong(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    ...     return (grad,)
    >>> print(numeric_refutation(Subject.of(double, wrong)))
    double: refuted: the gradient of x is wrong, at n = 1, grad = [1.0], x = [1.0]: the gradient of x[0] is 2, not 1
    """

    def judge(sample: Sample, upstream: Tensors | None = None) -> Counterexample | None:
        return _refuted_at(subject, sample, upstream, domain)

    with quiet():
        for sampler in samplers(subject, inputs):
            for sample in _samples(subject, sampler):
                found = judge(sample)
                if found is not None:
                    return smallest(subject, found, judge).verdict(subject)
    return None


def _samples(subject: Subject, sampler: Sampler) -> Iterator[Sample]:
    """Generic inputs of one layout, then those whose integers or booleans are special."""
    given = given_sample(sampler)
    if given is not None:
        yield given
    for number, scale in enumerate(_SCALES):
        yield sampler.draw(number, scale=scale)
    mentioned = constants(subject.functions)
    yield from near_constants(sampler, mentioned)
    yield from integer_points(sampler, mentioned)


def _refuted_at(
    subject: Subject, sample: Sample, upstream: Tensors | None, domain: Callable[..., bool] | None
) -> Counterexample | None:
    """The fault at one sample that refutes the gradient, None if there is none or the sample does not count."""
    if not counts(subject, sample, domain):
        return None
    outputs = finite_outputs(subject, sample.inputs)
    if outputs is None:
        return None
    weights = draw_upstream(outputs, 0) if upstream is None else upstream
    fault = fault_at(subject, sample.inputs, weights, is_special=bool(sample.point))
    return Counterexample(fault, sample, weights) if fault is not None and fault.level is Level.REFUTED else None


def fault_at(subject: Subject, inputs: Inputs, upstream: Tensors, *, is_special: bool) -> Fault | None:
    """What is wrong with the gradients at inputs of float64 where the forward is finite.

    A backward that raises at a special point, such as an index of -100, is loud and harms nobody silently.
    """
    try:
        outcome = subject.run(inputs, upstream)
    except SubjectError:
        raise
    except Exception as problem:  # whatever the user's backward raises
        return None if is_special else _fault_of_raising(subject, inputs, upstream, problem)
    return fault_of_form(subject, inputs, outcome) or fault_of_values(subject, inputs, upstream, outcome)


def _fault_of_raising(subject: Subject, inputs: Inputs, upstream: Tensors, problem: Exception) -> Fault | None:
    """A backward that raises; but one that does so for float64 alone was written for float32."""
    try:
        subject.run(in_dtype(inputs, torch.float32), tensors_in_dtype(upstream, torch.float32))
    except Exception:  # it raises for all floats
        text = str(problem).strip().partition("\n")[0]
        return Fault(Level.REFUTED, f"the backward raises {type(problem).__name__}: {text}")
    return None
