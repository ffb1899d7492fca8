"""A table of positions is sliced by the batch of a batch-first input.

Kind: positional.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 5000) -> None:
        super().__init__()
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x: Float[Tensor, "b t d_model"]) -> Float[Tensor, "b t d_model"]:
        return x + self.pe[: x.size(0)]  # error[shape]


def main() -> None:
    for b in (2, 3):
        assert PositionalEncoding(6)(torch.randn(b, 5, 6)).shape == (b, 5, 6)


if __name__ == "__main__":
    main()
