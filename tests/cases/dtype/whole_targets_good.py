"""Binary targets of integers are made floats; class targets, and those of a squared error, need not be.

Kind: dtype.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


def loss(logits: Float[Tensor, "b labels"], targets: Int[Tensor, "b labels"]) -> Float[Tensor, ""]:
    return F.binary_cross_entropy_with_logits(logits, targets.to(logits.dtype))


def class_loss(logits: Float[Tensor, "b classes"], targets: Int[Tensor, "b"]) -> Float[Tensor, ""]:
    return F.cross_entropy(logits, targets)


def squared(outputs: Float[Tensor, "b"], targets: Int[Tensor, "b"]) -> Float[Tensor, ""]:
    return F.mse_loss(outputs, targets)


def main() -> None:
    loss(torch.zeros(4, 3), torch.ones(4, 3, dtype=torch.long))
    class_loss(torch.zeros(4, 3), torch.ones(4, dtype=torch.long))
    squared(torch.zeros(4), torch.ones(4, dtype=torch.long))


if __name__ == "__main__":
    main()
