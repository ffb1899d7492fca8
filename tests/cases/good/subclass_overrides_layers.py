"""Subclasses replace layers that the base made, and mixins add methods."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Base(nn.Module):
    def __init__(self, d: int) -> None:
        super().__init__()
        self.d = d
        self.proj = nn.Linear(d, d)
        self.head = self.build_head()

    def build_head(self) -> nn.Module:
        return nn.Linear(self.d, 1)

    def features(self, x):
        return torch.relu(self.proj(x))

    def forward(self, x):
        return self.head(self.features(x))


class NormMixin:
    def normalized(self, x):
        f = self.features(x)
        return f / f.norm(dim=-1, keepdim=True)


class Wide(NormMixin, Base):
    def __init__(self, d: int, width: int) -> None:
        self.width = width
        super().__init__(d)
        self.proj = nn.Linear(d, width)

    def build_head(self) -> nn.Module:
        return nn.Sequential(nn.Linear(self.width, 4), nn.ReLU(), nn.Linear(4, 2))


def use(base: Base, wide: Wide, x: Float[Tensor, "b d"]) -> tuple[Tensor, Tensor, Tensor]:
    return base(x), wide(x), wide.normalized(x)


def main() -> None:
    for b in (1, 3):
        one, two, three = use(Base(3), Wide(3, 6), torch.randn(b, 3))
        assert one.shape == (b, 1) and two.shape == (b, 2) and three.shape == (b, 6)


if __name__ == "__main__":
    main()
