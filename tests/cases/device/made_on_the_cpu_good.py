"""What a moved model's forward makes is made where its input is, or is one number.

Kind: device. (The meta device stands for an accelerator.)
"""

import torch
from torch import Tensor, nn


class Noisy(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.register_buffer("shift", torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        y = self.layer(x) + torch.randn(4, 8, device=x.device) + torch.randn_like(x) + x.new_ones(8)
        return (y + self.shift) * torch.tensor(0.5)


def main() -> None:
    model = Noisy(8).to("meta")
    model(torch.zeros(4, 8, device="meta"))
    Noisy(8)(torch.zeros(4, 8))


if __name__ == "__main__":
    main()
