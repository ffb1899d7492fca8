"""Promotion: bools and ints in arithmetic with floats."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


def masked(x: Float[Tensor, "b t d"], mask: Bool[Tensor, "b t"]) -> Float[Tensor, "b d"]:
    total = (x * mask[..., None]).sum(1)
    return total / mask.sum(1, keepdim=True)


def positions(ids: Int[Tensor, "b t"]) -> Float[Tensor, "b t"]:
    return ids / ids.shape[1]


def buckets(x: Float[Tensor, "n"], edges: Float[Tensor, "k"]) -> Int[Tensor, "n"]:
    return (x[:, None] >= edges).sum(-1)


def accuracy(logits: Float[Tensor, "n c"], y: Int[Tensor, "n"]) -> Float[Tensor, ""]:
    return (logits.argmax(-1) == y).double().mean()


def embed_floor(e: nn.Embedding, x: Float[Tensor, "n"]) -> Float[Tensor, "n d"]:
    return e(x.floor().long().clamp(0, e.num_embeddings - 1))


def main() -> None:
    for b in (1, 3):
        masked(torch.randn(b, 3, 4), torch.ones(b, 3, dtype=torch.bool))
        positions(torch.ones(b, 3, dtype=torch.long))
        buckets(torch.randn(b), torch.randn(4))
        accuracy(torch.randn(b, 3), torch.zeros(b, dtype=torch.long))
        embed_floor(nn.Embedding(5, 2), torch.randn(b))


if __name__ == "__main__":
    main()
