"""Predictions for each token are compared with one label for each row.

Kind: loss.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


@torch.no_grad()
def accuracy(
    logits: Float[Tensor, "b t v"], labels: Int[Tensor, "b t"], lengths: Int[Tensor, "b"]
) -> Float[Tensor, ""]:
    preds = logits.argmax(dim=-1)
    positions = torch.arange(logits.size(1), device=logits.device)
    valid = positions[None, :] < lengths  # error[shape]
    correct = (preds == labels) & valid
    return correct.sum() / valid.sum()


def main() -> None:
    for b in (2, 3):
        accuracy(torch.randn(b, 5, 4), torch.zeros(b, 5, dtype=torch.long), torch.full((b,), 3))


if __name__ == "__main__":
    main()
