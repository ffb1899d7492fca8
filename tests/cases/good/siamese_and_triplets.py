"""One net for several inputs, joined along the batch and split again."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class Siamese(nn.Module):
    def __init__(self, d: int, e: int) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, e), nn.ReLU(), nn.Linear(e, e))

    def embed(self, *xs: Float[Tensor, "b d"]) -> tuple[Tensor, ...]:
        sizes = [x.shape[0] for x in xs]
        return self.net(torch.cat(xs)).split(sizes)

    def forward(self, a: Float[Tensor, "b d"], p: Float[Tensor, "b d"], n: Float[Tensor, "b d"]) -> Float[Tensor, ""]:
        za, zp, zn = self.embed(a, p, n)
        return F.triplet_margin_loss(za, zp, zn)


def in_two(net: nn.Linear, x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b e"], Float[Tensor, "b e"]]:
    both = net(torch.cat([x, -x], dim=0))
    first, second = both[: x.shape[0]], both[x.shape[0] :]
    return first, second


def main() -> None:
    for b in (1, 3):
        x = torch.randn(b, 4)
        Siamese(4, 5)(x, x, x)
        assert in_two(nn.Linear(4, 2), x)[1].shape == (b, 2)


if __name__ == "__main__":
    main()
