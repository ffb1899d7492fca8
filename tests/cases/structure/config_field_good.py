"""A dataclass of sizes; the second layer reads the wrong field.

Kind: structure.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


@dataclass
class Config:
    d_model: int = 64
    d_ff: int = 256
    dropout: float = 0.1


class FeedForward(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.w_1 = nn.Linear(config.d_model, config.d_ff)
        self.w_2 = nn.Linear(config.d_ff, config.d_model)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Float[Tensor, "b t d_model"]) -> Float[Tensor, "b t d_model"]:
        return self.w_2(self.dropout(F.relu(self.w_1(x))))


def main() -> None:
    for b in (1, 2):
        assert FeedForward(Config())(torch.randn(b, 3, 64)).shape == (b, 3, 64)


if __name__ == "__main__":
    main()
