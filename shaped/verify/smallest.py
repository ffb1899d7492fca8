"""The smallest counterexample: the smallest sizes at which a fault shows, then the simplest numbers."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.layouts import shortened_layouts, small_layouts
from shaped.verify.leaves import has_gradient
from shaped.verify.samples import Sampler
from shaped.verify.special_points import integer_points
from shaped.verify.subject import SubjectError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from shaped.verify.faults import Counterexample
    from shaped.verify.layouts import Layout
    from shaped.verify.samples import Sample
    from shaped.verify.subject import Subject, Tensors

_SIMPLE = (1.0, 2.0, -1.0, 3.0, -2.0, 0.5)
_MOST_LAYOUTS = 24
_MOST_ENTRIES = 12  # numbers that are made simpler one by one
_DRAWS = 2


def smallest(
    subject: Subject,
    found: Counterexample,
    judge: Callable[[Sample, Tensors | None], Counterexample | None],
) -> Counterexample:
    """A counterexample like `found` that is as easy to read as possible; `found` itself if there is no smaller one.

    Args:
        subject: forward and backward.
        found: the first counterexample.
        judge: the fault at a sample with an upstream gradient (one is drawn for None), None if there is none.
    """
    for sample in _at_small_sizes(subject, found.sample):
        smaller = judge(sample, None)
        if smaller is not None:
            found = smaller
            break
    return _with_simple_numbers(found, judge)


def _at_small_sizes(subject: Subject, sample: Sample) -> Iterator[Sample]:
    elements = sum(value.numel() for value in sample.inputs if isinstance(value, Tensor))
    for layout in _smaller(subject, sample.sizes, elements):
        sampler = Sampler(subject, layout)
        if sampler.accepts:
            yield from (sampler.draw(number) for number in range(_DRAWS))
            if sample.point:
                yield from integer_points(sampler, ())


def _smaller(subject: Subject, sizes: Mapping[str, int], elements: int) -> Iterator[Layout]:
    signature = subject.signature
    try:
        for layout in (
            *itertools.islice(small_layouts(signature), _MOST_LAYOUTS),
            *shortened_layouts(signature, sizes),
        ):
            if layout.elements < elements:
                yield layout
    except SubjectError:  # no annotations: the inputs are the user's
        return


def _with_simple_numbers(
    found: Counterexample, judge: Callable[[Sample, Tensors | None], Counterexample | None]
) -> Counterexample:
    """The same counterexample with as many entries as possible from `_SIMPLE`, the upstream gradient first."""
    places = [*range(len(found.upstream), len(found.upstream) + len(found.sample.inputs)), *range(len(found.upstream))]
    entries = 0
    for place in reversed(places):
        value = (*found.upstream, *found.sample.inputs)[place]
        if not isinstance(value, Tensor) or not has_gradient(value):
            continue
        for position in range(value.numel()):
            entries += 1
            if entries > _MOST_ENTRIES:
                return found
            found = _with_simple_entry(found, place, position, judge)
    return found


def _with_simple_entry(
    found: Counterexample,
    place: int,
    position: int,
    judge: Callable[[Sample, Tensors | None], Counterexample | None],
) -> Counterexample:
    for simple in _SIMPLE:
        values = [*found.upstream, *found.sample.inputs]
        value = values[place]
        assert isinstance(value, Tensor)
        changed = value.clone(memory_format=torch.contiguous_format)
        changed.view(-1)[position] = simple
        if torch.equal(changed, value):
            return found
        values[place] = changed
        upstream = tuple(v if isinstance(v, Tensor) else None for v in values[: len(found.upstream)])
        simpler = judge(replace(found.sample, inputs=tuple(values[len(found.upstream) :])), upstream)
        if simpler is not None:
            return simpler
    return found
