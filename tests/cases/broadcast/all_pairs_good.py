"""Pairs of all samples that are meant: classes, distances, a ranking and a kernel."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def of_one_class(labels: Int[Tensor, "b"]) -> Bool[Tensor, "b b"]:
    return labels[:, None] == labels


def squared_distances(x: Float[Tensor, "n d"]) -> Tensor:
    squares = (x**2).sum(1, keepdim=True)
    return squares + (x**2).sum(1) - 2 * x @ x.T


def ranks(scores: Float[Tensor, "b n"], right: Int[Tensor, "b"]) -> Tensor:
    return (scores > scores.gather(1, right[:, None])).sum(1)


def kernel(x: Float[Tensor, "n 1"]) -> Float[Tensor, "n n"]:
    return torch.exp(-((x - x.squeeze(-1)) ** 2))


def main() -> None:
    labels = torch.tensor([0, 1, 0])
    assert of_one_class(labels).shape == (3, 3)
    assert squared_distances(torch.randn(3, 2)).shape == (3, 3)
    assert ranks(torch.randn(3, 2), labels).shape == (3,)
    assert kernel(torch.randn(3, 1)).shape == (3, 3)


if __name__ == "__main__":
    main()
