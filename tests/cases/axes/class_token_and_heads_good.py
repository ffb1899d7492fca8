"""Heads are split off from tokens that have a class token in front of them.

Kind: axes.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class WithClassToken(nn.Module):
    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.token = nn.Parameter(torch.zeros(1, 1, d_model))

    def split(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        return x.reshape(b, n, self.heads, d // self.heads).transpose(1, 2)

    def forward(self, x: Float[Tensor, "b n d_model"]) -> Tensor:
        return self.split(torch.cat((self.token.expand(x.size(0), -1, -1), x), dim=1))


def main() -> None:
    x = torch.randn(2, 5, 6)
    assert torch.equal(WithClassToken(6, 3)(x)[:, 1, 2], x[:, 1, 2:4])


if __name__ == "__main__":
    main()
