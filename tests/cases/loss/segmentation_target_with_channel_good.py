"""Label maps keep the channel that the image file had.

Kind: loss.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


def segmentation_loss(logits: Float[Tensor, "b classes h w"], masks: Int[Tensor, "b 1 h w"]) -> Float[Tensor, ""]:
    log_probs = F.log_softmax(logits, dim=1)
    return F.nll_loss(log_probs, masks.squeeze(1), ignore_index=255)


def main() -> None:
    for b in (1, 2):
        segmentation_loss(torch.randn(b, 4, 5, 6), torch.randint(4, (b, 1, 5, 6)))


if __name__ == "__main__":
    main()
