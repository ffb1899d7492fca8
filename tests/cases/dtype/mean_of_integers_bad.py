"""The mean of integers is no integer, torch wants to know the type.

Kind: dtype.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def mean_length(lengths: Int[Tensor, "b"]) -> Float[Tensor, ""]:
    return lengths.mean()  # error[dtype]


def main() -> None:
    for b in (1, 2):
        assert mean_length(torch.ones(b, dtype=torch.long)).ndim == 0


if __name__ == "__main__":
    main()
