"""The op for eager code: an autograd Function, which costs half of what a call through torch's dispatcher does."""

from __future__ import annotations

from typing import Any

import torch

from shaped.runtime.custom_grad import autocast
from shaped.runtime.custom_grad.definition import Definition
from shaped.runtime.custom_grad.layout import Layout
from shaped.runtime.custom_grad.saved import restored, save

AnyFunction = type[torch.autograd.Function]


def eager_function(definition: Definition) -> AnyFunction:
    """The Function for ordinary calls: `apply(layout, *row)`."""

    def forward(ctx: Any, layout: Layout, *flat: Any) -> Any:
        result = definition.run(layout, flat)
        save(ctx, layout, flat, definition.kept, autocast.current(flat) if autocast.is_any() else None)
        return result

    members = {"forward": staticmethod(forward), "backward": staticmethod(_backward_of(definition))}
    return type(definition.name, (torch.autograd.Function,), members)


def functorch_function(definition: Definition) -> AnyFunction:
    """The Function for `torch.func` (`vmap`, `grad`, `jacrev`), which wants the context set up apart."""

    def forward(layout: Layout, *flat: Any) -> Any:
        return definition.run(layout, flat)

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        layout, *flat = inputs
        save(ctx, layout, flat, definition.kept, autocast.current(flat) if autocast.is_any() else None)

    members = {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(setup_context),
        "backward": staticmethod(_backward_of(definition)),
        "generate_vmap_rule": True,
    }
    return type(definition.name, (torch.autograd.Function,), members)


def _backward_of(definition: Definition) -> Any:
    def backward(ctx: Any, *upstream: Any) -> Any:
        saved = ctx.saved
        gradients = definition.pull_back(saved.layout, restored(ctx), ctx.needs_input_grad[1:], upstream, saved.state)
        return (None, *gradients)

    return backward
