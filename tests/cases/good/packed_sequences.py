"""Packing and unpacking around an LSTM."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class PackedEncoder(nn.Module):
    def __init__(self, d: int, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(d, hidden, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * hidden, hidden)

    def forward(
        self, x: Float[Tensor, "b t d"], lengths: Int[Tensor, "b"]
    ) -> tuple[Float[Tensor, "b t2 2*hidden"], Float[Tensor, "b hidden"]]:
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        out, (h, _) = self.lstm(packed)
        out, _ = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
        h = torch.cat((h[0], h[1]), dim=-1)
        return out, torch.tanh(self.bridge(h))


def main() -> None:
    for b in (1, 3):
        out, h = PackedEncoder(4, 5)(torch.randn(b, 6, 4), torch.full((b,), 6))
        assert out.shape == (b, 6, 10) and h.shape == (b, 5)


if __name__ == "__main__":
    main()
