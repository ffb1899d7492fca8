"""A transformer's encoder layer is narrower than the embedding.

Kind: mha.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class TextEncoder(nn.Module):
    def __init__(self, vocab: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, 96)
        layer = nn.TransformerEncoderLayer(d_model=64, nhead=4, dim_feedforward=128, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)

    def forward(self, ids: Int[Tensor, "b t"]) -> Float[Tensor, "b 96"]:
        return self.encoder(self.embed(ids)).mean(dim=1)  # error[shape]


def main() -> None:
    for b in (2, 3):
        assert TextEncoder(9)(torch.zeros(b, 4, dtype=torch.long)).shape == (b, 96)


if __name__ == "__main__":
    main()
