"""Images lose their last one, labels do not."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shaped import TList

Batch = TList[Float[Tensor, "batch 3 32 32"], Int[Tensor, "batch"]]


def without_the_last(images: Float[Tensor, "n 3 32 32"], labels: Int[Tensor, "n"]) -> Batch:
    return Batch(images[:-1], labels)  # error[shape]: TList item 1: (n,) does not match "batch"


def main() -> None:
    try:
        without_the_last(torch.randn(6, 3, 32, 32), torch.arange(6))
    except TypeError as refused:
        raise ValueError from refused


if __name__ == "__main__":
    main()
