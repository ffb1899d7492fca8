"""An image is cut into patches by one view; the rows of a patch stay a whole image row apart.

Kind: axes.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def patches(image: Float[Tensor, "b c h w"], size: int) -> Tensor:
    b, c, h, w = image.shape
    return image.reshape(b, c, h // size, w // size, size, size)  # error[shape-axes]


def main() -> None:
    image = torch.arange(16.0).view(1, 1, 4, 4)
    assert patches(image, 2)[0, 0, 0, 1].tolist() == [[2.0, 3.0], [6.0, 7.0]]


if __name__ == "__main__":
    main()
