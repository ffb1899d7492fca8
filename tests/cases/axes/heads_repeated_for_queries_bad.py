"""Expanded heads are merged with the repeats in front of the heads.

Kind: axes.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class RepeatHeads(nn.Module):
    def __init__(self, repeats: int) -> None:
        super().__init__()
        self.repeats = repeats

    def forward(self, k: Float[Tensor, "b heads t d"]) -> Float[Tensor, "b heads*{self.repeats} t d"]:
        b, heads, t, d = k.shape
        wide = k[:, None].expand(b, self.repeats, heads, t, d)
        return wide.reshape(b, self.repeats * heads, t, d)  # error[shape-axes]


def main() -> None:
    k = torch.arange(2.0)[:, None, None].expand(1, 2, 3, 4)
    assert RepeatHeads(2)(k)[0, :, 0, 0].tolist() == [0, 0, 1, 1]


if __name__ == "__main__":
    main()
