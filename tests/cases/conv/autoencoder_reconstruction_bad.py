"""An autoencoder pools 28 to 3 and comes back at 24.

Kind: conv.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class ConvAutoencoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 4, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.decoder = nn.Sequential(
            nn.Upsample(scale_factor=2),
            nn.Conv2d(4, 4, 3, padding=1),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(4, 8, 3, padding=1),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(8, 1, 3, padding=1),
            nn.Sigmoid(),
        )

    def loss(self, x: Float[Tensor, "b 1 28 28"]) -> Float[Tensor, ""]:
        recon = self.decoder(self.encoder(x))
        return F.binary_cross_entropy(recon, x)  # error[shape]


def main() -> None:
    for b in (1, 2):
        ConvAutoencoder().loss(torch.rand(b, 1, 28, 28))


if __name__ == "__main__":
    main()
