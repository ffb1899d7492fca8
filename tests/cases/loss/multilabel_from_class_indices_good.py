"""A multi-label loss gets class indices instead of rows of zeros and ones.

Kind: loss.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class MultiLabel(nn.Module):
    def __init__(self, d: int, n_labels: int) -> None:
        super().__init__()
        self.fc = nn.Linear(d, n_labels)
        self.loss_fn = nn.BCEWithLogitsLoss()

    def training_step(self, feats: Float[Tensor, "b d"], labels: Float[Tensor, "b n_labels"]) -> Float[Tensor, ""]:
        return self.loss_fn(self.fc(feats), labels)


def main() -> None:
    for b in (1, 3):
        MultiLabel(4, 6).training_step(torch.randn(b, 4), torch.ones(b, 6))


if __name__ == "__main__":
    main()
