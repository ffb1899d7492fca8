"""One batch size for the items of a list, made by the type of the list."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shaped import TList

Batch = TList[Float[Tensor, "batch 3 32 32"], Int[Tensor, "batch"]]


def shuffled(images: Float[Tensor, "n 3 32 32"], labels: Int[Tensor, "n"]) -> Batch:
    order = torch.randperm(images.shape[0])
    return Batch(images[order], labels[order])


def main() -> None:
    images, labels = shuffled(torch.randn(6, 3, 32, 32), torch.arange(6))
    assert images.shape[0] == labels.shape[0]


if __name__ == "__main__":
    main()
