"""A latent vector is expanded over time without an axis for it.

Kind: expand.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class LatentDecoder(nn.Module):
    def __init__(self, latent: int, hidden: int) -> None:
        super().__init__()
        self.rnn = nn.LSTM(latent, hidden, batch_first=True)

    def forward(self, z: Float[Tensor, "b latent"], steps: int) -> Float[Tensor, "b t hidden"]:
        batch, latent = z.shape
        z = z.expand(batch, steps, latent)  # error[shape]
        out, _ = self.rnn(z)
        return out


def main() -> None:
    for b in (2, 3):
        assert LatentDecoder(4, 5)(torch.randn(b, 4), 6).shape == (b, 6, 5)


if __name__ == "__main__":
    main()
