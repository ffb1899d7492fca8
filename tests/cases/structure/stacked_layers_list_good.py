"""Hidden layers are made in a loop that forgets to carry the width on.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Mlp(nn.Module):
    def __init__(self, in_dim: int, out_dim: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        width = in_dim
        for hidden in (32, 64):
            layers.append(nn.Linear(width, hidden))
            layers.append(nn.ReLU())
            width = hidden
        layers.append(nn.Linear(64, out_dim))
        self.net = nn.Sequential(*layers)

    def forward(self, x: Float[Tensor, "b in_dim"]) -> Float[Tensor, "b out_dim"]:
        return self.net(x)


def main() -> None:
    for b in (1, 2):
        assert Mlp(8, 3)(torch.randn(b, 8)).shape == (b, 3)


if __name__ == "__main__":
    main()
