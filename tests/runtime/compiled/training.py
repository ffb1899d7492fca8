"""Training side by side: compiled on one model, by hand on its twin."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from shaped.runtime import CompiledStep, compile_step

MakesOptimizer = Callable[[Any], Optimizer]


def perceptron(*sizes: int) -> nn.Sequential:
    """Linear layers with ReLU between them; the same weights at each call."""
    torch.manual_seed(0)
    layers: list[nn.Module] = []
    for size, wider in pairwise(sizes):
        layers += [nn.Linear(size, wider), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Twins:
    """A model with a compiled step, and a copy that is trained by hand."""

    def __init__(
        self,
        model: nn.Module,
        loss: Callable[..., Any],
        make: MakesOptimizer,
        inputs: Sequence[Any],
        backend: str | Sequence[str] = ("script", "python"),
    ) -> None:
        self.model, self.by_hand = model, copy.deepcopy(model)
        self.optimizer, self.optimizer_by_hand = make(model.parameters()), make(self.by_hand.parameters())
        self.loss = loss
        self.step: CompiledStep = compile_step(model, loss, self.optimizer, inputs, backend=backend)

    def train(self, *inputs: Any) -> tuple[Tensor, Tensor]:
        """One step of both; gives both losses. Random numbers are the same for both."""
        state = torch.get_rng_state()
        compiled = self.step(*inputs)
        torch.set_rng_state(state)
        return compiled, self.train_by_hand(*inputs)

    def train_by_hand(self, *inputs: Any) -> Tensor:
        """One step of the copy."""
        self.optimizer_by_hand.zero_grad()
        if isinstance(self.loss, nn.Module):
            value = self.loss(self.by_hand(*inputs[:-1]), inputs[-1])
        else:
            value = self.loss(self.by_hand, *inputs)
        value.backward()
        self.optimizer_by_hand.step()
        return value.detach()

    def assert_equal(self) -> None:
        """Both models and both optimisers have the same state, to the bit."""
        assert_same(self.model.state_dict(), self.by_hand.state_dict())
        assert_same(self.optimizer.state_dict(), self.optimizer_by_hand.state_dict())


def assert_same(one: Any, other: Any) -> None:
    """Two nested states are the same, to the bit."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            assert_same(one[name], other[name])
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for each, twin in zip(one, other):
            assert_same(each, twin)
    elif isinstance(one, Tensor):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)
    else:
        assert one == other
