"""What a backward returned, before its numbers are looked at: as many gradients as inputs, each like its input.

Autograd sums a gradient of another shape and converts one of another dtype, silently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.runtime.tensor_types import dtype_name
from shaped.verify.faults import Fault
from shaped.verify.leaves import has_gradient
from shaped.verify.verdict import Level

if TYPE_CHECKING:
    from shaped.verify.subject import Inputs, Outcome, Subject


def fault_of_form(subject: Subject, inputs: Inputs, outcome: Outcome) -> Fault | None:
    """The number, shapes, dtypes and devices of the gradients."""
    returned = list(outcome.returned)
    while len(returned) > len(inputs) and returned[-1] is None:  # torch allows these
        returned.pop()
    count = len(returned)
    places = subject.places_of_gradients(count, inputs)
    if places is None:
        inputs_are = "1 input" if len(inputs) == 1 else f"{len(inputs)} inputs"
        gradients = "1 gradient" if count == 1 else f"{count} gradients"
        return Fault(Level.REFUTED, f"the backward returns {gradients} for {inputs_are}: one for each is wanted")
    for place, gradient in zip(places, returned):
        fault = _form(subject.inputs[place].name, inputs[place], gradient)
        if fault is not None:
            return fault
    return None


def _form(name: str, value: object, gradient: object) -> Fault | None:
    if gradient is None or not isinstance(value, Tensor) or not has_gradient(value):
        return None
    if not isinstance(gradient, Tensor):
        return Fault(Level.REFUTED, f"the gradient of {name} is a {type(gradient).__name__}, not a tensor", name)
    if gradient.shape != value.shape:
        summed = torch.Size(gradient.shape[-value.ndim :] if value.ndim else ()) == value.shape
        reason = f"the gradient of {name} has shape {_shape(gradient)}, {name} has {_shape(value)}"
        return Fault(Level.REFUTED, f"{reason}{': autograd sums it silently' if summed else ''}", name)
    if gradient.device != value.device:
        return Fault(
            Level.REFUTED, f"the gradient of {name} is on {gradient.device}, {name} is on {value.device}", name
        )
    if not has_gradient(gradient) or (gradient.is_complex() and not value.is_complex()):
        return Fault(Level.REFUTED, f"the gradient of {name} is {_dtype(gradient)}, {name} is {_dtype(value)}", name)
    if torch.finfo(gradient.dtype).eps > torch.finfo(value.dtype).eps:
        reason = f"the gradient of {name} is {_dtype(gradient)}, which has fewer digits than {name}, {_dtype(value)}"
        return Fault(Level.HAZARD, reason, name)
    return None


def _shape(tensor: Tensor) -> str:
    return str(tuple(tensor.shape))


def _dtype(tensor: Tensor) -> str:
    return dtype_name(tensor.dtype)
