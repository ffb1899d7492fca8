"""einops merges (b t) and takes apart (t b).

Kind: axes.
"""

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn


class TemporalMixer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.mix = nn.Linear(width, width)

    def forward(self, x: Float[Tensor, "b t n width"]) -> Float[Tensor, "b t n width"]:
        b = x.size(0)
        flat = self.mix(rearrange(x, "b t n d -> (b t) n d"))
        return rearrange(flat, "(t b) n d -> b t n d", b=b)  # error[shape-axes]


def main() -> None:
    model, x = TemporalMixer(3), torch.randn(2, 4, 5, 3)
    assert torch.allclose(model(x), model.mix(x), atol=1e-6)


if __name__ == "__main__":
    main()
