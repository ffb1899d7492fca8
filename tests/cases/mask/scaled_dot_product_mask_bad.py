"""The mask of padded keys is given to scaled_dot_product_attention without axes for heads and queries.

Kind: mask.
"""

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Bool, Float
from torch import Tensor, nn


class Attention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x: Float[Tensor, "b n dim"], keep: Bool[Tensor, "b n"]) -> Float[Tensor, "b n dim"]:
        q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=self.heads) for t in self.to_qkv(x).chunk(3, dim=-1))
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=keep)  # error[shape]
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))


def main() -> None:
    for b in (2, 3):
        assert Attention(8, 2)(torch.randn(b, 5, 8), torch.ones(b, 5, dtype=torch.bool)).shape == (b, 5, 8)


if __name__ == "__main__":
    main()
