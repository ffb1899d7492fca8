"""Attention weights over time are multiplied with the states without an axis for the features.

Kind: broadcast.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class AttentionPooling(nn.Module):
    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.score = nn.Linear(hidden, 1)

    def forward(self, states: Float[Tensor, "batch time hidden"]) -> Float[Tensor, "batch hidden"]:
        scores = self.score(states).squeeze(-1)
        alpha = torch.softmax(scores, dim=1)
        return torch.sum(alpha.unsqueeze(-1) * states, dim=1)


def main() -> None:
    for b in (1, 2):
        assert AttentionPooling(4)(torch.randn(b, 5, 4)).shape == (b, 4)


if __name__ == "__main__":
    main()
