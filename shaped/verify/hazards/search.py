"""The search for hazards over layouts, precisions and special points."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import torch

from shaped.verify.faults import Counterexample, Fault
from shaped.verify.hazards.contexts import fault_of_context
from shaped.verify.hazards.effects import fault_of_effects
from shaped.verify.hazards.points import faults_at_points
from shaped.verify.hazards.precision import PRECISIONS, faults_of_precision
from shaped.verify.hazards.second_order import fault_of_second_order
from shaped.verify.layouts import empty_layouts, small_layouts, wide_layouts
from shaped.verify.pairs import as_pair
from shaped.verify.samples import Sample, Sampler, draw_upstream
from shaped.verify.subject import Subject, SubjectError
from shaped.verify.trials import counts, finite_outputs, given_sample, quiet, samplers
from shaped.verify.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shaped.verify.layouts import Layout

# Points of one input at one layout are about 40; several inputs have as many each.
_LEAST_LAYOUTS, _MOST_LAYOUTS, _LAYOUTS_TIMES_INPUTS = 2, 5, 6
_MOST_SMALLER = 8
_EXTREME = 100.0


def float_hazards(
    forward: Callable[..., object] | type[torch.autograd.Function],
    backward: Callable[..., object] | None = None,
    *inputs: object,
    domain: Callable[..., bool] | None = None,
    gradient_of: Callable[..., object] | None = None,
    is_proved: bool = False,
) -> Verdict:
    """What goes wrong with a gradient that may be right over the reals, at generic and special points.

    NaN is a fault wherever the forward is finite, also at a kink. Infinity is one where the slopes of the forward are
    finite. At a kink any number between the two slopes is right. Inputs of -inf count where the forward takes them; for
    logarithms of probabilities (`logsumexp`, `logaddexp`) also where it returns -inf.

    Args:
        forward: a function, a `torch.autograd.Function` class, or an op of `shaped.custom_grad`.
        backward: `backward(upstream, *inputs)` for a function.
        inputs: inputs to use, needed where the parameters have no annotations.
        domain: says of inputs whether they count; all do without it.
        gradient_of: the function whose gradient is meant, if it is not that of `forward`.
        is_proved: the formula is known to be right, so that another number at an extreme input is due to the rounding
            of the forward (an exponential that vanishes).

    Returns:
        A verdict of level HAZARD or REFUTED with its point and inputs; UNSUPPORTED where nothing was found, which is no
        claim about other points.

    Raises:
        SubjectError: these are no forward and backward, or the forward takes none of the inputs.

    >>> from jaxtyping import Float
    >>> from torch import Tensor
    >>> def product(x: Float[Tensor, "n"]) -> Float[Tensor, ""]:
    ...     return x.prod()
    >>> def product_backward(grad: Float[Tensor, ""], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    ...     return (grad * x.prod() / x,)
    >>> found = float_hazards(product, product_backward)
    >>> found.level.name, found.reason
    ('HAZARD', 'the gradient of x is NaN where x is all 0')
    """
    forward, backward, gradient_of = as_pair(forward, backward, gradient_of)
    subject = Subject.of(forward, backward, gradient_of=gradient_of)
    with quiet():
        for sampler in itertools.islice(samplers(subject, inputs), _number_of_layouts(subject)):
            faults = _faults(subject, sampler, domain)
            found = next((each for each in faults if not (is_proved and _is_of_the_forward(each))), None)
            if found is not None:
                return _smaller(subject, found, domain).verdict(subject)
        for sampler in _for_precision(subject, inputs):
            for dtype in PRECISIONS:
                imprecise = next(faults_of_precision(subject, sampler, dtype, domain), None)
                if imprecise is not None:
                    return imprecise.verdict(subject)
        for sampler in () if inputs else _accepted(subject, empty_layouts(subject.signature)):
            found = next(_faults(subject, sampler, domain, is_empty=True), None)
            if found is not None:
                return found.verdict(subject)
    reason = "no hazard was found, which decides nothing about other inputs"
    return Verdict(Level.UNSUPPORTED, subject.name, reason)


def _faults(
    subject: Subject, sampler: Sampler, domain: Callable[..., bool] | None, *, is_empty: bool = False
) -> Iterator[Counterexample]:
    """The faults of one layout: of effects at generic inputs, then at every point."""
    generic = given_sample(sampler) or sampler.draw(0)
    if not is_empty:
        yield from _effects(subject, generic, domain)
    yield from faults_at_points(subject, sampler, domain, is_empty=is_empty)


def _is_of_the_forward(found: Counterexample) -> bool:
    """Whether it is another number at inputs so large that the forward may have lost what the formula has."""
    floats = [each for each in found.sample.inputs if isinstance(each, torch.Tensor) and each.is_floating_point()]
    largest = max((float(each.abs().max()) for each in floats if each.numel()), default=0.0)
    return found.fault.level is Level.REFUTED and found.fault.has_entry and largest >= _EXTREME


def _number_of_layouts(subject: Subject) -> int:
    number_of_inputs = max(1, sum(parameter.annotation is not None for parameter in subject.inputs))
    return max(_LEAST_LAYOUTS, min(_MOST_LAYOUTS, _LAYOUTS_TIMES_INPUTS // number_of_inputs))


def _effects(subject: Subject, sample: Sample, domain: Callable[..., bool] | None) -> Iterator[Counterexample]:
    outputs = finite_outputs(subject, sample.inputs)
    if outputs is None or not counts(subject, sample, domain):
        return
    upstream = draw_upstream(outputs, 0)
    for judge in (fault_of_effects, fault_of_context, fault_of_second_order):
        fault: Fault | None
        try:
            fault = judge(subject, sample.inputs, upstream)
        except SubjectError:
            raise
        except Exception:  # a backward that raises is reported at its point
            continue
        if fault is not None:
            yield Counterexample(fault, sample, upstream)


def _smaller(subject: Subject, found: Counterexample, domain: Callable[..., bool] | None) -> Counterexample:
    """The same fault at the smallest sizes that show it."""
    try:
        layouts = [layout for layout in small_layouts(subject.signature) if layout.elements < _elements(found)]
    except SubjectError:  # no annotations: the inputs are the user's
        return found
    for sampler in _accepted(subject, iter(layouts[:_MOST_SMALLER])):
        for smaller in _faults(subject, sampler, domain):
            if smaller.fault.reason == found.fault.reason and smaller.sample.point == found.sample.point:
                return smaller
    return found


def _for_precision(subject: Subject, inputs: tuple[object, ...]) -> Iterator[Sampler]:
    """One layout: others round alike."""
    if inputs:
        return samplers(subject, inputs)
    return itertools.islice(_accepted(subject, wide_layouts(subject.signature)), 1)


def _elements(found: Counterexample) -> int:
    return sum(value.numel() for value in found.sample.inputs if isinstance(value, torch.Tensor))


def _accepted(subject: Subject, layouts: Iterator[Layout]) -> Iterator[Sampler]:
    for layout in layouts:
        sampler = Sampler(subject, layout)
        if sampler.accepts:
            yield sampler
