"""The keys have their heads behind the positions; the equation reads them the other way round."""

import torch
from jaxtyping import Float
from torch import Tensor


def attention_scores(
    q: Float[Tensor, "batch heads queries d_head"], k: Float[Tensor, "batch keys heads d_head"]
) -> Float[Tensor, "batch heads queries keys"]:
    return torch.einsum("bhqd,bhkd->bhqk", q, k)  # error: shape


def main() -> None:
    attention_scores(torch.randn(2, 4, 6, 16), torch.randn(2, 9, 4, 16))


if __name__ == "__main__":
    main()
