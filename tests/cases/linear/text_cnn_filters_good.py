"""A text CNN joins what three kernel sizes find, its head expects one.

Kind: linear.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn


class TextCNN(nn.Module):
    def __init__(self, vocab: int, embed_dim: int, n_filters: int, n_classes: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, embed_dim)
        self.convs = nn.ModuleList([nn.Conv1d(embed_dim, n_filters, k) for k in (3, 4, 5)])
        self.fc = nn.Linear(3 * n_filters, n_classes)

    def forward(self, tokens: Int[Tensor, "b t"]) -> Float[Tensor, "b n_classes"]:
        x = self.embedding(tokens).permute(0, 2, 1)
        pooled = [F.relu(conv(x)).max(dim=2).values for conv in self.convs]
        return self.fc(torch.cat(pooled, dim=1))


def main() -> None:
    for b in (1, 3):
        assert TextCNN(30, 8, 4, 2)(torch.randint(30, (b, 11))).shape == (b, 2)


if __name__ == "__main__":
    main()
