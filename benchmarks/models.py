"""Generated models of any length: ordinary transformer code, without a fault."""

from __future__ import annotations

_HEAD = '''\
"""A generated model."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn


@dataclass
class Config:
    vocabulary: int = 1000
    width: int = 64
    heads: int = 4
    hidden: int = 256
'''

_BLOCK = """

class Attention{0}(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        assert width % heads == 0
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Float[Tensor, "batch seq width"]) -> Float[Tensor, "batch seq width"]:
        batch, seq, width = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(batch, seq, self.heads, width // self.heads).transpose(1, 2)
        k = k.view(batch, seq, self.heads, width // self.heads).transpose(1, 2)
        v = v.view(batch, seq, self.heads, width // self.heads).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
        mask = torch.tril(torch.ones(seq, seq))
        scores = scores.masked_fill(mask == 0, float("-inf"))
        y = F.softmax(scores, dim=-1) @ v
        return self.out(y.transpose(1, 2).reshape(batch, seq, width))


class Block{0}(nn.Module):
    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention{0}(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))

    def forward(self, x: Float[Tensor, "batch seq width"]) -> Float[Tensor, "batch seq width"]:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Model{0}(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embed = nn.Embedding(config.vocabulary, config.width)
        self.blocks = nn.ModuleList([Block{0}(config.width, config.heads, config.hidden) for _ in range(4)])
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary)

    def forward(self, tokens: Int[Tensor, "batch seq"]) -> Tensor:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))
"""


def model_source(lines: int) -> str:
    """A module of about so many lines.

    >>> 480 < len(model_source(500).splitlines()) < 560
    True
    """
    text = _HEAD
    per_block = _BLOCK.count("\n")
    for number in range(max(1, round((lines - text.count("\n")) / per_block))):
        text += _BLOCK.replace("{0}", str(number))
    return text
