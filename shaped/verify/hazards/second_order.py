"""The gradient of a gradient, for a `torch.autograd.Function` whose backward claims to be differentiable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor

from shaped.verify.faults import Fault, number
from shaped.verify.leaves import copied, differentiable, has_gradient, leaves, pull_back
from shaped.verify.samples import draw_upstream
from shaped.verify.verdict import Level

if TYPE_CHECKING:
    from shaped.verify.subject import Inputs, Subject, Tensors

# Second derivatives lose more digits than first ones; a missing term is no matter of digits.
_RELATIVE = 1e-5


def fault_of_second_order(subject: Subject, inputs: Inputs, upstream: Tensors) -> Fault | None:
    """A backward that autograd differentiates without an error, to another result than twice through the forward."""
    if subject.function is None or not differentiable(inputs):
        return None
    try:
        true = _second_order(subject, inputs, upstream, is_reference=True)
    except Exception:  # no second derivative of the forward to compare with
        return None
    try:
        found = _second_order(subject, inputs, upstream, is_reference=False)
    except Exception:  # once_differentiable, or an operation that says that it has no derivative
        return None
    names = [*(parameter.name for parameter in subject.inputs), *[subject.upstream_name] * len(upstream)]
    for name, expected, actual in zip(names, true, found):
        if expected is None or actual is None or not expected.numel() or not bool(expected.isfinite().all()):
            continue
        scale = max(1.0, float(expected.abs().max()))
        places = (~((actual - expected).abs() <= _RELATIVE * scale)).nonzero().tolist()
        if places:
            index = tuple(places[0])
            return Fault(
                Level.HAZARD,
                f"the gradient of the gradient by {name}{list(index) or ''} is {number(expected[index]):.6g}, not "
                f"{number(actual[index]):.6g}: compute it from inputs and outputs, or mark it once_differentiable",
            )
    return None


class SecondOrderDeclined(Exception):
    """The backward is marked with once_differentiable."""


def _is_declared(gradient: Tensor) -> bool:
    """Whether autograd would raise instead of differentiating the gradient: the node of once_differentiable."""
    return gradient.grad_fn is not None and gradient.grad_fn.name().endswith("Error")


def _second_order(subject: Subject, inputs: Inputs, upstream: Tensors, *, is_reference: bool) -> Tensors:
    """The derivative of a weighted sum of all gradients, by each input, then by each upstream gradient."""
    own, weights = leaves(inputs), leaves(tuple(upstream))
    given = tuple(value if isinstance(value, Tensor) else None for value in weights)
    if is_reference:
        gradients = subject.reference(own, given, create_graph=True)
    else:
        gradients = pull_back(subject.apply(own), own, given, differentiable(own), create_graph=True)
        if any(gradient is not None and _is_declared(gradient) for gradient in gradients):
            raise SecondOrderDeclined
    variables = (*own, *weights)
    places = differentiable(variables)
    shapes_of = tuple(value if has_gradient(value) else None for value in copied(own))
    return pull_back(gradients, variables, draw_upstream(shapes_of, 2), places, zeros=True)
