"""The last batch of an epoch is smaller than the batch size that the model was written for."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


BATCH_SIZE = 32


class Classifier(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self.fc = nn.Linear(3 * 16 * 16, classes)

    def forward(self, images: Float[Tensor, "batch 3 16 16"]) -> Float[Tensor, "batch classes"]:
        x = images.view(BATCH_SIZE, 3 * 16 * 16)  # error: shape
        return self.fc(x)


def main() -> None:
    model = Classifier(classes=10)
    for batch in (32, 17):
        model(torch.randn(batch, 3, 16, 16))


if __name__ == "__main__":
    main()
