"""A helper without annotations puts the heads behind the positions.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def split_heads(x, num_heads):
    b, t, d = x.shape
    return x.view(b, t, num_heads, d // num_heads).transpose(1, 2)


def attention(
    q: Float[Tensor, "b tq 64"], k: Float[Tensor, "b tk 64"], v: Float[Tensor, "b tk 64"]
) -> Float[Tensor, "b 4 tq 16"]:
    q, k, v = split_heads(q, 4), split_heads(k, 4), split_heads(v, 4)
    weights = torch.softmax(q @ k.transpose(-1, -2) / 4.0, dim=-1)
    return weights @ v


def main() -> None:
    for b in (1, 2):
        assert attention(torch.randn(b, 3, 64), torch.randn(b, 5, 64), torch.randn(b, 5, 64)).shape == (b, 4, 3, 16)


if __name__ == "__main__":
    main()
