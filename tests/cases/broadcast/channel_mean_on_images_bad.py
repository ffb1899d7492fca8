"""The mean of the channels is subtracted as a vector, so that it meets the columns.

Kind: broadcast.
"""

import torch
from jaxtyping import Float
from torch import Tensor

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


def normalize(images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n 3 h w"]:
    mean = torch.tensor(IMAGENET_MEAN, device=images.device)
    std = torch.tensor(IMAGENET_STD, device=images.device)
    return (images - mean) / std  # error[shape]


def main() -> None:
    for n in (1, 4):
        assert normalize(torch.rand(n, 3, 20, 30)).shape == (n, 3, 20, 30)


if __name__ == "__main__":
    main()
