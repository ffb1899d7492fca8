"""Losses of many kinds over any sizes, for properties that hold for every loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

Family = Callable[[int, int, int], "Problem"]


@dataclass(frozen=True)
class Problem:
    """A loss with the shapes of its lists; an integer input has the number that its values are below."""

    loss: Callable[..., Tensor]
    params: list[tuple[int, ...]]
    inputs: list[tuple[int, ...]]
    nats: tuple[tuple[tuple[int, ...], int], ...] = ()

    def values(self, seed: int, dtype: torch.dtype) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """Parameters, inputs and integer inputs, drawn."""
        generator = torch.Generator().manual_seed(seed)

        def floats(shapes: list[tuple[int, ...]]) -> list[Tensor]:
            return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes]

        nats = [torch.randint(below, shape, generator=generator) for shape, below in self.nats]
        return floats(self.params), floats(self.inputs), nats


def regression(n: int, d: int, h: int) -> Problem:
    def loss(params: Any, inputs: Any) -> Tensor:
        (w1, b1, w2, b2), (x, y) = params, inputs
        return F.mse_loss(F.linear(F.relu(F.linear(x, w1, b1)), w2, b2), y)

    return Problem(loss, [(h, d), (h,), (1, h), (1,)], [(n, d), (n, 1)])


def classification(n: int, d: int, c: int) -> Problem:
    def loss(params: Any, inputs: Any, nats: Any) -> Tensor:
        (w, b), (x,), (labels,) = params, inputs, nats
        return F.cross_entropy(torch.tanh(x) @ w.T + b, labels, label_smoothing=0.125)

    return Problem(loss, [(c, d), (c,)], [(n, d)], (((n,), c),))


def attention(n: int, d: int, h: int) -> Problem:
    def loss(params: Any, inputs: Any) -> Tensor:
        (wq, wk, wv), (x, y) = params, inputs
        scores = (x @ wq) @ (x @ wk).T / math.sqrt(h)
        return ((torch.softmax(scores, -1) @ (x @ wv) - y) ** 2).mean()

    return Problem(loss, [(d, h), (d, h), (d, h)], [(n, d), (n, h)])


def convolution(n: int, d: int, c: int) -> Problem:
    def loss(params: Any, inputs: Any) -> Tensor:
        (kernel, bias, w), (image, y) = params, inputs
        features = F.max_pool2d(F.conv2d(image, kernel, bias, padding=1), 2).mean((-1, -2))
        return F.smooth_l1_loss(F.linear(features, w), y, beta=0.5)

    return Problem(loss, [(c, d, 3, 3), (c,), (2, c)], [(n, d, 4, 4), (n, 2)])


def normalised(n: int, d: int, h: int) -> Problem:
    def loss(params: Any, inputs: Any) -> Tensor:
        (scale, shift, w), (x, y) = params, inputs
        return F.mse_loss(F.layer_norm(x, (x.shape[-1],), scale, shift) @ w, y)

    return Problem(loss, [(d + 1,), (d + 1,), (d + 1, h)], [(n, d + 1), (n, h)])


def logistic(n: int, d: int, h: int) -> Problem:
    def loss(params: Any, inputs: Any) -> Tensor:
        (w, b), (x, y) = params, inputs
        return F.binary_cross_entropy_with_logits(x @ w + b, torch.sigmoid(y)) + 0.01 * (w * w).sum()

    return Problem(loss, [(d, h), (h,)], [(n, d), (n, h)])


def huber(n: int, d: int, h: int) -> Problem:
    def loss(params: Any, inputs: Any) -> Tensor:
        (w,), (x, y) = params, inputs
        return F.huber_loss(x @ w, y, delta=0.7)

    return Problem(loss, [(d, h)], [(n, d), (n, h)])


def embedding(n: int, d: int, c: int) -> Problem:
    def loss(params: Any, inputs: Any, nats: Any) -> Tensor:
        (table, w), (weight,), (tokens, label) = params, inputs, nats
        pooled = (F.embedding(tokens, table) * weight).sum(-2) / tokens.shape[-1]
        return F.cross_entropy(pooled @ w, label)

    return Problem(loss, [(5, d), (d, c)], [(d,)], (((n, 3), 5), ((n,), c)))


def gated(n: int, d: int, h: int) -> Problem:
    def loss(params: Any, inputs: Any) -> Tensor:
        (w, v, out), (x, y) = params, inputs
        return (F.silu(x @ w) * F.gelu(x @ v) @ out - y).abs().sum()

    return Problem(loss, [(d, h), (d, h), (h, 1)], [(n, d), (n, 1)])


def softmax_target(n: int, d: int, c: int) -> Problem:
    def loss(params: Any, inputs: Any) -> Tensor:
        (w,), (x, y) = params, inputs
        return F.kl_div(F.log_softmax(x @ w, -1), torch.softmax(y, -1), reduction="batchmean")

    return Problem(loss, [(d, c)], [(n, d), (n, c)])


def unused(n: int, d: int, h: int) -> Problem:
    def loss(params: Any, inputs: Any) -> Tensor:
        return torch.logsumexp(params[0] @ inputs[0], 0).sum() + params[2].exp() * 0.5

    return Problem(loss, [(h, d), (3,), ()], [(d, n)])


FAMILIES = [
    regression,
    classification,
    attention,
    convolution,
    normalised,
    logistic,
    huber,
    embedding,
    gated,
    softmax_target,
    unused,
]
