"""A closure reshapes with the sizes of another tensor.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def make_unflatten(reference):
    b, t, _ = reference.shape

    def unflatten(flat):
        return flat.view(t, b, -1, 2)  # cause

    return unflatten


def per_step(x: Float[Tensor, "b t d"], w: Float[Tensor, "d e"]) -> Float[Tensor, "b t e"]:
    unflatten = make_unflatten(x)
    flat = x.reshape(-1, x.shape[-1]) @ w
    return unflatten(flat)  # error[shape]


def main() -> None:
    for b in (1, 3):
        assert per_step(torch.randn(b, 5, 3), torch.randn(3, 4)).shape == (b, 5, 4)


if __name__ == "__main__":
    main()
