"""Encoder and decoder have defaults that do not agree.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Encoder(nn.Module):
    def __init__(self, in_dim: int, latent: int = 32) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(in_dim, 128), nn.ReLU(), nn.Linear(128, latent))

    def forward(self, x):
        return self.net(x)


class Decoder(nn.Module):
    def __init__(self, out_dim: int, latent: int = 32) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(latent, 128), nn.ReLU(), nn.Linear(128, out_dim))

    def forward(self, z):
        return self.net(z)


class AutoEncoder(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.encoder = Encoder(dim)
        self.decoder = Decoder(dim)

    def forward(self, x: Float[Tensor, "b dim"]) -> Float[Tensor, "b dim"]:
        z = self.encoder(x)
        return self.decoder(z)


def main() -> None:
    for b in (1, 2):
        assert AutoEncoder(6)(torch.randn(b, 6)).shape == (b, 6)


if __name__ == "__main__":
    main()
