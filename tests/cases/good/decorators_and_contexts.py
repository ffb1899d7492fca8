"""no_grad, autocast, custom decorators, context managers and cached properties."""

import functools

import torch
from jaxtyping import Float
from torch import Tensor, nn


def timed(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)

    return wrapper


class Ema(nn.Module):
    def __init__(self, d: int) -> None:
        super().__init__()
        self.net = nn.Linear(d, 2 * d)
        self.register_buffer("avg", torch.zeros(2 * d))
        self.d = d

    @functools.cached_property
    def width(self) -> int:
        return self.net.out_features

    @staticmethod
    def normalize(x):
        return x / x.norm(dim=-1, keepdim=True)

    @classmethod
    def small(cls) -> "Ema":
        return cls(3)

    @timed
    @torch.no_grad()
    def update(self, x: Float[Tensor, "b d"]) -> Float[Tensor, "2*d"]:
        with torch.autocast("cpu", enabled=False):
            y = self.net(x).mean(0)
        self.avg.mul_(0.9).add_(y, alpha=0.1)
        return self.avg

    def forward(self, x: Float[Tensor, "b d"]) -> Float[Tensor, "b 2*d"]:
        with torch.no_grad(), torch.enable_grad():
            y = self.normalize(self.net(x))
        return y.view(-1, self.width) + self.avg


def main() -> None:
    for b in (1, 3):
        ema = Ema.small()
        assert ema.update(torch.randn(b, 3)).shape == (6,)
        assert ema(torch.randn(b, 3)).shape == (b, 6)


if __name__ == "__main__":
    main()
