"""An encoder gives outputs and state, the caller takes them the other way round.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Encoder(nn.Module):
    def __init__(self, d: int, hidden: int) -> None:
        super().__init__()
        self.rnn = nn.GRU(d, hidden, batch_first=True)

    def forward(self, x: Float[Tensor, "b t d"]) -> tuple[Float[Tensor, "b t hidden"], Float[Tensor, "b hidden"]]:
        out, h = self.rnn(x)
        return out, h[-1]


class Model(nn.Module):
    def __init__(self, d: int, hidden: int) -> None:
        super().__init__()
        self.encoder = Encoder(d, hidden)
        self.out = nn.Linear(hidden, d)

    def forward(self, x: Float[Tensor, "b t d"]) -> Float[Tensor, "b d"]:
        state, outputs = self.encoder(x)
        gate = torch.sigmoid(outputs.mean(dim=1))
        return self.out(state * gate)  # error[shape]


def main() -> None:
    for b in (2, 3):
        assert Model(4, 5)(torch.randn(b, 6, 4)).shape == (b, 4)


if __name__ == "__main__":
    main()
