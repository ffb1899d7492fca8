"""A model is moved; what its forward makes is not.

Kind: device. (The meta device stands for an accelerator.)
"""

import torch
from torch import Tensor, nn


class Noisy(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x) + torch.randn(4, 8)  # error[device]: devices meta and cpu differ


def main() -> None:
    model = Noisy(8).to("meta")
    model(torch.zeros(4, 8, device="meta"))


if __name__ == "__main__":
    main()
