"""An image of 230 pixels has no whole number of patches of 16.

Kind: einops.
"""

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn


class Tokenizer(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(16 * 16 * 3)
        self.proj = nn.Linear(16 * 16 * 3, dim)

    def forward(self, img: Float[Tensor, "b 3 230 230"]) -> Float[Tensor, "b n dim"]:
        x = rearrange(img, "b c (h p) (w q) -> b (h w) (p q c)", p=16, q=16)  # error[shape]
        return self.proj(self.norm(x))


def main() -> None:
    for b in (1, 2):
        assert Tokenizer(6)(torch.randn(b, 3, 230, 230)).shape == (b, 196, 6)


if __name__ == "__main__":
    main()
