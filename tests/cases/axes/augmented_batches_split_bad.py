"""Two views of a batch are joined along it and taken apart as pairs.

Kind: axes.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


def pairs(first: Float[Tensor, "b d"], second: Float[Tensor, "b d"], encoder: nn.Linear) -> Tensor:
    b = first.size(0)
    both = F.normalize(torch.cat((first, second)), dim=-1)
    return both.view(b, 2, -1)  # error[shape-axes]


def main() -> None:
    first, second = torch.eye(3, 4), -torch.eye(3, 4)
    assert torch.equal(pairs(first, second, nn.Linear(4, 4))[1], torch.stack((first[1], second[1])))


if __name__ == "__main__":
    main()
