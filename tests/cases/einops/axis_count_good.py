"""A pattern for sequences is applied to images.

Kind: einops.
"""

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor


def to_tokens(x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b t c"]:
    return rearrange(x, "b c h w -> b (h w) c")


def main() -> None:
    for b in (1, 2):
        assert to_tokens(torch.randn(b, 3, 4, 5)).shape == (b, 20, 3)


if __name__ == "__main__":
    main()
