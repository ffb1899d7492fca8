"""With a condition the input is wider, the layer does not know.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class CondBlock(nn.Module):
    def __init__(self, dim: int, cond_dim: int) -> None:
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.fc_cond = nn.Linear(dim + cond_dim, dim)

    def forward(
        self, x: Float[Tensor, "b dim"], cond: Float[Tensor, "b cond_dim"] | None = None
    ) -> Float[Tensor, "b dim"]:
        if cond is None:
            return self.fc(x)
        x = torch.cat([x, cond], dim=-1)
        return self.fc(x)  # error[shape]


def main() -> None:
    for b in (1, 2):
        block = CondBlock(3, 4)
        assert block(torch.randn(b, 3)).shape == (b, 3)
        assert block(torch.randn(b, 3), torch.randn(b, 4)).shape == (b, 3)


if __name__ == "__main__":
    main()
