"""The positional encoding of torch's own tutorial: right for every even width."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, dropout: float = 0.1, max_len: int = 5000):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x: Float[Tensor, "seq_len batch d_model"]) -> Float[Tensor, "seq_len batch d_model"]:
        x = x + self.pe[: x.size(0)]
        return self.dropout(x)


def main() -> None:
    for b in (1, 3):
        assert PositionalEncoding(6)(torch.randn(5, b, 6)).shape == (5, b, 6)


if __name__ == "__main__":
    main()
