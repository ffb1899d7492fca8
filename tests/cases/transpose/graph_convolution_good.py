"""The adjacency matrix is multiplied with the features of the nodes in channels-first layout.

Kind: transpose.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class GraphConv(nn.Module):
    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(
        self, x: Float[Tensor, "b in_features n"], adj: Float[Tensor, "n n"]
    ) -> Float[Tensor, "b n out_features"]:
        support = torch.matmul(adj, x.transpose(1, 2))
        return self.linear(support)


def main() -> None:
    for b in (1, 3):
        assert GraphConv(3, 4)(torch.randn(b, 3, 6), torch.eye(6)).shape == (b, 6, 4)


if __name__ == "__main__":
    main()
