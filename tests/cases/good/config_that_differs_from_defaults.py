"""A configuration whose defaults do not fit together, but whose instances do."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn


@dataclass
class Config:
    in_dim: int = 10
    hidden: int = 20
    heads: int = 3
    tie: bool = False
    out_dim: int | None = None

    @property
    def head_dim(self) -> int:
        return self.hidden // self.heads


class Model(nn.Module):
    def __init__(self, cfg: Config) -> None:
        super().__init__()
        if cfg.hidden % cfg.heads != 0:
            raise ValueError("hidden must be a multiple of heads")
        self.cfg = cfg
        self.fc = nn.Linear(cfg.in_dim, cfg.hidden)
        self.out = nn.Linear(cfg.hidden, cfg.out_dim or cfg.in_dim)

    def forward(self, x: Float[Tensor, "b t in_dim"]) -> Float[Tensor, "b t out_dim"]:
        b, t, _ = x.shape
        h = self.fc(x).view(b, t, self.cfg.heads, self.cfg.head_dim)
        h = h.flatten(2)
        return self.out(h)


SMALL = Config(hidden=12, heads=4)


def main() -> None:
    for b in (1, 3):
        assert Model(SMALL)(torch.randn(b, 2, 10)).shape == (b, 2, 10)
        assert Model(Config(in_dim=5, hidden=6, out_dim=7))(torch.randn(b, 2, 5)).shape == (b, 2, 7)


if __name__ == "__main__":
    main()
