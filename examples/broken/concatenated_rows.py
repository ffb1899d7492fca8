"""The features of an image and of its caption are joined along the batch instead of the features."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Match(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(512 + 300, 1)

    def forward(
        self, image: Float[Tensor, "batch 512"], caption: Float[Tensor, "batch 300"]
    ) -> Float[Tensor, "batch 1"]:
        joined = torch.cat((image, caption))  # error: shape
        return self.score(joined)


def main() -> None:
    Match()(torch.randn(4, 512), torch.randn(4, 300))


if __name__ == "__main__":
    main()
