"""A batch-first sequence is brought to time-first layout by a reshape.

Kind: axes.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Tagger(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(width, hidden)

    def forward(self, x: Float[Tensor, "batch time width"]) -> Float[Tensor, "time batch hidden"]:
        batch, time, width = x.shape
        out, _ = self.lstm(x.transpose(0, 1))
        return out


def main() -> None:
    model, x = Tagger(3, 4), torch.randn(2, 5, 3)
    assert torch.allclose(model(x)[:, 1], model.lstm(x[1])[0], atol=1e-6)


if __name__ == "__main__":
    main()
