"""Both directions of an LSTM are concatenated, the head expects one.

Kind: linear.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class SentimentLSTM(nn.Module):
    def __init__(self, vocab_size: int, embedding_dim: int, hidden_dim: int, output_dim: int):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, num_layers=2, bidirectional=True, batch_first=True, dropout=0.1)
        self.fc = nn.Linear(hidden_dim, output_dim)
        self.dropout = nn.Dropout(0.3)

    def forward(self, text: Int[Tensor, "batch seq"]) -> Float[Tensor, "batch output_dim"]:
        embedded = self.dropout(self.embedding(text))
        output, (hidden, cell) = self.lstm(embedded)
        hidden = self.dropout(torch.cat((hidden[-2, :, :], hidden[-1, :, :]), dim=1))
        return self.fc(hidden)  # error[shape]


def main() -> None:
    for b in (1, 4):
        assert SentimentLSTM(20, 6, 5, 1)(torch.randint(20, (b, 7))).shape == (b, 1)


if __name__ == "__main__":
    main()
