"""Indices that were written out or counted, and then changed."""

from __future__ import annotations

import torch
from torch import nn

q = torch.arange(10)[:, None]
k = torch.arange(10)[None, :]
rel = k - q
bucket = rel.abs().clamp(max=7)
nn.Embedding(8, 4)(bucket)
d = torch.clip(rel, -3, 3) + 3
nn.Embedding(7, 4)(d)
rel2 = torch.where(rel > 0, rel, 0)
nn.Embedding(10, 4)(rel2)
r = torch.arange(10)
r = torch.minimum(r, torch.tensor(4))
nn.Embedding(5, 4)(r)
r = torch.arange(10) % 5
nn.Embedding(5, 4)(r)
r = torch.arange(10).remainder(5)
nn.Embedding(5, 4)(r)
r = torch.arange(10).div(2, rounding_mode="floor")
nn.Embedding(5, 4)(r)
r = torch.arange(10) >> 1
nn.Embedding(5, 4)(r)
r = torch.flip(torch.arange(5), [0])
nn.Embedding(5, 4)(r)
r = torch.arange(10).repeat_interleave(2)[:4]
nn.Embedding(5, 4)(r)
r = torch.arange(10).reshape(2, 5)[0]
nn.Embedding(5, 4)(r)
r = torch.arange(10).masked_fill(torch.arange(10) > 4, 0)
nn.Embedding(5, 4)(r)
r = torch.tril(torch.arange(9).view(3, 3)) * 0
nn.Embedding(5, 4)(r)
r = torch.arange(9).fill_(1)
nn.Embedding(5, 4)(r)
r = torch.arange(9).zero_()
nn.Embedding(5, 4)(r)
r = torch.arange(9)
r.zero_()
nn.Embedding(5, 4)(r)
r = torch.zeros_like(torch.arange(9))
nn.Embedding(5, 4)(r)
r = torch.ones(3, dtype=torch.long).new_tensor([1, 2])
nn.Embedding(5, 4)(r)
r = torch.empty_like(torch.arange(9)).random_(5)
nn.Embedding(5, 4)(r)
r = torch.arange(9).type(torch.bool).long()
nn.Embedding(5, 4)(r)
r = torch.arange(9).to(torch.bool).to(torch.long)
nn.Embedding(5, 4)(r)
r = torch.arange(9).sign()
nn.Embedding(5, 4)(r)
r = torch.arange(9)[torch.arange(9) < 5]
nn.Embedding(5, 4)(r)
r = torch.arange(9).unfold(0, 3, 3)[0]
nn.Embedding(5, 4)(r)
r, c = torch.arange(9).chunk(2)
nn.Embedding(5, 4)(r)
r = torch.add(torch.arange(5), 1, alpha=0)
nn.Embedding(5, 4)(r)
r = torch.sub(torch.arange(3, 8), 3)
nn.Embedding(5, 4)(r)
r = 7 - torch.arange(3, 8)
nn.Embedding(5, 4)(r)
r = torch.rsub(torch.arange(3, 8), 7)
nn.Embedding(5, 4)(r)
r = torch.arange(0, 10, 2) // 2
nn.Embedding(5, 4)(r)
r = torch.arange(4, -1, -1)
nn.Embedding(5, 4)(r)
r = torch.arange(5.0).long()
nn.Embedding(5, 4)(r)
r = torch.tensor([1.7, 4.9]).long()
nn.Embedding(5, 4)(r)
r = torch.tensor([True, False]).long()
nn.Embedding(5, 4)(r)
r = torch.tensor([9]).expand(0, 1)
nn.Embedding(5, 4)(r)
r = torch.arange(9).squeeze().view(3, 3).diagonal() // 4
nn.Embedding(5, 4)(r)
torch.zeros(3)[torch.tensor([True, False, True])]
torch.zeros(3)[[True, False, True]]
torch.zeros(3, 4)[[0, 2], [1, 3]]
torch.zeros(3, 4)[:, [0, 3]]
torch.zeros(3, 4)[..., [3]]
torch.zeros(2, 3, 4)[[1], :, [3]]
x = torch.zeros(6, 2)
x[[5]] = 1
y = torch.zeros(3).index_select(0, torch.tensor([], dtype=torch.long))
y
