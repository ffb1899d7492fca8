"""The loss and its gradients from one tape: recorded as the loss runs, or compiled into one graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import torch
from torch import Tensor

from shaped.trainers.losses import require_scalar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.trainers.losses import AnyList, Loss
    from shaped.trainers.trial import Learned

Gradients: TypeAlias = "Sequence[Tensor | None]"
"""For each trained parameter its gradient, None where the loss does not depend on it."""
Differentiated: TypeAlias = "tuple[Tensor, Gradients]"
"""The loss and the gradients."""


class Recorded:
    """Runs the loss on the live parameters, and back through what was recorded.

    Args:
        loss: the loss.
        params: the live parameters.
        trained: those of them that are trained.
        learned: what trying out the loss told.
    """

    def __init__(self, loss: Loss, params: AnyList, trained: Sequence[Tensor], learned: Learned) -> None:
        # What the loss does itself, without a call between.
        self.function, self.takes_nats, self.first = loss.function, loss.takes_nats, loss.first(params)
        self.trained = tuple(trained)
        self.learned = learned

    def value(self, inputs: AnyList, nats: AnyList) -> Tensor:
        """The loss, without gradients."""
        if not self.learned.needs_tape:
            with torch.no_grad():
                return self._run(inputs, nats)
        with torch.inference_mode(False), torch.enable_grad():
            return self._run(inputs, nats)

    def differentiate(self, inputs: AnyList, nats: AnyList) -> Differentiated:
        """The loss and the gradients by the trained parameters."""
        if not torch.is_grad_enabled():
            with torch.inference_mode(False), torch.enable_grad():
                return self.differentiate(inputs, nats)
        loss = self._run(inputs, nats)
        if not loss.requires_grad or not self.trained:
            return loss, [None] * len(self.trained)
        return loss, torch.autograd.grad(loss, self.trained, allow_unused=True)

    def backpropagate(self, inputs: AnyList, nats: AnyList) -> Tensor:
        """Put the gradients into the `grad` of the trained parameters, which is None before; gives the loss."""
        # What else requires a gradient would get one as well.
        is_closed = self.learned.is_closed and not any([each.requires_grad for each in inputs])  # noqa: C419  (quicker)
        if not is_closed or not torch.is_grad_enabled():
            loss, gradients = self.differentiate(inputs, nats)
            place(gradients, self.trained)
            return loss
        loss = self._run(inputs, nats)
        if loss.requires_grad:
            torch.autograd.backward(loss)
        return loss

    def _run(self, inputs: AnyList, nats: AnyList) -> Tensor:
        function = self.function
        loss = require_scalar(function(self.first, inputs, nats) if self.takes_nats else function(self.first, inputs))
        # It may be a parameter or a part of one, which a step changes.
        return loss.clone() if loss.is_leaf or loss._is_view() else loss


class Compiled:
    """The loss and the gradients as one graph that `torch.compile` makes.

    Args:
        loss: a loss that writes to nothing; all of it has to be what `torch.compile` can trace.
        params: the live parameters.
        trainable: which of them are trained.
        backend: the backend of `torch.compile`.
    """

    def __init__(self, loss: Loss, params: AnyList, trainable: Sequence[bool], backend: str) -> None:
        self.params = params
        self.trained = tuple(param for param, is_trained in zip(params, trainable) if is_trained)
        self.frozen = tuple(param for param, is_trained in zip(params, trainable) if not is_trained)

        def of_trained(
            trained: tuple[Tensor, ...], frozen: tuple[Tensor, ...], inputs: AnyList, nats: AnyList
        ) -> Tensor:
            rest, others = iter(trained), iter(frozen)
            own = [next(rest) if is_trained else next(others) for is_trained in trainable]
            return require_scalar(loss.of(own, inputs, nats))

        self._value = torch.compile(of_trained, backend=backend, fullgraph=True)
        self._both = torch.compile(torch.func.grad_and_value(of_trained), backend=backend, fullgraph=True)

    def value(self, inputs: AnyList, nats: AnyList) -> Tensor:
        """The loss, without gradients."""
        with torch.no_grad():
            return self._value(self.trained, self.frozen, inputs, nats).clone()

    def differentiate(self, inputs: AnyList, nats: AnyList) -> Differentiated:
        """The loss and the gradients by the trained parameters."""
        if not self.trained:
            return self.value(inputs, nats), []
        with torch.no_grad():  # the graph has the gradients already: nothing more is to be recorded
            gradients, loss = self._both(self.trained, self.frozen, inputs, nats)
        return loss.clone(), gradients

    def backpropagate(self, inputs: AnyList, nats: AnyList) -> Tensor:
        """Put the gradients into the `grad` of the trained parameters; gives the loss."""
        loss, gradients = self.differentiate(inputs, nats)
        place(gradients, self.trained)
        return loss


def place(gradients: Gradients, params: Sequence[Tensor]) -> None:
    """Put gradients where optimisers read them."""
    for param, gradient in zip(params, separate(gradients, params)):
        param.grad = gradient


def separate(gradients: Gradients, params: Sequence[Tensor]) -> Gradients:
    """Gradients that may be written to: each with memory of its own, laid out as its parameter.

    A tape may give one tensor as the gradient by two parameters, or one that repeats a number without storing it twice.
    """
    seen: set[int] = set()
    own: list[Tensor | None] = []
    for gradient, param in zip(gradients, params):
        if gradient is not None and gradient.layout is torch.strided:
            start = gradient.data_ptr()
            if start in seen or gradient.stride() != param.stride():
                gradient = torch.empty_like(param).copy_(gradient)
            seen.add(start)
        own.append(gradient)
    return own
