"""The cached keys are stored transposed, and the new ones are joined as if they were not.

Kind: cat.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def extend_cache(past_key: Float[Tensor, "b h d past"], key: Float[Tensor, "b h t d"]) -> Float[Tensor, "b h d total"]:
    return torch.cat((past_key, key), dim=-2)  # error[shape]


def main() -> None:
    for b in (1, 3):
        assert extend_cache(torch.randn(b, 2, 4, 9), torch.randn(b, 2, 1, 4)).shape == (b, 2, 4, 10)


if __name__ == "__main__":
    main()
