"""A layer of a Sequential expects more channels than its predecessor gives.

Kind: conv.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Encoder(nn.Module):
    def __init__(self, latent: int) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 32, 4, 2, 1),
            nn.ReLU(),
            nn.Conv2d(32, 64, 4, 2, 1),
            nn.ReLU(),
        )
        self.fc = nn.Linear(64 * 8 * 8, latent)

    def forward(self, x: Float[Tensor, "b 3 32 32"]) -> Float[Tensor, "b latent"]:
        return self.fc(self.net(x).flatten(1))


def main() -> None:
    for b in (1, 3):
        assert Encoder(5)(torch.randn(b, 3, 32, 32)).shape == (b, 5)


if __name__ == "__main__":
    main()
