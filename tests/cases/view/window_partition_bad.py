"""Windows of a height that does not divide the feature map.

Kind: view.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def window_partition(x, window_size):
    B, H, W, C = x.shape
    x = x.view(B, H // window_size, window_size, W // window_size, window_size, C)  # error[shape]
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, window_size, window_size, C)


def first_stage(x: Float[Tensor, "b 60 60 96"]) -> Float[Tensor, "n 7 7 96"]:
    return window_partition(x, 7)  # cause


def main() -> None:
    for b in (1, 2):
        assert first_stage(torch.randn(b, 60, 60, 96)).shape == (b * 64, 7, 7, 96)


if __name__ == "__main__":
    main()
