"""A class token is stacked with the sequence that it should precede.

Kind: cat.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class ClsToken(nn.Module):
    def __init__(self, d: int) -> None:
        super().__init__()
        self.cls = nn.Parameter(torch.zeros(d))

    def forward(self, x: Float[Tensor, "b t d"]) -> Float[Tensor, "b t+1 d"]:
        cls = self.cls.expand(x.shape[0], 1, -1)
        return torch.stack([cls, x], dim=1)  # error[shape]


def main() -> None:
    for b in (1, 3):
        assert ClsToken(4)(torch.randn(b, 5, 4)).shape == (b, 6, 4)


if __name__ == "__main__":
    main()
