"""A cell takes one step, the whole sequence is given to it.

Kind: rnn.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class StepEncoder(nn.Module):
    def __init__(self, d_in: int, d_hidden: int) -> None:
        super().__init__()
        self.d_hidden = d_hidden
        self.cell = nn.LSTMCell(d_in, d_hidden)

    def forward(self, x: Float[Tensor, "b t d_in"]) -> Float[Tensor, "b t d_hidden"]:
        h = c = x.new_zeros(x.size(0), self.d_hidden)
        states = []
        for t in range(x.size(1)):
            h, c = self.cell(x, (h, c))  # error[shape]
            states.append(h)
        return torch.stack(states, dim=1)


def main() -> None:
    for b in (1, 3):
        assert StepEncoder(3, 4)(torch.randn(b, 5, 3)).shape == (b, 5, 4)


if __name__ == "__main__":
    main()
