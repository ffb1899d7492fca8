"""Ages are put into buckets of ten years with a true division: floats are no indices."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class AgeEmbedding(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.decades = nn.Embedding(12, d_model)

    def forward(self, years: Int[Tensor, "batch"]) -> Float[Tensor, "batch d_model"]:
        return self.decades(torch.floor(years / 10))  # error: dtype


def main() -> None:
    AgeEmbedding(d_model=16)(torch.tensor([3, 47, 90]))


if __name__ == "__main__":
    main()
