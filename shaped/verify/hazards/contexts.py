"""How a `torch.autograd.Function` uses its `ctx`: state elsewhere, `needs_input_grad`, outputs that are not used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.comparison import fault_of_values
from shaped.verify.faults import Fault
from shaped.verify.hazards.effects import differing
from shaped.verify.leaves import differentiable, leaves, pull_back
from shaped.verify.subject import Outcome
from shaped.verify.verdict import Level

if TYPE_CHECKING:
    from shaped.verify.subject import Inputs, Subject, Tensors


def fault_of_context(subject: Subject, inputs: Inputs, upstream: Tensors) -> Fault | None:
    """What goes wrong when an autograd.Function is used as a program uses it, not once with everything wanted."""
    if subject.function is None:
        return None
    gradients = subject.run(inputs, upstream).gradients
    return (
        _fault_of_a_second_backward(subject, inputs, upstream, gradients)
        or _fault_of_state(subject, inputs, upstream, gradients)
        or _fault_of_a_written_input(subject, inputs, upstream, gradients)
        or _fault_of_one_wanted(subject, inputs, upstream, gradients)
        or _fault_of_one_used(subject, inputs, upstream)
    )


def _fault_of_a_second_backward(
    subject: Subject, inputs: Inputs, upstream: Tensors, gradients: Tensors
) -> Fault | None:
    """Two backwards through one graph (`retain_graph`), where the first one changes what was kept."""
    own = leaves(inputs)
    outputs = subject.apply(own)
    found = gradients
    for _ in range(2):
        try:
            found = pull_back(outputs, own, upstream, differentiable(own), retain_graph=True)
        except Exception:  # torch says so itself
            return None
    name = differing(subject, gradients, found)
    if name:
        return Fault(
            Level.HAZARD, f"the gradient of {name} is wrong in a second backward: what ctx keeps is written to"
        )
    return None


def _fault_of_state(subject: Subject, inputs: Inputs, upstream: Tensors, gradients: Tensors) -> Fault | None:
    """Two calls, and the backward of the first after the forward of the second."""
    for factor in (-1, 0.5):
        own = leaves(inputs)
        outputs = subject.apply(own)
        other = leaves(inputs)
        with torch.no_grad():
            for i in differentiable(other):
                other[i].mul_(factor)
        try:
            subject.apply(other)
        except Exception:  # the forward does not take the other inputs
            continue
        try:
            found = pull_back(outputs, own, upstream, differentiable(own))
        except Exception as problem:  # whatever the user's code raises
            return Fault(Level.HAZARD, f"the backward raises {_text(problem)} after another forward")
        name = differing(subject, gradients, found)
        if name:
            reason = f"the gradient of {name} is wrong after another forward: keep state on ctx alone"
            return Fault(Level.HAZARD, reason)
    return None


def _fault_of_a_written_input(subject: Subject, inputs: Inputs, upstream: Tensors, gradients: Tensors) -> Fault | None:
    """An input that the program changes before the backward: torch refuses that for saved tensors only."""
    for place in differentiable(inputs):
        own = leaves(inputs)
        passed = tuple(value.clone() if isinstance(value, Tensor) else value for value in own)
        outputs = subject.apply(passed, copies=False)
        changed = passed[place]
        if not isinstance(changed, Tensor) or any(_shares_memory(changed, output) for output in outputs):
            continue
        try:
            with torch.no_grad():
                changed.mul_(0.5)
            found = pull_back(outputs, own, upstream, differentiable(own))
        except Exception:  # torch says that a saved tensor was changed
            continue
        if differing(subject, gradients, found):
            name = subject.inputs[place].name
            reason = (
                f"{name} is kept on ctx without save_for_backward: if it is changed in place, the gradient is wrong"
            )
            return Fault(Level.HAZARD, reason)
    return None


def _shares_memory(tensor: Tensor, other: object) -> bool:
    return isinstance(other, Tensor) and tensor.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


def _fault_of_one_wanted(subject: Subject, inputs: Inputs, upstream: Tensors, gradients: Tensors) -> Fault | None:
    """The gradient of one input alone, as for frozen weights: `needs_input_grad` is False for the others."""
    places = differentiable(inputs)
    for place in places if len(places) > 1 else ():
        name = subject.inputs[place].name
        own = leaves(inputs, (place,))
        try:
            found = pull_back(subject.apply(own), own, upstream, (place,))[place]
        except Exception as problem:  # whatever the user's code raises
            return Fault(Level.HAZARD, f"the backward raises {_text(problem)} if only {name} needs a gradient")
        wanted = gradients[place]
        given = torch.zeros_like(wanted) if found is None and wanted is not None else found
        alone = tuple(given if i == place else None for i in range(len(inputs)))
        if differing(subject, gradients, alone):
            return Fault(Level.HAZARD, f"the gradient of {name} is wrong if only {name} needs a gradient")
    return None


def _fault_of_one_used(subject: Subject, inputs: Inputs, upstream: Tensors) -> Fault | None:
    """A loss that depends on one of several outputs."""
    if len(upstream) < 2:
        return None
    for i, weight in enumerate(upstream):
        if weight is None:
            continue
        alone = tuple(value if j == i else None for j, value in enumerate(upstream))
        own = leaves(inputs)
        try:
            outputs = subject.apply(own)
            gradients = pull_back(outputs, own, alone, differentiable(own))
        except Exception as problem:  # whatever the user's code raises
            return Fault(Level.HAZARD, f"the backward raises {_text(problem)} if only output {i} is used")
        fault = fault_of_values(subject, inputs, alone, Outcome(outputs, gradients, gradients))
        if fault is not None:
            reason = f"{fault.reason} if only output {i} is used"
            return Fault(fault.level, reason, fault.gradient, fault.index, fault.expected, fault.actual)
    return None


def _text(problem: Exception) -> str:
    return f"{type(problem).__name__}: {str(problem).strip().partition(chr(10))[0]}"
