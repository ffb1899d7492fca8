"""NT-Xent hides the diagonal of a matrix that is made for a nominal batch.

Kind: batch.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


@dataclass
class Settings:
    batch_size: int = 32
    temperature: float = 0.5


class NTXent(nn.Module):
    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.temperature = settings.temperature
        self.register_buffer("mask", torch.eye(2 * 32, dtype=torch.bool))

    def forward(self, z1: Float[Tensor, "n d"], z2: Float[Tensor, "n d"]) -> Float[Tensor, ""]:
        z = F.normalize(torch.cat([z1, z2], dim=0), dim=1)
        sim = z @ z.t() / self.temperature
        sim = sim.masked_fill(self.mask, float("-inf"))  # error[shape]
        n = z1.size(0)
        targets = torch.cat([torch.arange(n) + n, torch.arange(n)])
        return F.cross_entropy(sim, targets)


def main() -> None:
    for n in (32, 5):
        NTXent(Settings())(torch.randn(n, 4), torch.randn(n, 4))


if __name__ == "__main__":
    main()
