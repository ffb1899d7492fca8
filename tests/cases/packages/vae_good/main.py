"""A VAE in three modules; the decoder's first layer is made for the mean and the variance side by side."""

import encoder as enc
import sizes
import torch
from jaxtyping import Float
from torch import Tensor, nn


class VAE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = enc.Encoder()
        self.decoder = nn.Sequential(nn.Linear(sizes.LATENT, sizes.HIDDEN), nn.ReLU(), nn.Linear(sizes.HIDDEN, sizes.IMAGE))

    def forward(self, x: Float[Tensor, "b 1 28 28"]) -> Float[Tensor, "b 1 28 28"]:
        mean, logvar = self.encoder(x)
        z = enc.sample(mean, logvar)
        return self.decoder(z).sigmoid().view_as(x)


def main() -> None:
    for b in (1, 3):
        assert VAE()(torch.rand(b, 1, 28, 28)).shape == (b, 1, 28, 28)


if __name__ == "__main__":
    main()
