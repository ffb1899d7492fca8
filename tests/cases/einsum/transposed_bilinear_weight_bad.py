"""A bilinear form whose weight is stored the other way round.

Kind: einsum.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Bilinear(nn.Module):
    def __init__(self, left: int, right: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(right, left))

    def forward(self, x: Float[Tensor, "n left"], y: Float[Tensor, "n right"]) -> Float[Tensor, "n"]:
        return torch.einsum("ni,ij,nj->n", x, self.weight, y)  # error[shape]


def main() -> None:
    for n in (1, 3):
        assert Bilinear(4, 5)(torch.randn(n, 4), torch.randn(n, 5)).shape == (n,)


if __name__ == "__main__":
    main()
