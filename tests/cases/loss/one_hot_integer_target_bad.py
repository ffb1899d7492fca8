"""Cross-entropy takes one-hot targets as probabilities, and those are floats.

Kind: loss.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


def soft_target_loss(logits: Float[Tensor, "b classes"], labels: Int[Tensor, "b"], classes: int) -> Float[Tensor, ""]:
    target = F.one_hot(labels, classes)
    return F.cross_entropy(logits, target)  # error[dtype]


def main() -> None:
    for b in (1, 4):
        soft_target_loss(torch.randn(b, 3), torch.randint(3, (b,)), 3)


if __name__ == "__main__":
    main()
