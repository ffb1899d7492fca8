"""The loss and its gradients from one tape: recorded as the loss runs, or compiled into one graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.trainers.losses import require_scalar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.trainers.losses import AnyList, Loss

Differentiated = tuple[Tensor, "Sequence[Tensor | None]"]
"""The loss, and for each trained parameter its gradient, None where the loss does not depend on it."""


class Recorded:
    """Runs the loss on the live parameters, and back through what was recorded.

    Args:
        loss: the loss.
        params: the live parameters.
        trained: those of them that are trained.
        needs_tape: the loss takes gradients itself, so that it has to be recorded for its value too.
    """

    def __init__(self, loss: Loss, params: AnyList, trained: Sequence[Tensor], *, needs_tape: bool) -> None:
        self.loss = loss
        self.params = params
        self.trained = tuple(trained)
        self.needs_tape = needs_tape

    def value(self, inputs: AnyList, nats: AnyList) -> Tensor:
        """The loss, without gradients."""
        if not self.needs_tape:
            with torch.no_grad():
                return _number(require_scalar(self.loss(self.params, inputs, nats)))
        with torch.inference_mode(False), torch.enable_grad():
            return _number(require_scalar(self.loss(self.params, inputs, nats)))

    def differentiate(self, inputs: AnyList, nats: AnyList) -> Differentiated:
        """The loss and the gradients by the trained parameters."""
        if not torch.is_grad_enabled():
            with torch.inference_mode(False), torch.enable_grad():
                return self.differentiate(inputs, nats)
        loss = self.loss(self.params, inputs, nats)
        if not isinstance(loss, Tensor) or loss.ndim:
            require_scalar(loss)
        if not loss.requires_grad or not self.trained:
            return _number(loss), [None] * len(self.trained)
        return _number(loss), torch.autograd.grad(loss, self.trained, allow_unused=True)


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
            return _number(self._value(self.trained, self.frozen, inputs, nats))

    def differentiate(self, inputs: AnyList, nats: AnyList) -> Differentiated:
        """The loss and the gradients by the trained parameters."""
        if not self.trained:
            return self.value(inputs, nats), []
        with torch.no_grad():  # the graph has the gradients already: nothing more is to be recorded
            gradients, loss = self._both(self.trained, self.frozen, inputs, nats)
        return _number(loss), gradients


def _number(loss: Tensor) -> Tensor:
    """The loss as a number of its own: it may be a parameter or a part of one, which steps change."""
    return loss.detach().clone() if loss.is_leaf or loss._is_view() else loss.detach()
