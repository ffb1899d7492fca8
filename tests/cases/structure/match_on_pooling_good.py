"""One of the poolings leaves another width.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Pool(nn.Module):
    def __init__(self, d: int, mode: str) -> None:
        super().__init__()
        self.mode = mode
        self.fc = nn.Linear(d, d)
        self.fc2 = nn.Linear(2 * d, d)

    def forward(self, x: Float[Tensor, "b t d"]) -> Float[Tensor, "b d"]:
        match self.mode:
            case "mean":
                return self.fc(x.mean(dim=1))
            case "meanmax":
                pooled = torch.cat([x.mean(dim=1), x.amax(dim=1)], dim=-1)
                return self.fc2(pooled)
            case _:
                return self.fc(x[:, 0])


def main() -> None:
    for mode in ("mean", "cls", "meanmax"):
        assert Pool(4, mode)(torch.randn(2, 3, 4)).shape == (2, 4)


if __name__ == "__main__":
    main()
