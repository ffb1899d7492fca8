"""A cache that grows with each step."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class CachedAttention(nn.Module):
    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d)
        self.cache: tuple[Tensor, Tensor] | None = None

    def forward(self, x: Float[Tensor, "b t d"], use_cache: bool = False) -> Float[Tensor, "b t d"]:
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(x).split(d, dim=2))
        if use_cache:
            if self.cache is not None:
                k = torch.cat((self.cache[0], k), dim=2)
                v = torch.cat((self.cache[1], v), dim=2)
            self.cache = (k, v)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=not use_cache)
        return y.transpose(1, 2).reshape(b, t, d)


def main() -> None:
    attention = CachedAttention(4, 2)
    assert attention(torch.randn(2, 5, 4)).shape == (2, 5, 4)
    for _ in range(3):
        assert attention(torch.randn(2, 1, 4), use_cache=True).shape == (2, 1, 4)


if __name__ == "__main__":
    main()
