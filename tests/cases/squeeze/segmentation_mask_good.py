"""The channel of a predicted mask is squeezed without saying which axis.

Kind: squeeze.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class MaskHead(nn.Module):
    def __init__(self, in_channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, 1, kernel_size=1)

    def forward(self, feats: Float[Tensor, "b in_channels h w"]) -> Float[Tensor, "b h w"]:
        logits = self.conv(feats)
        return logits.squeeze(1)


def bce(head: MaskHead, feats: Float[Tensor, "b c h w"], masks: Float[Tensor, "b h w"]) -> Float[Tensor, ""]:
    return F.binary_cross_entropy_with_logits(head(feats), masks)


def main() -> None:
    for b in (3, 1):
        bce(MaskHead(4), torch.randn(b, 4, 6, 6), torch.zeros(b, 6, 6))


if __name__ == "__main__":
    main()
