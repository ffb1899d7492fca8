"""The last states of both directions are viewed to the batch's rows.

Kind: axes.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Encoder(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gru = nn.GRU(width, hidden, batch_first=True, bidirectional=True)

    def forward(self, x: Float[Tensor, "b t width"]) -> Float[Tensor, "b 2*hidden"]:
        _, last = self.gru(x)
        return last.transpose(0, 1).reshape(x.size(0), -1)


def main() -> None:
    model, x = Encoder(3, 4), torch.randn(5, 6, 3)
    assert torch.allclose(model(x)[1], model(x[1:2])[0], atol=1e-6)


if __name__ == "__main__":
    main()
