"""The frames of a video were folded into the batch and are unfolded with the wrong count.

Kind: view.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class VideoEncoder(nn.Module):
    def __init__(self, d: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, d, 3, padding=1)

    def forward(self, video: Float[Tensor, "b t 3 h w"]) -> Float[Tensor, "b t d"]:
        b, t, c, h, w = video.shape
        x = self.conv(video.reshape(b * t, c, h, w))
        x = x.mean(dim=(-2, -1))
        return x.view(b, c, -1)  # error[shape]


def main() -> None:
    for b in (1, 2):
        assert VideoEncoder(5)(torch.randn(b, 4, 3, 6, 6)).shape == (b, 4, 5)


if __name__ == "__main__":
    main()
