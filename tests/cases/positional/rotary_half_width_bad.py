"""Rotary angles for half of the width are applied to all of it.

Kind: positional.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def rotate_half(x: Float[Tensor, "b h t d"]) -> Float[Tensor, "b h t d"]:
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary(q: Float[Tensor, "b h t 64"], base: float = 10000.0) -> Float[Tensor, "b h t 64"]:
    inv_freq = 1.0 / base ** (torch.arange(0, 64, 2).float() / 64)
    angles = torch.outer(torch.arange(q.shape[-2]).float(), inv_freq)
    return q * angles.cos() + rotate_half(q) * angles.sin()  # error[shape]


def main() -> None:
    for b in (1, 3):
        assert apply_rotary(torch.randn(b, 2, 5, 64)).shape == (b, 2, 5, 64)


if __name__ == "__main__":
    main()
