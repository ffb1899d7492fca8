"""The vectors of the context are flattened, the first layer is as wide as one of them.

Kind: linear.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn


class NGramLanguageModeler(nn.Module):
    def __init__(self, vocab_size: int, embedding_dim: int, context_size: int):
        super().__init__()
        self.embeddings = nn.Embedding(vocab_size, embedding_dim)
        self.linear1 = nn.Linear(context_size * embedding_dim, 128)
        self.linear2 = nn.Linear(128, vocab_size)

    def forward(self, inputs: Int[Tensor, "batch context_size"]) -> Float[Tensor, "batch vocab_size"]:
        embeds = self.embeddings(inputs).view(inputs.shape[0], -1)
        out = F.relu(self.linear1(embeds))
        out = self.linear2(out)
        return F.log_softmax(out, dim=1)


def main() -> None:
    for b in (1, 2):
        assert NGramLanguageModeler(40, 5, 3)(torch.randint(40, (b, 3))).shape == (b, 40)


if __name__ == "__main__":
    main()
