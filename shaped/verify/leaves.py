"""Tensors as the leaves of autograd's graph: which inputs have a gradient, and how one is pulled back to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    Inputs = tuple[object, ...]
    Tensors = tuple[Tensor | None, ...]


def pull_back(
    outputs: tuple[object, ...],
    inputs: Inputs,
    upstream: Tensors,
    places: tuple[int, ...],
    *,
    create_graph: bool = False,
    retain_graph: bool = False,
    zeros: bool = False,
) -> Tensors:
    """`torch.autograd.grad` for each input at `places`, None for the others.

    Args:
        outputs: what was computed from the inputs.
        inputs: the values that it was computed from.
        upstream: a weight for each output; one of None leaves its output out.
        places: the inputs to differentiate by, which require a gradient.
        create_graph: the gradients are to be differentiated again.
        retain_graph: there will be another pull back through the graph.
        zeros: zeros instead of None for inputs that nothing depends on.
    """
    used = [
        (output, weight)
        for output, weight in zip(outputs, upstream)
        if isinstance(output, Tensor) and weight is not None and output.requires_grad
    ]
    targets: list[Any] = [inputs[i] for i in places]
    found: tuple[Tensor | None, ...] = (None,) * len(targets)
    if used and targets:
        found = torch.autograd.grad(
            [output for output, _ in used],
            targets,
            [weight for _, weight in used],
            allow_unused=True,
            create_graph=create_graph,
            retain_graph=create_graph or retain_graph,
        )
    gradients: list[Tensor | None] = [None] * len(inputs)
    for i, target, gradient in zip(places, targets, found):
        gradients[i] = torch.zeros_like(target) if gradient is None and zeros else gradient
    return tuple(gradients)


def copied(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copies of the tensors, without a graph."""
    return tuple(value.detach().clone() if isinstance(value, Tensor) else value for value in values)


def leaves(inputs: Inputs, places: tuple[int, ...] | None = None) -> tuple[Any, ...]:
    """Copies of the inputs; autograd can differentiate by those at `places`, all floats by default."""
    own = copied(inputs)
    for i in differentiable(own) if places is None else places:
        own[i].requires_grad_()
    return own


def differentiable(inputs: Inputs) -> tuple[int, ...]:
    """The places of the inputs that have a gradient."""
    return tuple(i for i, value in enumerate(inputs) if has_gradient(value))


def has_gradient(value: object) -> bool:
    """Whether a value is a tensor of floats or complex numbers."""
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())
