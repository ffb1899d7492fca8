"""The outputs of heads are stacked in front and flattened as if they stood at the end.

Kind: axes.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Heads(nn.Module):
    def __init__(self, width: int, head_dim: int) -> None:
        super().__init__()
        self.left = nn.Linear(width, head_dim)
        self.right = nn.Linear(width, head_dim)

    def forward(self, x: Float[Tensor, "b t width"]) -> Float[Tensor, "b t 2*head_dim"]:
        b, t, _ = x.shape
        return torch.stack((self.left(x), self.right(x))).view(b, t, -1)  # error[shape-axes]


def main() -> None:
    model, x = Heads(3, 4), torch.randn(2, 5, 3)
    assert torch.equal(model(x), torch.cat((model.left(x), model.right(x)), dim=-1))


if __name__ == "__main__":
    main()
