"""Slices by half of a size that is read from the shape."""

import torch
from jaxtyping import Float
from torch import Tensor


def rotate_half(x):
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary(
    q: Float[Tensor, "b h t d"], cos: Float[Tensor, "t d"], sin: Float[Tensor, "t d"]
) -> Float[Tensor, "b h t d"]:
    return q * cos + rotate_half(q) * sin


def gated(x: Float[Tensor, "*batch 2*d"]) -> Float[Tensor, "*batch d"]:
    a, b = x.chunk(2, dim=-1)
    return a * b.sigmoid()


def main() -> None:
    for b in (1, 2):
        assert apply_rotary(torch.randn(b, 2, 3, 5), torch.ones(3, 5), torch.ones(3, 5)).shape == (b, 2, 3, 5)
        assert gated(torch.randn(b, 3, 8)).shape == (b, 3, 4)


if __name__ == "__main__":
    main()
