"""Token scores with the classes last go into a cross-entropy that wants them on dim 1.

Kind: loss.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class NerTagger(nn.Module):
    def __init__(self, vocab: int, hidden: int, n_tags: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, hidden)
        self.encoder = nn.LSTM(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, n_tags)
        self.criterion = nn.CrossEntropyLoss(ignore_index=-100)

    def forward(self, tokens: Int[Tensor, "b l"], tags: Int[Tensor, "b l"]) -> Float[Tensor, ""]:
        states, _ = self.encoder(self.embed(tokens))
        logits = self.out(states)
        return self.criterion(logits, tags)  # error[shape]


def main() -> None:
    for b in (1, 3):
        NerTagger(20, 8, 5)(torch.randint(20, (b, 7)), torch.randint(5, (b, 7)))


if __name__ == "__main__":
    main()
