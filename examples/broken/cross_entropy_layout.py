"""Cross-entropy wants the classes on dim 1; here they are last."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


def loss_of(logits: Float[Tensor, "batch seq vocab"], targets: Int[Tensor, "batch seq"]) -> Float[Tensor, ""]:
    return F.cross_entropy(logits, targets)  # error: shape


def main() -> None:
    loss_of(torch.randn(2, 7, 50), torch.randint(50, (2, 7)))


if __name__ == "__main__":
    main()
