"""Each element is repeated for its beams; the beams are taken apart as the outer axis.

Kind: axes.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def scores_of_beams(logits: Float[Tensor, "batch vocab"], beams: int) -> Tensor:
    batch, vocab = logits.shape
    wide = torch.repeat_interleave(logits, beams, dim=0).log_softmax(-1)
    return wide.view(batch, beams, vocab).transpose(0, 1)


def main() -> None:
    logits = torch.randn(3, 7)
    assert torch.equal(scores_of_beams(logits, 2)[1], logits.log_softmax(-1))


if __name__ == "__main__":
    main()
