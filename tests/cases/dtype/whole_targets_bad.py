"""Binary targets of integers go into a loss that computes with them.

Kind: dtype.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


def loss(logits: Float[Tensor, "b labels"], targets: Int[Tensor, "b labels"]) -> Float[Tensor, ""]:
    return F.binary_cross_entropy_with_logits(logits, targets)  # error[dtype]: a float dtype expected


def main() -> None:
    loss(torch.zeros(4, 3), torch.ones(4, 3, dtype=torch.long))


if __name__ == "__main__":
    main()
