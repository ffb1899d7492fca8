"""A padded batch, samples first, is packed as such.

Kind: rnn.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Encoder(nn.Module):
    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.gru = nn.GRU(features, hidden, batch_first=True)

    def forward(self, x: Float[Tensor, "b t features"], lengths: Int[Tensor, "b"]) -> Float[Tensor, "b _ _"]:
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        output, _ = self.gru(packed)
        return pad_packed_sequence(output, batch_first=True)[0]


def main() -> None:
    Encoder(3, 5)(torch.randn(2, 4, 3), torch.tensor([4, 1]))


if __name__ == "__main__":
    main()
