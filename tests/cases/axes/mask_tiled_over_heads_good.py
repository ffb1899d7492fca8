"""Heads are merged into the batch behind it, the mask is laid over them in front of it.

Kind: axes.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def scores(
    q: Float[Tensor, "b t h d"], k: Float[Tensor, "b s h d"], mask: Bool[Tensor, "b t s"]
) -> Float[Tensor, "b*h t s"]:
    b, t, h, d = q.shape
    q = q.transpose(1, 2).reshape(b * h, t, d)
    k = k.transpose(1, 2).reshape(b * h, -1, d)
    found = q @ k.transpose(1, 2) / d**0.5
    return found.masked_fill(mask.repeat_interleave(h, 0), float("-inf"))


def main() -> None:
    mask = torch.stack((torch.zeros(3, 4, dtype=torch.bool), torch.ones(3, 4, dtype=torch.bool)))
    found = scores(torch.randn(2, 3, 2, 5), torch.randn(2, 4, 2, 5), mask)
    assert bool(found[:2].isfinite().all()) and not bool(found[2:].isfinite().any())


if __name__ == "__main__":
    main()
