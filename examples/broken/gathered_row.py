"""`gather` wants an index for each row, as a column; the labels are a row."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def chosen_log_probability(
    logits: Float[Tensor, "batch actions"], action: Int[Tensor, "batch"]
) -> Float[Tensor, "batch"]:
    log_probabilities = logits.log_softmax(dim=-1)
    return log_probabilities.gather(1, action)  # error: shape


def main() -> None:
    chosen_log_probability(torch.randn(8, 4), torch.randint(4, (8,)))


if __name__ == "__main__":
    main()
