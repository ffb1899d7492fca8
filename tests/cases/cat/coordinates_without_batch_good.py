"""CoordConv's two planes of coordinates have no batch.

Kind: cat.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class AddCoords(nn.Module):
    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c+2 h w"]:
        b, _, h, w = x.shape
        ys = torch.linspace(-1, 1, h, device=x.device)
        xs = torch.linspace(-1, 1, w, device=x.device)
        grid = torch.stack(torch.meshgrid(ys, xs, indexing="ij"))
        return torch.cat([x, grid.unsqueeze(0).expand(b, -1, -1, -1)], dim=1)


def main() -> None:
    for b in (1, 3):
        assert AddCoords()(torch.randn(b, 2, 5, 6)).shape == (b, 4, 5, 6)


if __name__ == "__main__":
    main()
