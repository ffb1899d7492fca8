"""The initial hidden state is made for the batch size of the training loader.

Kind: batch.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

BATCH_SIZE = 64


class CharRNN(nn.Module):
    def __init__(self, vocab: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Embedding(vocab, hidden)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x: Int[Tensor, "batch seq"]) -> Float[Tensor, "batch seq vocab"]:
        h0 = torch.zeros(1, x.size(0), self.hidden)
        y, _ = self.rnn(self.embed(x), h0)
        return self.out(y)


def main() -> None:
    for b in (64, 3):
        assert CharRNN(9, 4)(torch.randint(9, (b, 5))).shape == (b, 5, 9)


if __name__ == "__main__":
    main()
