"""Each round of a loop concatenates, the layer after it expects one round.

Kind: structure.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class Dense(nn.Module):
    def __init__(self, d: int) -> None:
        super().__init__()
        self.l1 = nn.Linear(d, d)
        self.l2 = nn.Linear(2 * d, d)
        self.out = nn.Linear(3 * d, d)

    def forward(self, x: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
        features = [x]
        features.append(F.relu(self.l1(torch.cat(features, dim=1))))
        features.append(F.relu(self.l2(torch.cat(features, dim=1))))
        return self.out(torch.cat(features, dim=1))


def main() -> None:
    for b in (1, 2):
        assert Dense(4)(torch.randn(b, 4)).shape == (b, 4)


if __name__ == "__main__":
    main()
