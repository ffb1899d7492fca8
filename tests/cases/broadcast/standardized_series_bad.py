"""A series is standardized over time with statistics that lost the axis.

Kind: broadcast.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class RevIN(nn.Module):
    """Reversible instance normalization."""

    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.affine_weight = nn.Parameter(torch.ones(num_features))
        self.affine_bias = nn.Parameter(torch.zeros(num_features))

    def forward(self, x: Float[Tensor, "batch time num_features"]) -> Float[Tensor, "batch time num_features"]:
        mean = x.mean(dim=1).detach()
        stdev = torch.sqrt(x.var(dim=1, keepdim=True, unbiased=False) + self.eps).detach()
        x = x - mean  # error[shape]
        x = x / stdev
        return x * self.affine_weight + self.affine_bias


def main() -> None:
    for b in (3, 2):
        assert RevIN(4)(torch.randn(b, 5, 4)).shape == (b, 5, 4)


if __name__ == "__main__":
    main()
