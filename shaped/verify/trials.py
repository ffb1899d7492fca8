"""What every search for a fault shares: the layouts that the forward takes, and whether a sample counts."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.constants import constants
from shaped.verify.layouts import given_layout, layouts, more_layouts
from shaped.verify.samples import Sample, Sampler, all_finite
from shaped.verify.subject import SubjectError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shaped.verify.subject import Inputs, Subject

_MOST_LAYOUTS = 18
_DRAWS = 5  # of one layout, until one lies in the domain
_ENOUGH_SEARCHED = 3  # accepted layouts, where all the usual ones are refused


def samplers(subject: Subject, inputs: Inputs = ()) -> Iterator[Sampler]:
    """One for each layout that the forward accepts; for the layout of `inputs` alone where they are given.

    Raises:
        SubjectError: it accepts none.
    """
    if inputs:
        yield Sampler(subject, given_layout(subject.signature, inputs))
        return
    problem, count = "", 0
    usual = list(itertools.islice(layouts(subject.signature, constants(subject.functions)), _MOST_LAYOUTS))
    for source, most in ((usual, len(usual)), (more_layouts(subject.signature), _ENOUGH_SEARCHED)):
        for layout in source:
            sampler = Sampler(subject, layout)
            problem = sampler.problem or problem
            if sampler.accepts:
                yield sampler
                count += 1
            if count >= most:
                return
        if count:
            return
    raise SubjectError(f"{subject.name} takes none of the inputs that its annotations describe: {problem}")


def generic_samples(subject: Subject, count: int = 3, *, domain: Callable[..., bool] | None = None) -> Iterator[Sample]:
    """Generic inputs in float64 of `count` layouts, those first in which different dims have different sizes.

    Raises:
        SubjectError: the forward takes none of the inputs that its annotations describe.
    """
    found = 0
    for sampler in samplers(subject):
        drawn = (sampler.draw(number) for number in range(_DRAWS))
        sample = next((one for one in drawn if counts(subject, one, domain) and sampler.is_finite(one.inputs)), None)
        if sample is not None:
            yield sample
            found += 1
        if found == count:
            return


def given_sample(sampler: Sampler) -> Sample | None:
    """The inputs that the user gave, with floats in float64; None if they are drawn."""
    values = tuple(slot.value for slot in sampler.layout.slots)
    if any(slot.kind and slot.value is None for slot in sampler.layout.slots):
        return None
    return Sample(in_dtype(values, torch.float64), sampler.layout.sizes)


def counts(subject: Subject, sample: Sample, domain: Callable[..., bool] | None) -> bool:
    """Whether a sample lies in the domain.

    Raises:
        SubjectError: the domain is no predicate over the inputs.
    """
    if domain is None:
        return True
    try:
        return bool(domain(*sample.inputs))
    except Exception as problem:  # whatever the user's predicate raises
        names = ", ".join(parameter.name for parameter in subject.inputs)
        raise SubjectError(
            f"the domain of {subject.name} raises {type(problem).__name__}: {problem}: "
            f"write a predicate over its inputs, lambda {names}: ..."
        ) from None


def outputs_at(subject: Subject, inputs: Inputs) -> tuple[object, ...] | None:
    """The outputs of the forward, None if it refuses the inputs."""
    try:
        return subject.outputs(inputs)
    except Exception:  # whatever the user's forward raises for inputs that it does not take
        return None


def finite_outputs(subject: Subject, inputs: Inputs) -> tuple[object, ...] | None:
    """The outputs of the forward, None if it refuses the inputs or some output is not finite."""
    outputs = outputs_at(subject, inputs)
    return outputs if outputs is not None and all_finite(outputs) else None


_COMPLEX = {torch.float64: torch.complex128, torch.float16: torch.complex32}


def in_dtype(values: tuple[object, ...], dtype: torch.dtype) -> tuple[object, ...]:
    """The values with their floats, and the parts of their complex numbers, in another precision."""

    def converted(value: object) -> object:
        if not isinstance(value, Tensor):
            return value
        if value.is_complex():
            return value.to(_COMPLEX.get(dtype, torch.complex64))
        return value.to(dtype) if value.is_floating_point() else value

    return tuple(map(converted, values))


def tensors_in_dtype(values: tuple[Tensor | None, ...], dtype: torch.dtype) -> tuple[Tensor | None, ...]:
    """The same for upstream gradients."""
    return tuple(value if isinstance(value, Tensor) else None for value in in_dtype(values, dtype))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings of the user's code; leaves torch's random state as it was."""
    state = torch.get_rng_state()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            torch.set_rng_state(state)
