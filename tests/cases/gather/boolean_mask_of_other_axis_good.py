"""A mask over samples selects from the axis of the features.

Kind: gather.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def keep_confident(
    feats: Float[Tensor, "n d"], scores: Float[Tensor, "n"], threshold: float = 0.5
) -> Float[Tensor, "k d"]:
    keep = scores > threshold
    return feats[keep]


def main() -> None:
    for n in (2, 7):
        assert keep_confident(torch.randn(n, 4), torch.ones(n)).shape == (n, 4)


if __name__ == "__main__":
    main()
