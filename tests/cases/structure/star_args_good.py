"""Features of any number are joined; the layer was made for the sum of two of them.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def fuse(*features):
    return torch.cat(features, dim=-1)


class Fusion(nn.Module):
    def __init__(self, audio: int, video: int, text: int, out: int) -> None:
        super().__init__()
        self.proj = nn.Linear(audio + video + text, out)

    def forward(
        self, a: Float[Tensor, "b audio"], v: Float[Tensor, "b video"], t: Float[Tensor, "b text"]
    ) -> Float[Tensor, "b out"]:
        joined = fuse(a, v, t)
        return self.proj(joined)


def main() -> None:
    for b in (1, 3):
        assert Fusion(2, 3, 4, 5)(torch.randn(b, 2), torch.randn(b, 3), torch.randn(b, 4)).shape == (b, 5)


if __name__ == "__main__":
    main()
