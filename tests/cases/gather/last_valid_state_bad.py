"""The last valid state of each row is picked with a range over time instead of rows.

Kind: gather.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def last_states(outputs: Float[Tensor, "b t h"], lengths: Int[Tensor, "b"]) -> Float[Tensor, "b h"]:
    rows = torch.arange(outputs.size(1), device=outputs.device)
    return outputs[rows, lengths - 1]  # error[shape]


def main() -> None:
    for b in (2, 3):
        assert last_states(torch.randn(b, 5, 4), torch.full((b,), 2)).shape == (b, 4)


if __name__ == "__main__":
    main()
