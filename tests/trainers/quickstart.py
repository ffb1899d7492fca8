"""`quickstart_mlp`: 2 -> 8 -> 1 with ReLU, on a grid of 25 points."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from shaped.runtime.tlist import TList

Params = TList[Float[Tensor, "8 2"], Float[Tensor, "8"], Float[Tensor, "1 8"], Float[Tensor, "1"]]
Inputs = TList[Float[Tensor, "2"], Float[Tensor, "1"]]
NAMES = ("w1", "b1", "w2", "b2")


def predict(params: Params, x: Float[Tensor, "2"]) -> Float[Tensor, "1"]:
    w1, b1, w2, b2 = params
    return F.linear(F.relu(F.linear(x, w1, b1)), w2, b2)


def loss(params: Params, inputs: Inputs) -> Float[Tensor, ""]:
    x, y = inputs
    return F.mse_loss(predict(params, x), y)


def target(a: float, b: float) -> float:
    return 0.8 * max(a + b, 0.0) - 0.4 * max(b - a, 0.0) + 0.2


PLACES = (-1.0, -0.5, 0.0, 0.5, 1.0)
SAMPLES = [([a, b], [target(a, b)]) for a in PLACES for b in PLACES]


def adam(params: list[Tensor]) -> torch.optim.Optimizer:
    return torch.optim.Adam(params, lr=0.03, betas=(0.9, 0.999), eps=1e-8)


class Adam32(torch.optim.Optimizer):
    """The same Adam with every number in float32, the powers of its betas as running products: as TorchLean has it."""

    def __init__(self, params: list[Tensor]) -> None:
        super().__init__(params, {})
        self.lr, self.eps, self.beta1, self.beta2 = (torch.tensor(number) for number in (0.03, 1e-8, 0.9, 0.999))
        self.power1, self.power2 = torch.ones(()), torch.ones(())

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]  # none is taken
        self.power1 *= self.beta1
        self.power2 *= self.beta2
        for param in self.param_groups[0]["params"]:
            mean = self.state[param].setdefault("mean", torch.zeros_like(param))
            square = self.state[param].setdefault("square", torch.zeros_like(param))
            mean.copy_(self.beta1 * mean + (1 - self.beta1) * param.grad)
            square.copy_(self.beta2 * square + (1 - self.beta2) * (param.grad * param.grad))
            unbiased, unbiased_square = mean / (1 - self.power1), square / (1 - self.power2)
            param -= self.lr * (unbiased / (unbiased_square.sqrt() + self.eps))
