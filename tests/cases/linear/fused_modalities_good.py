"""Image and text features are joined, the head knows of one of them only.

Kind: linear.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class LateFusion(nn.Module):
    def __init__(self, image_dim: int, text_dim: int, hidden: int) -> None:
        super().__init__()
        self.image_proj = nn.Linear(image_dim, hidden)
        self.text_proj = nn.Linear(text_dim, hidden)
        self.classifier = nn.Linear(2 * hidden, 2)

    def forward(
        self, image: Float[Tensor, "batch image_dim"], text: Float[Tensor, "batch text_dim"]
    ) -> Float[Tensor, "batch 2"]:
        fused = torch.cat([self.image_proj(image), self.text_proj(text)], dim=-1)
        fused = torch.tanh(fused)
        return self.classifier(fused)


def main() -> None:
    for b in (1, 3):
        assert LateFusion(7, 9, 4)(torch.randn(b, 7), torch.randn(b, 9)).shape == (b, 2)


if __name__ == "__main__":
    main()
