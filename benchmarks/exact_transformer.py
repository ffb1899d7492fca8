"""How long the exact gradient check takes for a whole model: a transformer of two blocks with cross-entropy.

python -m benchmarks.exact_transformer
"""

from __future__ import annotations

import math
import time

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from shaped.verify import exact_gradcheck

WIDTH, HEADS, TOKENS = 32, 4, 11


class Block(nn.Module):
    """A pre-norm block: attention, then an MLP with GELU."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Float[Tensor, "b t 32"]) -> Float[Tensor, "b t 32"]:
        b, t, _ = x.shape
        parts = self.qkv(self.norm1(x)).chunk(3, -1)
        q, k, v = (part.view(b, t, HEADS, WIDTH // HEADS).transpose(1, 2) for part in parts)
        weights = (q @ k.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(b, t, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Loss(nn.Module):
    """The loss of the model for a batch."""

    def __init__(self) -> None:
        super().__init__()
        self.model = nn.Sequential(Block(), Block(), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, TOKENS))

    def forward(self, x: Float[Tensor, "b t 32"], target: Int[Tensor, "b*t"]) -> Float[Tensor, ""]:
        return F.cross_entropy(self.model(x).flatten(0, 1), target)


def main() -> None:
    """Print the verdict on all gradients, and the time that it took."""
    torch.manual_seed(0)
    loss = Loss().double()
    count = sum(parameter.numel() for parameter in loss.parameters())
    x, target = torch.randn(2, 8, WIDTH, dtype=torch.float64), torch.randint(0, TOKENS, (16,))
    start = time.perf_counter()
    verdict = exact_gradcheck(loss, x, target)
    print(f"{count} parameters: {verdict.level.value} in {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
