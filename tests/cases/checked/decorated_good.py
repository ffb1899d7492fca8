"""Functions, methods, coroutines and dataclasses under the decorators that check calls at run time."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from beartype import beartype
from jaxtyping import Float, jaxtyped
from torch import Tensor, nn

import shaped
from shaped import checked


@checked
def normalized(x: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
    return x / x.norm(dim=1, keepdim=True)


@shaped.checked()
def scores(queries: Float[Tensor, "n d"], keys: Float[Tensor, "m d"]) -> Float[Tensor, "n m"]:
    return normalized(queries) @ normalized(keys).T


@jaxtyped(typechecker=beartype)
def best(scores: Float[Tensor, "n m"]) -> Float[Tensor, "n"]:
    return scores.amax(1)


@beartype
def doubled(x: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
    return x * 2


class Head(nn.Module):
    def __init__(self, d: int) -> None:
        super().__init__()
        self.linear = nn.Linear(d, 4)

    @checked
    def forward(self, x: Float[Tensor, "b d"]) -> Float[Tensor, "b 4"]:
        return self.linear(x)

    @staticmethod
    @checked
    def pooled(x: Float[Tensor, "b t d"]) -> Float[Tensor, "b d"]:
        return x.mean(1)


@checked
@dataclass
class Batch:
    x: Float[Tensor, "b 3"]
    y: Float[Tensor, "b 1"]

    def both(self) -> Float[Tensor, "b 4"]:
        return torch.cat((self.x, self.y), dim=1)


@checked
def rows(x: Float[Tensor, "n d"]) -> Iterator[Float[Tensor, "d"]]:
    yield from x


@checked
async def fetched(x: Float[Tensor, "n d"]) -> Float[Tensor, "d n"]:
    return x.T


def main() -> None:
    x = torch.randn(6, 3)
    best(scores(x, torch.randn(2, 3)))
    doubled(x)
    Head(3)(Head.pooled(torch.randn(2, 5, 3)))
    Batch(x, torch.randn(6, 1)).both()
    list(rows(x))
    asyncio.run(fetched(x))


if __name__ == "__main__":
    main()
