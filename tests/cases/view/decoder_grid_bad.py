"""A VAE's decoder makes 8x8 maps of what the view cuts into 7x7.

Kind: view.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class Decoder(nn.Module):
    def __init__(self, latent_dim: int) -> None:
        super().__init__()
        self.fc = nn.Linear(latent_dim, 32 * 8 * 8)
        self.deconv1 = nn.ConvTranspose2d(32, 16, 4, stride=2, padding=1)
        self.deconv2 = nn.ConvTranspose2d(16, 1, 4, stride=2, padding=1)

    def forward(self, z: Float[Tensor, "b latent_dim"]) -> Float[Tensor, "b 1 28 28"]:
        h = F.relu(self.fc(z))
        h = h.view(h.size(0), 32, 7, 7)  # error[shape]
        h = F.relu(self.deconv1(h))
        return torch.sigmoid(self.deconv2(h))


def main() -> None:
    for b in (1, 2):
        assert Decoder(5)(torch.randn(b, 5)).shape == (b, 1, 28, 28)


if __name__ == "__main__":
    main()
