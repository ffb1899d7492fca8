"""Module-level sizes that functions and conditions change."""

import os

import torch
from jaxtyping import Float
from torch import Tensor, nn

HIDDEN = 8
if os.environ.get("SHAPED_EXAMPLE_LARGE"):
    HIDDEN = 16
_cache: Tensor | None = None


def set_hidden(n: int) -> None:
    global HIDDEN
    HIDDEN = n


def cached_mask(t: int) -> Tensor:
    global _cache
    if _cache is None or _cache.shape[0] < t:
        _cache = torch.ones(t, t, dtype=torch.bool).tril()
    return _cache[:t, :t]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(4, HIDDEN)
        self.b = nn.Linear(HIDDEN, 4)

    def forward(self, x: Float[Tensor, "b t 4"]) -> Float[Tensor, "b t 4"]:
        scores = x @ x.transpose(1, 2)
        scores = scores.masked_fill(~cached_mask(x.size(1)), -1e9)
        return self.b(self.a(scores.softmax(-1) @ x))


def main() -> None:
    for t in (5, 3):
        assert Net()(torch.randn(2, t, 4)).shape == (2, t, 4)
    set_hidden(10)
    assert Net()(torch.randn(2, 3, 4)).shape == (2, 3, 4)


if __name__ == "__main__":
    main()
