"""A bias for each pair of positions and each head, with the heads last.

Kind: positional.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class WindowAttention(nn.Module):
    def __init__(self, dim: int, window: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.n = window * window
        self.relative_bias_table = nn.Parameter(torch.zeros((2 * window - 1) ** 2, num_heads))
        coords = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        relative = coords[:, :, None] - coords[:, None, :] + window - 1
        self.register_buffer("index", relative[0] * (2 * window - 1) + relative[1])
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x: Float[Tensor, "b n dim"]) -> Float[Tensor, "b num_heads n n"]:
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.num_heads, c // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k = qkv[0], qkv[1]
        attn = q @ k.transpose(-2, -1)
        bias = self.relative_bias_table[self.index.view(-1)].view(self.n, self.n, -1)
        return attn + bias  # error[shape]


def main() -> None:
    for b in (1, 3):
        assert WindowAttention(8, 3, 2)(torch.randn(b, 9, 8)).shape == (b, 2, 9, 9)


if __name__ == "__main__":
    main()
