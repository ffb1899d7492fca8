"""Sizes of one that stretch: gates, masks of shape (1, t, t), parameters with leading ones."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Gate(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(heads, 1, 1))
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.gamma = nn.Parameter(torch.ones(1, dim))

    def forward(self, attn: Float[Tensor, "b heads t t"], x: Float[Tensor, "b t dim"]) -> Float[Tensor, "b t dim"]:
        attn = attn * self.scale.exp()
        mask = torch.ones(1, 1, attn.size(-1), attn.size(-1), dtype=torch.bool).tril()
        attn = attn.masked_fill(~mask, -1e9).softmax(-1).mean(1)
        return attn @ (x * self.gamma + self.cls)


def main() -> None:
    for b in (1, 3):
        assert Gate(4, 2)(torch.randn(b, 2, 5, 5), torch.randn(b, 5, 4)).shape == (b, 5, 4)


if __name__ == "__main__":
    main()
