"""A U-Net with one level: an image of odd height comes back from below one row short."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class SmallUNet(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.encode = nn.Conv2d(1, width, kernel_size=3, padding=1)
        self.bottom = nn.Conv2d(width, 2 * width, kernel_size=3, padding=1)
        self.up = nn.ConvTranspose2d(2 * width, width, kernel_size=2, stride=2)
        self.head = nn.Conv2d(2 * width, 1, kernel_size=1)

    def forward(self, images: Float[Tensor, "batch 1 h w"]) -> Float[Tensor, "batch 1 h w"]:
        skip = F.relu(self.encode(images))
        x = F.relu(self.bottom(F.max_pool2d(skip, 2)))
        x = torch.cat((skip, self.up(x)), dim=1)  # error: shape
        return self.head(x)


def main() -> None:
    unet = SmallUNet(width=4)
    for size in (16, 15):
        unet(torch.randn(1, 1, size, size))


if __name__ == "__main__":
    main()
