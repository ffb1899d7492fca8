"""Frames are merged into the batch as (b, t) and taken apart as (t, b).

Kind: axes.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class FrameEncoder(nn.Module):
    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)

    def forward(self, video: Float[Tensor, "b t channels h w"]) -> Tensor:
        b, t = video.shape[:2]
        features = self.norm(self.conv(video.flatten(0, 1))).relu()
        pooled = features.mean(dim=(2, 3))
        return pooled.view(b, t, -1).transpose(0, 1)


def main() -> None:
    model, video = FrameEncoder(3, 4).eval(), torch.randn(2, 5, 3, 6, 6)
    frame = model.norm(model.conv(video[1, 2][None])).relu().mean(dim=(2, 3))
    assert torch.allclose(model(video)[2, 1], frame[0], atol=1e-5)


if __name__ == "__main__":
    main()
