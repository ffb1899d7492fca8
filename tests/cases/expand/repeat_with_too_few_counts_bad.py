"""A tensor of rank three is repeated with two counts.

Kind: expand.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def tile_memory(memory: Float[Tensor, "b s d"], beams: int) -> Float[Tensor, "n s d"]:
    return memory.repeat(beams, 1)  # error[shape]


def main() -> None:
    for b in (1, 2):
        assert tile_memory(torch.randn(b, 3, 4), 5).shape == (5 * b, 3, 4)


if __name__ == "__main__":
    main()
