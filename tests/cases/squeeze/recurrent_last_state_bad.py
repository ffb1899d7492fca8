"""The last state of a one-layer GRU loses its batch together with its layer.

Kind: squeeze.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Encoder(nn.Module):
    def __init__(self, n_features: int, hidden: int) -> None:
        super().__init__()
        self.gru = nn.GRU(n_features, hidden, batch_first=True)
        self.mu = nn.Linear(hidden, 8)
        self.logvar = nn.Linear(hidden, 8)

    def forward(self, x: Float[Tensor, "b t n_features"]) -> tuple[Float[Tensor, "b 8"], Float[Tensor, "b 8"]]:
        _, h_n = self.gru(x)
        h = h_n.squeeze()  # error[shape]
        return self.mu(h), self.logvar(h)


def main() -> None:
    for b in (3, 1):
        mu, logvar = Encoder(4, 5)(torch.randn(b, 6, 4))
        assert mu.shape == logvar.shape == (b, 8)


if __name__ == "__main__":
    main()
