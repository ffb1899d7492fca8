"""An MLP built from a list of sizes, whose output layer starts from the first hidden size.

Kind: linear.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class Mlp(nn.Module):
    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__()
        hidden = [128, 64]
        sizes = [input_size] + hidden
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:])])
        self.out = nn.Linear(hidden[0], output_size)

    def forward(self, x: Float[Tensor, "n input_size"]) -> Float[Tensor, "n output_size"]:
        for layer in self.layers:
            x = F.relu(layer(x))
        return self.out(x)  # error[shape]: 64


def main() -> None:
    for n in (1, 6):
        assert Mlp(10, 3)(torch.randn(n, 10)).shape == (n, 3)


if __name__ == "__main__":
    main()
