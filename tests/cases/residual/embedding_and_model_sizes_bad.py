"""Token embeddings of one size meet position embeddings of another.

Kind: residual.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class Embeddings(nn.Module):
    def __init__(self, vocab: int, d_embed: int, d_model: int, max_len: int) -> None:
        super().__init__()
        self.word = nn.Embedding(vocab, d_embed)
        self.project = nn.Linear(d_embed, d_model)
        self.position = nn.Embedding(max_len, d_model)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids: Int[Tensor, "b t"]) -> Float[Tensor, "b t d_model"]:
        pos = torch.arange(ids.size(1), device=ids.device)
        x = self.word(ids) + self.position(pos)  # error[shape]
        return self.norm(x)


def main() -> None:
    for b in (1, 2):
        assert Embeddings(30, 4, 6, 16)(torch.randint(30, (b, 9))).shape == (b, 9, 6)


if __name__ == "__main__":
    main()
