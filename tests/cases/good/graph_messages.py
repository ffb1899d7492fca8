"""Messages along the edges of a graph, summed where they end."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class GraphConv(nn.Module):
    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.lin = nn.Linear(d_in, d_out)
        self.edge = nn.Linear(2 * d_out, 1)

    def forward(self, x: Float[Tensor, "n d_in"], edges: Int[Tensor, "2 e"]) -> Float[Tensor, "n d_out"]:
        h = self.lin(x)
        src, dst = edges
        score = self.edge(torch.cat([h[src], h[dst]], dim=-1)).squeeze(-1)
        weight = torch.exp(score - score.max())
        total = torch.zeros(x.size(0)).index_add(0, dst, weight)
        out = torch.zeros_like(h)
        out.index_add_(0, dst, weight.unsqueeze(-1) * h[src])
        return out / total.clamp(min=1e-9)[:, None]


def degree(edges: Int[Tensor, "2 e"], n: int) -> Int[Tensor, "{n}"]:
    return torch.bincount(edges[1], minlength=n)[:n]


def laplacian(a: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    d = a.sum(1).clamp(min=1).pow(-0.5)
    return torch.eye(a.shape[0]) - d[:, None] * a * d[None, :]


def main() -> None:
    edges = torch.tensor([[0, 1, 2], [1, 2, 0]])
    assert GraphConv(4, 5)(torch.randn(3, 4), edges).shape == (3, 5)
    assert degree(edges, 3).shape == (3,)
    assert laplacian(torch.ones(3, 3)).shape == (3, 3)


if __name__ == "__main__":
    main()
