"""Keys and values for fewer heads, repeated for the queries."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


def repeat_kv(x, n_rep):
    b, n_kv, t, d = x.shape
    if n_rep == 1:
        return x
    return x[:, :, None, :, :].expand(b, n_kv, n_rep, t, d).reshape(b, n_kv * n_rep, t, d)


class Attention(nn.Module):
    def __init__(self, dim: int, n_heads: int, n_kv_heads: int) -> None:
        super().__init__()
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        self.head_dim = dim // n_heads
        self.n_rep = n_heads // n_kv_heads
        self.wq = nn.Linear(dim, n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(n_heads * self.head_dim, dim, bias=False)

    def forward(
        self, x: Float[Tensor, "b t dim"], mask: Float[Tensor, "t t"] | None = None
    ) -> Float[Tensor, "b t dim"]:
        b, t, _ = x.shape
        xq = self.wq(x).view(b, t, self.n_heads, self.head_dim).transpose(1, 2)
        xk = self.wk(x).view(b, t, self.n_kv_heads, self.head_dim).transpose(1, 2)
        xv = self.wv(x).view(b, t, self.n_kv_heads, self.head_dim).transpose(1, 2)
        xk, xv = repeat_kv(xk, self.n_rep), repeat_kv(xv, self.n_rep)
        scores = torch.matmul(xq, xk.transpose(2, 3)) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores + mask
        out = torch.matmul(F.softmax(scores.float(), dim=-1).type_as(xq), xv)
        return self.wo(out.transpose(1, 2).contiguous().view(b, t, -1))


def main() -> None:
    for b in (1, 3):
        assert Attention(8, 4, 2)(torch.randn(b, 5, 8)).shape == (b, 5, 8)
        assert Attention(8, 4, 4)(torch.randn(b, 5, 8), torch.zeros(5, 5)).shape == (b, 5, 8)


if __name__ == "__main__":
    main()
