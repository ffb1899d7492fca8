"""A permutation for images is applied to batches of images.

Kind: transpose.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def to_channels_first(images: Float[Tensor, "b h w c"]) -> Float[Tensor, "b c h w"]:
    return images.permute(2, 0, 1)  # error[shape]


def main() -> None:
    for b in (1, 3):
        assert to_channels_first(torch.randn(b, 4, 5, 3)).shape == (b, 3, 4, 5)


if __name__ == "__main__":
    main()
