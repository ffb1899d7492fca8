"""Rows are divided by their norms, which lost the axis.

Kind: broadcast.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def unit_vectors(x: Float[Tensor, "b t d"], eps: float = 1e-8) -> Float[Tensor, "b t d"]:
    return x / (x.norm(dim=-1) + eps)  # error[shape]


def cosine_matrix(a: Float[Tensor, "b t d"], c: Float[Tensor, "b s d"]) -> Float[Tensor, "b t s"]:
    return torch.bmm(unit_vectors(a), unit_vectors(c).transpose(1, 2))


def main() -> None:
    for b in (1, 2):
        assert cosine_matrix(torch.randn(b, 5, 4), torch.randn(b, 6, 4)).shape == (b, 5, 6)


if __name__ == "__main__":
    main()
