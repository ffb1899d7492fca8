"""Tables of positions with an offset, cut to the sequence."""

from __future__ import annotations

import torch
from torch import nn


class OPTPos(nn.Embedding):
    def __init__(self, n, d):
        self.offset = 2
        super().__init__(n + self.offset, d)

    def forward(self, mask):
        positions = (torch.cumsum(mask, 1) * mask).long() - 1
        return super().forward(positions + self.offset)


pos = OPTPos(8, 4)
pos(torch.ones(2, 8, dtype=torch.long))


class Emb(nn.Module):
    def __init__(self, n=16, d=4):
        super().__init__()
        self.word = nn.Embedding(30, d, padding_idx=0)
        self.pos = nn.Embedding(n, d)
        self.kind = nn.Embedding(2, d)
        self.register_buffer("position_ids", torch.arange(n).expand((1, -1)))

    def forward(self, ids, kind=None, past=0):
        t = ids.size(1)
        p = self.position_ids[:, past : t + past]
        if kind is None:
            kind = torch.zeros_like(p)
        return self.word(ids) + self.pos(p) + self.kind(kind)


Emb()(torch.randint(0, 30, (2, 8)))
