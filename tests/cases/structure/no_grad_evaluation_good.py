"""The evaluation under no_grad compares classes with one-hot rows.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


@torch.no_grad()
def evaluate(model: nn.Linear, x: Float[Tensor, "b d"], y: Float[Tensor, "b classes"]) -> float:
    model.eval()
    predicted = model(x).argmax(dim=1, keepdim=True)
    hits = torch.cat([predicted, y.argmax(dim=1, keepdim=True)], dim=1)
    return (hits[:, 0] == hits[:, 1]).float().mean().item()


def main() -> None:
    for b in (2, 3):
        evaluate(nn.Linear(4, 5), torch.randn(b, 4), torch.rand(b, 5))


if __name__ == "__main__":
    main()
