"""Heads for several tasks in a ModuleDict; the sum of two has different widths.

Kind: structure.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class MultiTask(nn.Module):
    def __init__(self, d: int) -> None:
        super().__init__()
        self.trunk = nn.Linear(d, 16)
        self.heads = nn.ModuleDict({"depth": nn.Linear(16, 1), "class": nn.Linear(16, 10)})

    def forward(self, x: Float[Tensor, "b d"]) -> dict[str, Tensor]:
        h = F.relu(self.trunk(x))
        return {name: head(h) for name, head in self.heads.items()}

    def confidence(self, x: Float[Tensor, "b d"]) -> Float[Tensor, "b"]:
        h = F.relu(self.trunk(x))
        return self.heads["class"](h)  # error[shape]


def main() -> None:
    for b in (1, 2):
        assert MultiTask(4).confidence(torch.randn(b, 4)).shape == (b,)


if __name__ == "__main__":
    main()
