"""Cross-attention hides keys with the mask of the queries.

Kind: mask.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor


def cross_attention(
    q: Float[Tensor, "b h tq d"],
    k: Float[Tensor, "b h tk d"],
    v: Float[Tensor, "b h tk d"],
    src_mask: Bool[Tensor, "b tk"],
    tgt_mask: Bool[Tensor, "b tq"],
) -> Float[Tensor, "b h tq d"]:
    scores = torch.matmul(q, k.transpose(-1, -2)) / q.size(-1) ** 0.5
    scores = scores.masked_fill(src_mask[:, None, None, :] == 0, -1e9)
    out = torch.matmul(F.softmax(scores, dim=-1), v)
    return out * tgt_mask[:, None, :, None]


def main() -> None:
    for b in (1, 3):
        q, k = torch.randn(b, 2, 5, 4), torch.randn(b, 2, 7, 4)
        src, tgt = torch.ones(b, 7, dtype=torch.bool), torch.ones(b, 5, dtype=torch.bool)
        assert cross_attention(q, k, k, src, tgt).shape == (b, 2, 5, 4)


if __name__ == "__main__":
    main()
