"""Input and output embeddings share one weight."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class TiedLM(nn.Module):
    def __init__(self, vocab: int, d: int) -> None:
        super().__init__()
        self.encoder = nn.Embedding(vocab, d)
        self.decoder = nn.Linear(d, vocab, bias=False)
        self.decoder.weight = self.encoder.weight

    def forward(self, ids: Int[Tensor, "b t"]) -> Float[Tensor, "b t vocab"]:
        x = self.encoder(ids)
        return self.decoder(x) + x @ self.encoder.weight.t()


def main() -> None:
    for b in (1, 3):
        assert TiedLM(7, 4)(torch.zeros(b, 5, dtype=torch.long)).shape == (b, 5, 7)


if __name__ == "__main__":
    main()
