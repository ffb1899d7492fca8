"""Faults at special points in float64: NaN and infinity where the true gradient is neither, and wrong numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.comparison import reference
from shaped.verify.constants import constants, takes_logarithms
from shaped.verify.faults import Counterexample, Fault, is_nan, number
from shaped.verify.leaves import differentiable, has_gradient
from shaped.verify.refutation import fault_at
from shaped.verify.samples import Sample, all_finite, draw_upstream
from shaped.verify.special_points import all_infinite, float_points, infinite_points, integer_points, joint_points
from shaped.verify.trials import counts, finite_outputs, given_sample, outputs_at
from shaped.verify.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shaped.verify.samples import Sampler
    from shaped.verify.subject import Inputs, Subject, Tensors

_NEIGHBOURS, _NEAR = 6, 1e-6


def faults_at_points(
    subject: Subject, sampler: Sampler, domain: Callable[..., bool] | None, *, is_empty: bool = False
) -> Iterator[Counterexample]:
    """The faults at the points of one layout that count.

    Args:
        subject: forward and backward.
        sampler: draws inputs of the layout.
        domain: says of inputs whether they count.
        is_empty: an input has no entries; a backward that raises there is loud.
    """
    for sample in special_samples(subject, sampler, torch.float64):
        outputs = finite_outputs(subject, sample.inputs) if counts(subject, sample, domain) else None
        if outputs is None:
            continue
        for upstream, name in upstreams(outputs, sample):
            fault = fault_at(subject, sample.inputs, upstream, is_special=bool(name) or is_empty)
            if fault is not None:
                yield Counterexample(fault, Sample(sample.inputs, sample.sizes, name), upstream)
    for sample in () if is_empty else log_domain_samples(subject, sampler):
        fault_there = _fault_in_the_log_domain(subject, sample) if counts(subject, sample, domain) else None
        if fault_there is not None:
            yield fault_there


def special_samples(subject: Subject, sampler: Sampler, dtype: torch.dtype) -> Iterator[Sample]:
    """The inputs of the user, generic ones, then each special value of each input with generic values of the others."""
    sizes = sampler.layout.sizes
    given = given_sample(sampler)
    if given is not None:
        yield given
    yield sampler.draw(0)
    mentioned = constants(subject.functions)
    yield from integer_points(sampler, mentioned)
    # Two draws of one other input cost as much as one of two: a sign of it may matter.
    draws = 2 if sum(slot.kind is not None for slot in sampler.layout.slots) == 2 else 1
    for i, (name, value) in float_points(sampler, mentioned, dtype):
        for inputs in with_companions(sampler, i, value, draws):
            yield Sample(inputs, sizes, name)
    for sample in joint_points(sampler):
        if _is_inside(sampler, sample.inputs):
            yield sample


def _is_inside(sampler: Sampler, inputs: Inputs) -> bool:
    """Whether the forward is finite all around: 0**0 at the end of what x**y takes is a convention, no point of it."""
    generator = torch.Generator().manual_seed(2)
    neighbours = (
        tuple(
            value + _NEAR * torch.randn(value.shape, generator=generator, dtype=value.dtype)
            if isinstance(value, Tensor) and has_gradient(value)
            else value
            for value in inputs
        )
        for _ in range(_NEIGHBOURS)
    )
    return all(map(sampler.is_finite, neighbours))


def with_companions(sampler: Sampler, place: int, value: Tensor, draws: int = 1) -> Iterator[Inputs]:
    """The special value with other inputs so that the forward is finite, if there are such."""
    for number_of_draw in range(draws):
        for companions in sampler.companions(number_of_draw + 1):
            companions[place] = value
            if sampler.is_finite(tuple(companions)):
                yield tuple(companions)
                break


def upstreams(outputs: tuple[object, ...], sample: Sample) -> Iterator[tuple[Tensors, str]]:
    """Upstream gradients with the name of the point: a generic one; at generic inputs zeros as well.

    Of several outputs often only one is used: the upstream gradients of the others are zeros then.
    """
    drawn = draw_upstream(outputs, 1)
    yield drawn, sample.point
    if not sample.point:
        yield tuple(None if value is None else torch.zeros_like(value) for value in drawn), "the upstream is all 0"
        if any(value is not None and value.numel() > 1 for value in drawn):
            yield tuple(map(_with_one_zero, drawn)), "the upstream has one entry 0"
        places = [i for i, value in enumerate(drawn) if value is not None]
        for i in places if len(places) > 1 else ():
            unused = (value if value is None or i != j else torch.zeros_like(value) for j, value in enumerate(drawn))
            yield tuple(unused), f"the upstream of output {i} is all 0"


def _with_one_zero(value: Tensor | None) -> Tensor | None:
    if value is None or not value.numel():
        return value
    changed = value.clone()
    changed.view(-1)[0] = 0
    return changed


def log_domain_samples(subject: Subject, sampler: Sampler) -> Iterator[Sample]:
    """Points with entries -inf, as masked logits and logarithms of 0 have them.

    A class of points (one entry, one row, all) counts only if the forward takes every one of them, that is if all
    outputs are finite; where the code computes with logarithms of probabilities, outputs -inf are regular as well. So
    are they at inputs that the user gave.
    """
    given = given_sample(sampler)
    if given is not None and not all_finite(given.inputs) and _takes(subject, given.inputs, True):
        yield given
    is_log = takes_logarithms(subject.functions)
    if is_log:
        yield from (sample for sample in all_infinite(sampler) if _takes(subject, sample.inputs, is_log))
    for i, points in infinite_points(sampler):
        is_log_of = is_log and not _is_linear(subject, sampler, i)
        samples = []
        for number_of_draw, (name, value) in enumerate(points):
            values = list(sampler.draw(number_of_draw + 1).inputs)
            values[i] = value
            samples.append(Sample(tuple(values), sampler.layout.sizes, name))
        if all(_takes(subject, sample.inputs, is_log_of) for sample in samples):
            yield from (sample for sample in samples if is_log_of or _has_gradients(subject, sample.inputs))


def _is_linear(subject: Subject, sampler: Sampler, place: int) -> bool:
    """Whether the outputs are linear in an input, as in the values of attention: then it is no logarithm."""
    first, second = sampler.draw(1).inputs, sampler.draw(2).inputs[place]
    one = first[place]
    assert isinstance(one, Tensor)
    assert isinstance(second, Tensor)
    found = [
        outputs_at(subject, (*first[:place], value, *first[place + 1 :])) for value in (one, second, (one + second) / 2)
    ]
    if any(outputs is None for outputs in found):
        return False
    triples = zip(*(outputs for outputs in found if outputs is not None))
    return all(
        torch.allclose((start + end) / 2, middle, equal_nan=True)
        for start, end, middle in triples
        if isinstance(start, Tensor) and isinstance(end, Tensor) and isinstance(middle, Tensor)
    )


def _takes(subject: Subject, inputs: Inputs, is_log: bool) -> bool:
    outputs = outputs_at(subject, inputs)
    if outputs is None:
        return False
    tensors = [output for output in outputs if isinstance(output, Tensor)]
    return all(
        bool((output.isfinite() | ((output < 0) & is_log)).all()) for output in tensors if not output.is_complex()
    )


def _has_gradients(subject: Subject, inputs: Inputs) -> bool:
    """Whether autograd finds gradients that are numbers."""
    gradients = reference(subject, inputs, draw_upstream(subject.outputs(inputs), 1))
    return all(gradient is None or not bool(gradient.isnan().any()) for gradient in gradients)


def _fault_in_the_log_domain(subject: Subject, sample: Sample) -> Counterexample | None:
    """A NaN gradient; numbers are not compared, as there are no difference quotients at -inf."""
    outputs = outputs_at(subject, sample.inputs)
    if outputs is None:
        return None
    upstream = draw_upstream(outputs, 1)
    try:
        gradients = subject.run(sample.inputs, upstream).gradients
    except Exception:  # loud at a special point
        return None
    for place in differentiable(sample.inputs):
        gradient = gradients[place]
        bad = [] if gradient is None else gradient.isnan().nonzero().tolist()
        if gradient is None or not bad:
            continue
        index = tuple(bad[0])
        name = subject.inputs[place].name
        found = number(gradient[index])
        assert is_nan(found)
        fault = Fault(Level.HAZARD, f"the gradient of {name} is NaN", name, index, None, found)
        return Counterexample(fault, sample, upstream)
    return None
