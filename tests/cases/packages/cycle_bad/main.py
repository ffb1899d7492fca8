"""Two modules that import each other; the queries live in one of them and are read in the other."""

import attention
import torch
from jaxtyping import Float
from torch import Tensor, nn


class Pooler(nn.Module):
    def __init__(self, n: int, d: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(1, n, d))

    def forward(self, tokens: Float[Tensor, "b t d"]) -> Float[Tensor, "b n d"]:
        return attention.pool(self, tokens)  # cause: the call


def main() -> None:
    for b in (1, 3):
        assert Pooler(2, 4)(torch.randn(b, 5, 4)).shape == (b, 2, 4)


if __name__ == "__main__":
    main()
