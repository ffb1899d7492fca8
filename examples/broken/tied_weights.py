"""The output layer of a language model reuses the embedding's weight, but forgets to transpose it."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class LanguageModel(nn.Module):
    def __init__(self, vocab: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens: Int[Tensor, "batch seq"]) -> Float[Tensor, "batch seq vocab"]:
        x = self.norm(self.embedding(tokens))
        return x @ self.embedding.weight  # error: shape


def main() -> None:
    LanguageModel(vocab=100, d_model=16)(torch.randint(100, (2, 5)))


if __name__ == "__main__":
    main()
