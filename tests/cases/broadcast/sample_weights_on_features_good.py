"""One weight for each sample, multiplied with a matrix of features.

Kind: broadcast.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def weighted_mean(features: Float[Tensor, "n d"], weights: Float[Tensor, "n"]) -> Float[Tensor, "d"]:
    weights = weights / weights.sum()
    return (features * weights.unsqueeze(-1)).sum(dim=0)


def main() -> None:
    for n in (1, 5):
        assert weighted_mean(torch.randn(n if n > 1 else 2, 3), torch.rand(n if n > 1 else 2)).shape == (3,)


if __name__ == "__main__":
    main()
