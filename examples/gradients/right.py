"""Backwards written by hand, each of them right: `shaped verify examples/gradients/right.py` proves them."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor


def rms_norm(x: Float[Tensor, "b d"], weight: Float[Tensor, "d"]) -> Float[Tensor, "b d"]:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight


def rms_norm_backward(
    grad: Float[Tensor, "b d"], x: Float[Tensor, "b d"], weight: Float[Tensor, "d"]
) -> tuple[Float[Tensor, "b d"], Float[Tensor, "d"]]:
    scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)
    inner = grad * weight
    dx = scale * (inner - x * scale * scale * (inner * x).mean(-1, keepdim=True))
    return dx, (grad * x * scale).sum(0)


class SwiGLU(torch.autograd.Function):
    """silu(gate) * up, which keeps its inputs and computes the rest again."""

    @staticmethod
    def forward(ctx: Any, gate: Float[Tensor, "*s"], up: Float[Tensor, "*s"]) -> Float[Tensor, "*s"]:
        ctx.save_for_backward(gate, up)
        return gate * torch.sigmoid(gate) * up

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "*s"]) -> tuple[Float[Tensor, "*s"], Float[Tensor, "*s"]]:
        gate: Float[Tensor, "*s"]
        up: Float[Tensor, "*s"]
        gate, up = ctx.saved_tensors
        half = torch.sigmoid(gate)
        return grad * up * half * (1 + gate * (1 - half)), grad * gate * half


def attention(q: Float[Tensor, "t d"], k: Float[Tensor, "s d"], v: Float[Tensor, "s e"]) -> Float[Tensor, "t e"]:
    return torch.softmax(q @ k.T / q.size(-1) ** 0.5, -1) @ v


def attention_backward(
    grad: Float[Tensor, "t e"], q: Float[Tensor, "t d"], k: Float[Tensor, "s d"], v: Float[Tensor, "s e"]
) -> tuple[Float[Tensor, "t d"], Float[Tensor, "s d"], Float[Tensor, "s e"]]:
    """As in FlashAttention: the row sums of grad * out stand for those of the softmax's backward."""
    scale = q.size(-1) ** -0.5
    p = torch.softmax(q @ k.T * scale, -1)
    rows = (grad * (p @ v)).sum(-1, keepdim=True)
    scores = p * (grad @ v.T - rows) * scale
    return scores @ k, scores.T @ q, p.T @ grad


def cross_entropy(logits: Float[Tensor, "b c"], target: Int[Tensor, "b"]) -> Float[Tensor, ""]:
    return torch.nn.functional.cross_entropy(logits, target)


def cross_entropy_backward(
    grad: Float[Tensor, ""], logits: Float[Tensor, "b c"], target: Int[Tensor, "b"]
) -> tuple[Float[Tensor, "b c"], None]:
    chosen = torch.nn.functional.one_hot(target, logits.size(1))
    return grad * (logits.softmax(-1) - chosen) / logits.size(0), None


def round_through(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x.round()


def round_through_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad,)


def round_through_gradient_of(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    """A straight-through estimator is meant to be the gradient of the identity."""
    return x
