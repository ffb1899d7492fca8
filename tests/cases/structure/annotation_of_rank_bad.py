"""Images without a channel axis are passed to a function that wants one.

Kind: structure.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def blur(images: Float[Tensor, "b 1 h w"]) -> Float[Tensor, "b 1 h w"]:
    kernel = torch.ones(1, 1, 3, 3) / 9
    return F.conv2d(images, kernel, padding=1)


def smooth_depth(depth: Float[Tensor, "b h w"]) -> Float[Tensor, "b h w"]:
    return blur(depth)[:, 0]  # error[shape]


def main() -> None:
    for b in (2, 3):
        assert smooth_depth(torch.randn(b, 5, 6)).shape == (b, 5, 6)


if __name__ == "__main__":
    main()
