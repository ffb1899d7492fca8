"""The body of a `torch.autograd.Function` as plain torch code, and what its backward is handed and gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable


class RecordingContext:
    """Stands for the `ctx` of a forward that runs as plain code: it takes what a forward stores and does nothing."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_tensors: tuple[Tensor | None, ...] = ()
        self.writes_to_inputs = False

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep the tensors."""
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Tensors for forward mode, which is not looked at."""

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Inputs that the forward changes, and says so."""
        self.writes_to_inputs = True

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Outputs without a gradient: integers, as a rule."""

    def set_materialize_grads(self, value: bool) -> None:
        """Whether a backward gets zeros for outputs that are not used."""


def has_setup_context(function: type[torch.autograd.Function]) -> bool:
    """Whether its forward takes no `ctx`, which `setup_context` gets instead."""
    return function.setup_context is not torch.autograd.Function.setup_context


def backward_name(function: type[torch.autograd.Function]) -> str:
    """The method that is its backward: `backward`, or `vjp`, torch's other name for it."""
    return "vjp" if function.vjp is not torch.autograd.Function.vjp else "backward"


def run_body(function: type[torch.autograd.Function], inputs: tuple[object, ...]) -> object:
    """The forward as plain torch code, so that autograd differentiates what it computes and not what is declared."""
    if has_setup_context(function):
        return function.forward(*inputs)
    return function.forward(_recording_context(inputs), *inputs)


def writes_to_inputs(function: type[torch.autograd.Function], inputs: tuple[object, ...]) -> bool:
    """Whether the forward tells autograd that it changes inputs (`mark_dirty`)."""
    context = _recording_context(inputs)
    if has_setup_context(function):
        function.setup_context(context, inputs, function.forward(*inputs))
    else:
        function.forward(context, *inputs)
    return context.writes_to_inputs


def _recording_context(inputs: tuple[object, ...]) -> RecordingContext:
    return RecordingContext(tuple(isinstance(value, Tensor) and value.requires_grad for value in inputs))


@dataclass
class Handed:
    """What one call of a backward was handed and gave back.

    Args:
        returned: the gradients as it returned them, before autograd sums or converts them.
        changed: what it wrote to: `upstream`, or `a saved tensor`.
        calls: how often it ran.
    """

    returned: tuple[object, ...] = ()
    changed: tuple[str, ...] = ()
    calls: int = 0


@dataclass
class Watched:
    """A `torch.autograd.Function` whose backward is watched: `apply` as the user calls it."""

    function: type[torch.autograd.Function]
    handed: Handed = field(default_factory=Handed)

    def apply(self, *inputs: object) -> object:
        """Call it; `handed` tells of each later backward."""
        call: Callable[..., object] = self._subclass().apply
        return call(*inputs)

    def _subclass(self) -> type[torch.autograd.Function]:
        original, handed, name = self.function, self.handed, backward_name(self.function)
        backward = getattr(original, name)

        def watched(ctx: Any, *upstream: Any) -> Any:
            saved = _saved_tensors(ctx)
            before = [_copy(value) for value in upstream]
            saved_before = [_copy(value) for value in saved]
            returned = backward(ctx, *upstream)
            handed.returned = returned if isinstance(returned, tuple) else (returned,)
            changed = []
            if any(not same(value, copy) for value, copy in zip(upstream, before)):
                changed.append("upstream")
            if any(not same(value, copy) for value, copy in zip(saved, saved_before)):
                changed.append("a saved tensor")
            handed.changed = tuple(changed)
            handed.calls += 1
            return returned

        return type(original.__name__, (original,), {name: staticmethod(watched)})


def _saved_tensors(ctx: Any) -> tuple[Tensor, ...]:
    try:
        return tuple(value for value in ctx.saved_tensors if isinstance(value, Tensor))
    except RuntimeError:  # written to since: torch says so again to the backward
        return ()


def _copy(value: object) -> object:
    return value.detach().clone() if isinstance(value, Tensor) else value


def same(a: object, b: object) -> bool:
    """Whether two values are equal bit by bit, NaN to NaN."""
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return a is b or type(a) is type(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    a, b = a.detach(), b.detach()
    if torch.equal(a, b):
        return True
    return bool(((a == b) | ((a != a) & (b != b))).all())
