"""The log-probability of each token, gathered without an axis for the vocabulary.

Kind: gather.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def token_log_probs(logits: Float[Tensor, "b t v"], ids: Int[Tensor, "b t"]) -> Float[Tensor, "b t"]:
    logps = torch.log_softmax(logits, dim=-1)
    return torch.gather(logps, dim=2, index=ids)  # error[shape]


def main() -> None:
    for b in (1, 2):
        assert token_log_probs(torch.randn(b, 4, 6), torch.zeros(b, 4, dtype=torch.long)).shape == (b, 4)


if __name__ == "__main__":
    main()
