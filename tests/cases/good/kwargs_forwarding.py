"""Arguments are forwarded through wrappers."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Conv(nn.Module):
    def __init__(self, *args, act: bool = True, **kwargs) -> None:
        super().__init__()
        self.conv = nn.Conv2d(*args, **kwargs)
        self.act = nn.SiLU() if act else nn.Identity()

    def forward(self, x):
        return self.act(self.conv(x))


def same(c_in, c_out, k, **kwargs):
    kwargs.setdefault("padding", k // 2)
    return Conv(c_in, c_out, k, **kwargs)


class CSP(nn.Module):
    def __init__(self, c: int) -> None:
        super().__init__()
        options = {"bias": False, "stride": 1}
        self.cv1 = Conv(c, c // 2, 1, **options)
        self.cv2 = same(c // 2, c // 2, 3, act=False)
        self.cv3 = Conv(c // 2 * 2, c, 1)

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
        y = self.cv1(x)
        return x + self.cv3(torch.cat((y, self.cv2(y)), 1))


def main() -> None:
    for b in (1, 3):
        assert CSP(4)(torch.randn(b, 4, 5, 6)).shape == (b, 4, 5, 6)


if __name__ == "__main__":
    main()
