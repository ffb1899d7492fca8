"""Shifted windows: partition, reverse, roll."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def window_partition(x, ws):
    b, h, w, c = x.shape
    x = x.view(b, h // ws, ws, w // ws, ws, c)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, ws, ws, c)


def window_reverse(windows, ws, h, w):
    b = int(windows.shape[0] / (h * w / ws / ws))
    x = windows.view(b, h // ws, w // ws, ws, ws, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(b, h, w, -1)


class SwinBlock(nn.Module):
    def __init__(self, dim: int, resolution: tuple[int, int], ws: int = 4, shift: int = 0) -> None:
        super().__init__()
        self.resolution, self.ws, self.shift = resolution, ws, shift
        self.norm = nn.LayerNorm(dim)
        self.mix = nn.Linear(ws * ws, ws * ws)

    def forward(self, x: Float[Tensor, "b l dim"]) -> Float[Tensor, "b l dim"]:
        h, w = self.resolution
        b, length, c = x.shape
        assert length == h * w, "input feature has wrong size"
        shortcut = x
        x = self.norm(x).view(b, h, w, c)
        if self.shift > 0:
            x = torch.roll(x, shifts=(-self.shift, -self.shift), dims=(1, 2))
        windows = window_partition(x, self.ws).view(-1, self.ws * self.ws, c)
        windows = self.mix(windows.transpose(1, 2)).transpose(1, 2)
        x = window_reverse(windows.reshape(-1, self.ws, self.ws, c), self.ws, h, w)
        if self.shift > 0:
            x = torch.roll(x, shifts=(self.shift, self.shift), dims=(1, 2))
        return shortcut + x.view(b, h * w, c)


class PatchMerging(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)

    def forward(self, x: Float[Tensor, "b 2*h 2*w dim"]) -> Float[Tensor, "b h w 2*dim"]:
        x0 = x[:, 0::2, 0::2, :]
        x1 = x[:, 1::2, 0::2, :]
        x2 = x[:, 0::2, 1::2, :]
        x3 = x[:, 1::2, 1::2, :]
        return self.reduction(torch.cat([x0, x1, x2, x3], -1))


def main() -> None:
    for b in (1, 2):
        for shift in (0, 2):
            assert SwinBlock(6, (8, 12), shift=shift)(torch.randn(b, 96, 6)).shape == (b, 96, 6)
        assert PatchMerging(6)(torch.randn(b, 8, 12, 6)).shape == (b, 4, 6, 12)


if __name__ == "__main__":
    main()
