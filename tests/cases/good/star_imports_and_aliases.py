"""Names from star imports and aliases of modules and types."""

from math import *

import torch as th
import torch.nn as tnn
from jaxtyping import Float

Image = Float[th.Tensor, "3 h w"]
Batch = Float[th.Tensor, "b 3 h w"]


class Stem(tnn.Module):
    def __init__(self, c: int) -> None:
        super().__init__()
        self.layers = tnn.ModuleList([tnn.Conv2d(3, c, 3, padding=1), tnn.Conv2d(c, c, 3, padding=1)])

    def forward(self, x: Batch) -> Float[th.Tensor, "b c h w"]:
        for layer in self.layers:
            x = layer(x)
        return x * sqrt(2)


def to_batch(images: list[Image]) -> Batch:
    return th.stack(images)


def main() -> None:
    for b in (1, 3):
        assert Stem(4)(to_batch([th.randn(3, 5, 6)] * b)).shape == (b, 4, 5, 6)


if __name__ == "__main__":
    main()
