"""`squeeze()` removes the axis of size 1, and the batch too when it holds one row."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Critic(nn.Module):
    def __init__(self, observations: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(observations, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, x: Float[Tensor, "batch observations"]) -> Float[Tensor, "batch"]:
        return self.layers(x).squeeze()  # error: shape-squeeze


def main() -> None:
    critic = Critic(observations=8)
    for batch in (32, 1):
        values = critic(torch.randn(batch, 8))
        assert values.shape == (batch,), f"a batch of {batch} gives the shape {tuple(values.shape)}"


if __name__ == "__main__":
    main()
