"""Batches from a generator, a tree by recursion."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def batches(x: Float[Tensor, "n d"], size: int):
    for start in range(0, x.shape[0], size):
        yield x[start : start + size]


def encode_all(net: nn.Linear, x: Float[Tensor, "n d"]) -> Float[Tensor, "n e"]:
    return torch.cat([net(chunk) for chunk in batches(x, 4)], dim=0)


def reduce_pairs(xs: list[Tensor]) -> Tensor:
    if len(xs) == 1:
        return xs[0]
    middle = len(xs) // 2
    return reduce_pairs(xs[:middle]) + reduce_pairs(xs[middle:])


class Tree(nn.Module):
    def __init__(self, dim: int, depth: int) -> None:
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.child = Tree(dim, depth - 1) if depth > 0 else None

    def forward(self, x: Float[Tensor, "b dim"]) -> Float[Tensor, "b dim"]:
        x = self.fc(x)
        return x if self.child is None else self.child(x)


def main() -> None:
    assert encode_all(nn.Linear(3, 5), torch.randn(10, 3)).shape == (10, 5)
    assert reduce_pairs([torch.randn(2, 3) for _ in range(5)]).shape == (2, 3)
    assert Tree(3, 2)(torch.randn(4, 3)).shape == (4, 3)


if __name__ == "__main__":
    main()
