"""An image decoder gives the channels last; a convolution wants them on dim 1."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Encoder(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, d_model, kernel_size=3, padding=1)
        self.norm = nn.BatchNorm2d(d_model)

    def forward(self, images: Float[Tensor, "batch h w 3"]) -> Float[Tensor, "batch d_model h w"]:
        return self.norm(self.conv(images))  # error: shape


def main() -> None:
    Encoder(d_model=8)(torch.randn(2, 32, 32, 3))


if __name__ == "__main__":
    main()
