"""The two coordinates of a grid stand in front and are viewed to the end.

Kind: axes.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def points(height: Float[Tensor, "h"], width: Float[Tensor, "w"]) -> Float[Tensor, "h*w 2"]:
    grid = torch.stack(torch.meshgrid(height, width, indexing="ij"))
    return grid.flatten(1).t()


def main() -> None:
    assert points(torch.arange(2.0), torch.arange(3.0))[4].tolist() == [1.0, 1.0]


if __name__ == "__main__":
    main()
