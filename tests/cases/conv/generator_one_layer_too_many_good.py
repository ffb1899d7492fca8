"""Five layers that double 4x4 four times end at 64, the discriminator wants 32.

Kind: conv.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Generator(nn.Module):
    def __init__(self, nz: int, ngf: int) -> None:
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 4, 4, 1, 0, bias=False),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 4, ngf * 2, 4, 2, 1, bias=False),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf, 3, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, z: Float[Tensor, "b nz 1 1"]) -> Float[Tensor, "b 3 32 32"]:
        return self.main(z)


def main() -> None:
    for b in (1, 2):
        assert Generator(5, 2)(torch.randn(b, 5, 1, 1)).shape == (b, 3, 32, 32)


if __name__ == "__main__":
    main()
