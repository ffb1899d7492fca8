"""A GRU without batch_first gets batch-first input and a state for the batch.

Kind: rnn.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn


class Decoder(nn.Module):
    def __init__(self, emb: int, hid: int, vocab: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb)
        self.gru = nn.GRU(emb, hid, batch_first=True)
        self.out = nn.Linear(hid, vocab)

    def forward(self, x: Int[Tensor, "b t"], hidden: Float[Tensor, "1 b hid"]) -> Float[Tensor, "b t vocab"]:
        emb = F.relu(self.embedding(x))
        output, hidden = self.gru(emb, hidden)
        return self.out(output)


def main() -> None:
    for b in (2, 3):
        assert Decoder(4, 5, 9)(torch.zeros(b, 6, dtype=torch.long), torch.zeros(1, b, 5)).shape == (b, 6, 9)


if __name__ == "__main__":
    main()
