"""The tokens of a vision transformer become a map again by a view of (b, n, c).

Kind: axes.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def to_map(tokens: Tensor, h: int, w: int) -> Tensor:
    b, _, c = tokens.shape
    return tokens.reshape(b, c, h, w)  # error[shape-axes]


def mixed(image: Float[Tensor, "b c h w"], mix: nn.Module) -> Tensor:
    h, w = image.shape[2:]
    tokens = image.flatten(2).transpose(1, 2)
    return to_map(mix(tokens).relu() + tokens, h, w)


def main() -> None:
    image = torch.randn(2, 5, 3, 4)
    assert torch.equal(mixed(image, nn.Identity())[:, :, 1, 2], image[:, :, 1, 2].relu() + image[:, :, 1, 2])


if __name__ == "__main__":
    main()
