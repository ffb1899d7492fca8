"""Feature-wise modulation of an image with a scale that has no spatial axes.

Kind: broadcast.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class FiLM(nn.Module):
    def __init__(self, cond_dim: int, channels: int) -> None:
        super().__init__()
        self.to_params = nn.Linear(cond_dim, 2 * channels)

    def forward(
        self, x: Float[Tensor, "b channels h w"], cond: Float[Tensor, "b cond_dim"]
    ) -> Float[Tensor, "b channels h w"]:
        gamma, beta = self.to_params(cond).chunk(2, dim=-1)
        return gamma * x + beta  # error[shape]


def main() -> None:
    for b in (1, 2):
        assert FiLM(5, 3)(torch.randn(b, 3, 8, 9), torch.randn(b, 5)).shape == (b, 3, 8, 9)


if __name__ == "__main__":
    main()
