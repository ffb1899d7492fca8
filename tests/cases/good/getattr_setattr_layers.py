"""Layers named by number, set and got by name."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Numbered(nn.Module):
    def __init__(self, sizes: list[int]) -> None:
        super().__init__()
        self.depth = len(sizes) - 1
        for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
            setattr(self, f"fc{i}", nn.Linear(a, b))
            self.add_module(f"norm{i}", nn.LayerNorm(b))

    def forward(self, x: Float[Tensor, "b d_in"]) -> Float[Tensor, "b d_out"]:
        for i in range(self.depth):
            x = getattr(self, f"norm{i}")(getattr(self, f"fc{i}")(x))
        return x


def main() -> None:
    for b in (1, 3):
        assert Numbered([4, 6, 2])(torch.randn(b, 4)).shape == (b, 2)


if __name__ == "__main__":
    main()
