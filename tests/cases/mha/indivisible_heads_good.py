"""Eight heads do not divide a width of a hundred.

Kind: mha.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attn = nn.MultiheadAttention(embed_dim=100, num_heads=10, batch_first=True)

    def forward(self, x: Float[Tensor, "b t 100"]) -> Float[Tensor, "b t 100"]:
        return self.attn(x, x, x, need_weights=False)[0]


def main() -> None:
    for b in (2, 3):
        assert Encoder()(torch.randn(b, 4, 100)).shape == (b, 4, 100)


if __name__ == "__main__":
    main()
