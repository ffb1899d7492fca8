"""A bidirectional LSTM wants a state for each direction.

Kind: rnn.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class BiLSTM(nn.Module):
    def __init__(self, d: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.hidden, self.layers = hidden, layers
        self.lstm = nn.LSTM(d, hidden, num_layers=layers, bidirectional=True, batch_first=True)

    def forward(self, x: Float[Tensor, "b t d"]) -> Float[Tensor, "b t 2*hidden"]:
        h0 = x.new_zeros(2 * self.layers, x.size(0), self.hidden)
        c0 = x.new_zeros(2 * self.layers, x.size(0), self.hidden)
        out, _ = self.lstm(x, (h0, c0))
        return out


def main() -> None:
    for b in (2, 3):
        assert BiLSTM(4, 5, 2)(torch.randn(b, 6, 4)).shape == (b, 6, 10)


if __name__ == "__main__":
    main()
