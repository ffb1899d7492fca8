"""Attention weights are batch-first, the encoder's outputs sequence-first.

Kind: rnn.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Attn(nn.Module):
    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.encoder = nn.LSTM(hidden, hidden)

    def forward(self, x: Float[Tensor, "s b hidden"], query: Float[Tensor, "b hidden"]) -> Float[Tensor, "b hidden"]:
        memory, _ = self.encoder(x)
        scores = (memory * query).sum(dim=-1)
        weights = scores.t().softmax(dim=1)
        return torch.bmm(weights.unsqueeze(1), memory.transpose(0, 1)).squeeze(1)


def main() -> None:
    for b in (2, 3):
        assert Attn(4)(torch.randn(5, b, 4), torch.randn(b, 4)).shape == (b, 4)


if __name__ == "__main__":
    main()
