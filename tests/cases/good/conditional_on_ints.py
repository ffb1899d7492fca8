"""Branches on sizes: what is asked about is known inside."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class Adapter(nn.Module):
    def __init__(self, c_in: int, c_out: int, stride: int = 1) -> None:
        super().__init__()
        self.identity = stride == 1 and c_in == c_out
        if not self.identity:
            self.proj = nn.Conv2d(c_in, c_out, 1, stride=stride)
        self.conv = nn.Conv2d(c_in, c_out, 3, stride=stride, padding=1)

    def forward(self, x: Float[Tensor, "b c_in h w"]) -> Float[Tensor, "b c_out h2 w2"]:
        if self.identity:
            return x + self.conv(x)
        return self.proj(x) + self.conv(x)


def match_size(x: Tensor, reference: Tensor) -> Tensor:
    if x.shape[-2:] != reference.shape[-2:]:
        x = F.interpolate(x, size=reference.shape[-2:], mode="nearest")
    return torch.cat([x, reference], dim=1)


def pad_to(x: Float[Tensor, "b t"], length: int) -> Float[Tensor, "b n"]:
    if x.size(1) > length:
        return x[:, :length]
    if x.size(1) < length:
        pad = x.new_zeros(x.size(0), length - x.size(1))
        x = torch.cat([x, pad], dim=1)
    return x


def add_bias(x: Float[Tensor, "b d"], bias: Tensor) -> Float[Tensor, "b d"]:
    if bias.dim() == 1:
        bias = bias.unsqueeze(0)
    elif bias.ndim == 0:
        return x + bias
    return x + bias


def main() -> None:
    for args in ((3, 3), (3, 4), (3, 3, 2)):
        Adapter(*args)(torch.randn(2, 3, 7, 8))
    assert match_size(torch.randn(2, 3, 4, 4), torch.randn(2, 5, 7, 7)).shape == (2, 8, 7, 7)
    for n in (2, 4, 9):
        assert pad_to(torch.randn(2, 4), n).shape == (2, n)
    assert add_bias(torch.randn(2, 3), torch.zeros(3)).shape == (2, 3)


if __name__ == "__main__":
    main()
