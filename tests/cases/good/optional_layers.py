"""Layers that may be missing: None, Identity, and a projection only where it is needed."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Block(nn.Module):
    def __init__(self, c_in: int, c_out: int, norm: bool = True, attention: bool = False, p: float = 0.0) -> None:
        super().__init__()
        self.conv = nn.Conv1d(c_in, c_out, 3, padding="same")
        self.norm = nn.BatchNorm1d(c_out) if norm else nn.Identity()
        self.skip = nn.Conv1d(c_in, c_out, 1) if c_in != c_out else None
        self.attn = nn.MultiheadAttention(c_out, 1, batch_first=True) if attention else None
        self.drop = nn.Dropout(p) if p > 0 else nn.Identity()

    def forward(self, x: Float[Tensor, "b c_in t"]) -> Float[Tensor, "b c_out t"]:
        h = self.drop(self.norm(self.conv(x)))
        h = h + (self.skip(x) if self.skip is not None else x)
        if self.attn is not None:
            y = h.transpose(1, 2)
            h = h + self.attn(y, y, y)[0].transpose(1, 2)
        return h


def main() -> None:
    for block in (Block(4, 4), Block(4, 6, norm=False, attention=True), Block(4, 4, p=0.5)):
        block(torch.randn(2, 4, 7))


if __name__ == "__main__":
    main()
