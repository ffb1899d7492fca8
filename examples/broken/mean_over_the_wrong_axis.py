"""A sentence embedding should average over the positions; this one averages over the features."""

import torch
from jaxtyping import Float
from torch import Tensor


def sentence_embedding(words: Float[Tensor, "batch seq d_model"]) -> Float[Tensor, "batch d_model"]:
    return words.mean(dim=-1)  # error: shape


def main() -> None:
    embedding = sentence_embedding(torch.randn(2, 7, 16))
    assert embedding.shape == (2, 16), f"the shape is {tuple(embedding.shape)}"


if __name__ == "__main__":
    main()
