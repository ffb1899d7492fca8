"""A property that computes the size of the flattened features forgets an axis.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Critic(nn.Module):
    def __init__(self, channels: int, height: int, width: int) -> None:
        super().__init__()
        self.channels, self.height, self.width = channels, height, width
        self.fc = nn.Linear(self.flat_size, 1)

    @property
    def flat_size(self) -> int:
        return self.channels * self.height

    def forward(self, obs: Float[Tensor, "b channels height width"]) -> Float[Tensor, "b 1"]:
        return self.fc(obs.flatten(start_dim=1))  # error[shape]


def main() -> None:
    for b in (1, 2):
        assert Critic(2, 3, 4)(torch.randn(b, 2, 3, 4)).shape == (b, 1)


if __name__ == "__main__":
    main()
