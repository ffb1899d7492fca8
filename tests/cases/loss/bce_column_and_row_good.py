"""A binary loss of a column of predictions and a row of labels.

Kind: loss.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Churn(nn.Module):
    def __init__(self, n_features: int) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_features, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())

    def forward(self, x: Float[Tensor, "n n_features"]) -> Float[Tensor, "n 1"]:
        return self.net(x)


def step(model: Churn, x: Float[Tensor, "n f"], y: Float[Tensor, "n"]) -> Float[Tensor, ""]:
    criterion = nn.BCELoss()
    y_hat = model(x)
    loss = criterion(y_hat, y.unsqueeze(1))
    return loss


def main() -> None:
    for n in (1, 6):
        step(Churn(4), torch.randn(n, 4), torch.ones(n))


if __name__ == "__main__":
    main()
