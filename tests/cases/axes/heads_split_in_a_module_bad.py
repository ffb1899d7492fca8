"""Heads are split off in front of the tokens by a view in place of a transpose.

Kind: axes.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Attention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.query = nn.Linear(d_model, d_model)

    def forward(self, x: Float[Tensor, "batch tokens d_model"]) -> Tensor:
        batch, tokens, _ = x.size()
        return self.query(x).view(batch, self.num_heads, tokens, self.head_dim)  # error[shape-axes]


def main() -> None:
    model, x = Attention(8, 2), torch.randn(3, 5, 8)
    assert torch.equal(model(x)[:, 1, 2], model.query(x)[:, 2, 4:])


if __name__ == "__main__":
    main()
