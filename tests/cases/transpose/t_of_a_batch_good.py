"""t() is for matrices, a batch of them has three axes.

Kind: transpose.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def gram(features: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c c"]:
    b, c, h, w = features.shape
    flat = features.reshape(b, c, h * w)
    return flat @ flat.mT / (c * h * w)


def main() -> None:
    for b in (1, 3):
        assert gram(torch.randn(b, 2, 3, 4)).shape == (b, 2, 2)


if __name__ == "__main__":
    main()
