"""What a backward does beside returning gradients: it writes in place, or depends on more than its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.faults import Fault
from shaped.verify.recording import same
from shaped.verify.verdict import Level

if TYPE_CHECKING:
    from shaped.verify.subject import Inputs, Subject, Tensors


def fault_of_effects(subject: Subject, inputs: Inputs, upstream: Tensors) -> Fault | None:
    """Writes to what belongs to others, and gradients that change from run to run or with the layout in memory."""
    outcome = subject.run(inputs, upstream)
    if outcome.changed:
        return Fault(Level.HAZARD, f"{outcome.changed[0]} is written to in place")
    again = subject.run(inputs, upstream)
    for parameter, a, b in zip(subject.inputs, outcome.gradients, again.gradients):
        if not same(a, b):
            return Fault(Level.HAZARD, f"the gradient of {parameter.name} is another one when it is run again")
    try:
        found = subject.run(inputs, tuple(map(_transposed_in_memory, upstream))).gradients
    except Exception:  # `view` refuses it loudly
        return None
    name = differing(subject, outcome.gradients, found)
    if name:
        return Fault(Level.HAZARD, f"the gradient of {name} is wrong if the upstream gradient is not contiguous")
    return None


def _transposed_in_memory(value: Tensor | None) -> Tensor | None:
    """The same numbers with the last axis outermost in memory, as a transpose in the caller leaves them."""
    if value is None or value.ndim < 2:
        return value
    return value.movedim(-1, 0).contiguous().movedim(0, -1)


def differing(subject: Subject, gradients: Tensors, others: Tensors) -> str:
    """The first input whose gradients are not the same but for rounding, empty if there is none."""
    for parameter, a, b in zip(subject.inputs, gradients, others):
        if not isinstance(a, Tensor) or not isinstance(b, Tensor):
            continue
        # Sums in another order differ by rounding only: far less than what is wrong in truth.
        if a.shape != b.shape or not torch.allclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True):
            return parameter.name
    return ""
