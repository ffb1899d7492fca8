"""Functions chosen by name, stored in tables, and called through wrappers."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "none": lambda x: x}


def pool_mean(x):
    return x.mean(1)


def pool_last(x):
    return x[:, -1]


class Residual(nn.Module):
    def __init__(self, fn) -> None:
        super().__init__()
        self.fn = fn

    def forward(self, x, *args, **kwargs):
        return x + self.fn(x, *args, **kwargs)


class PreNorm(nn.Module):
    def __init__(self, dim: int, fn: nn.Module) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fn = fn

    def forward(self, x, **kwargs):
        return self.fn(self.norm(x), **kwargs)


class Model(nn.Module):
    def __init__(self, dim: int, act: str, pool: str) -> None:
        super().__init__()
        self.act = ACTIVATIONS[act]
        self.pool = {"mean": pool_mean, "last": pool_last}[pool]
        ff = nn.Sequential(nn.Linear(dim, 3 * dim), nn.GELU(), nn.Linear(3 * dim, dim))
        self.block = Residual(PreNorm(dim, ff))

    def forward(self, x: Float[Tensor, "b t dim"]) -> Float[Tensor, "b dim"]:
        return self.pool(self.act(self.block(x)))


def main() -> None:
    for act in ACTIVATIONS:
        for pool in ("mean", "last"):
            assert Model(4, act, pool)(torch.randn(2, 3, 4)).shape == (2, 4)


if __name__ == "__main__":
    main()
