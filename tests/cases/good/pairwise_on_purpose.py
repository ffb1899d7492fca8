"""All pairs by broadcasting, on purpose."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def pairwise(x: Float[Tensor, "n d"]) -> Float[Tensor, "n n"]:
    return (x[:, None] - x[None]).pow(2).sum(-1)


def rbf(x: Float[Tensor, "n d"], y: Float[Tensor, "m d"], sigma: float) -> Float[Tensor, "n m"]:
    xx = (x * x).sum(-1, keepdim=True)
    yy = (y * y).sum(-1)
    return torch.exp(-(xx + yy - 2 * x @ y.T) / (2 * sigma**2))


def relative_positions(t: int) -> Int[Tensor, "{t} {t}"]:
    pos = torch.arange(t)
    return pos[None, :] - pos[:, None]


def main() -> None:
    for n in (1, 3):
        assert pairwise(torch.randn(n, 2)).shape == (n, n)
        assert rbf(torch.randn(n, 2), torch.randn(4, 2), 1.0).shape == (n, 4)
        assert relative_positions(n).shape == (n, n)


if __name__ == "__main__":
    main()
