"""The second of two results is annotated with the layout of the first.

Kind: structure.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


def kmeans_step(
    x: Float[Tensor, "n d"], centers: Float[Tensor, "k d"]
) -> tuple[Int[Tensor, "n"], Float[Tensor, "k d"]]:
    labels = torch.cdist(x, centers).argmin(dim=1)
    onehot = F.one_hot(labels, centers.shape[0]).float()
    sums = onehot.t() @ x
    return labels, sums / onehot.sum(dim=0).clamp(min=1)[:, None]


def main() -> None:
    for n in (5, 7):
        labels, centers = kmeans_step(torch.randn(n, 2), torch.randn(3, 2))
        assert centers.shape == (3, 2)


if __name__ == "__main__":
    main()
