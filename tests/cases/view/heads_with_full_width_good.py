"""The heads are cut off with the full width for each of them.

Kind: view.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class SelfAttention(nn.Module):
    def __init__(self, embed_size: int, heads: int) -> None:
        super().__init__()
        self.embed_size = embed_size
        self.heads = heads
        self.head_dim = embed_size // heads
        assert self.head_dim * heads == embed_size, "Embedding size needs to be divisible by heads"
        self.values = nn.Linear(embed_size, embed_size)
        self.fc_out = nn.Linear(embed_size, embed_size)

    def forward(self, x: Float[Tensor, "n length embed_size"]) -> Float[Tensor, "n length embed_size"]:
        n, length, _ = x.shape
        v = self.values(x).reshape(n, length, self.heads, self.head_dim)
        energy = torch.einsum("nqhd,nkhd->nhqk", v, v)
        out = torch.einsum("nhql,nlhd->nqhd", energy.softmax(dim=3), v)
        return self.fc_out(out.reshape(n, length, self.heads * self.head_dim))


def main() -> None:
    for n in (1, 3):
        assert SelfAttention(8, 2)(torch.randn(n, 5, 8)).shape == (n, 5, 8)


if __name__ == "__main__":
    main()
