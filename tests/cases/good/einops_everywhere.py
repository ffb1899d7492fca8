"""einops with sizes from self, ellipses, reductions and layers."""

import torch
from einops import rearrange, reduce, repeat
from jaxtyping import Float
from torch import Tensor, nn


class LinearAttention(nn.Module):
    def __init__(self, dim: int, heads: int = 4, dim_head: int = 8) -> None:
        super().__init__()
        self.heads = heads
        hidden_dim = dim_head * heads
        self.to_qkv = nn.Conv2d(dim, hidden_dim * 3, 1, bias=False)
        self.to_out = nn.Conv2d(hidden_dim, dim, 1)

    def forward(self, x: Float[Tensor, "b dim h w"]) -> Float[Tensor, "b dim h w"]:
        b, c, h, w = x.shape
        qkv = self.to_qkv(x).chunk(3, dim=1)
        q, k, v = map(lambda t: rearrange(t, "b (h c) x y -> b h c (x y)", h=self.heads), qkv)
        q = q.softmax(dim=-2)
        k = k.softmax(dim=-1)
        context = torch.einsum("b h d n, b h e n -> b h d e", k, v / (h * w))
        out = torch.einsum("b h d e, b h d n -> b h e n", context, q)
        out = rearrange(out, "b h c (x y) -> b (h c) x y", h=self.heads, x=h, y=w)
        return self.to_out(out)


def mean_tokens(x: Float[Tensor, "... t d"]) -> Float[Tensor, "... d"]:
    return reduce(x, "... t d -> ... d", "mean")


def tile(cls: Float[Tensor, "d"], x: Float[Tensor, "b t d"]) -> Float[Tensor, "b t+1 d"]:
    return torch.cat((repeat(cls, "d -> b 1 d", b=x.shape[0]), x), dim=1)


def main() -> None:
    for b in (1, 2):
        assert LinearAttention(6)(torch.randn(b, 6, 4, 5)).shape == (b, 6, 4, 5)
        assert mean_tokens(torch.randn(b, 2, 3, 4)).shape == (b, 2, 4)
        assert tile(torch.zeros(4), torch.randn(b, 3, 4)).shape == (b, 4, 4)


if __name__ == "__main__":
    main()
