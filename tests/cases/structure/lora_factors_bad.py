"""The two factors of a low-rank update are multiplied in the wrong order.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class LoRALinear(nn.Module):
    def __init__(self, in_features: int, out_features: int, r: int) -> None:
        super().__init__()
        self.base = nn.Linear(in_features, out_features)
        self.lora_A = nn.Parameter(torch.randn(r, in_features))
        self.lora_B = nn.Parameter(torch.zeros(out_features, r))

    def forward(self, x: Float[Tensor, "b in_features"]) -> Float[Tensor, "b out_features"]:
        delta = x @ self.lora_A @ self.lora_B  # error[shape]
        return self.base(x) + delta


def main() -> None:
    for b in (1, 3):
        assert LoRALinear(4, 5, 2)(torch.randn(b, 4)).shape == (b, 5)


if __name__ == "__main__":
    main()
