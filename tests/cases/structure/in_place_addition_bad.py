"""An in-place addition cannot widen its left side.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def add_noise_per_channel(x: Float[Tensor, "c"], noise: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
    x += noise  # error[shape]
    return x


def main() -> None:
    for b in (2, 3):
        assert add_noise_per_channel(torch.randn(4), torch.randn(b, 4)).shape == (b, 4)


if __name__ == "__main__":
    main()
