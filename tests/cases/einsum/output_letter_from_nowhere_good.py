"""A letter of the output is in no input.

Kind: einsum.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def batched_outer(u: Float[Tensor, "batch n"], v: Float[Tensor, "batch m"]) -> Float[Tensor, "batch n m"]:
    return torch.einsum("bi,bj->bij", u, v)


def main() -> None:
    for b in (1, 3):
        assert batched_outer(torch.randn(b, 2), torch.randn(b, 5)).shape == (b, 2, 5)


if __name__ == "__main__":
    main()
