"""Pieces under as many names as there are."""

from __future__ import annotations

import torch
from torch import nn

x = torch.zeros(2, 6)


def two(x, flag=False):
    a = x.chunk(2, -1)
    if flag:
        a = a + (x,)
    return a


p, q = two(x)
p, q, r = two(x, True)
out = two(x, len(x) > 1)
s = out[2]


class Net(nn.Module):
    def __init__(self, parts=2):
        super().__init__()
        self.parts = parts

    def split(self, x):
        return [x, x, x]

    def forward(self, x):
        a, b, c = self.split(x)
        pieces = x.chunk(self.parts, dim=-1)
        if self.parts == 2:
            u, v = pieces
        else:
            u, v, w = pieces
        if len(pieces) == 3:
            z = pieces[2]
        else:
            z = pieces[1]
        return z


Net()(x)
Net(3)(x)
for n in (1, 2, 3):
    ps = x.chunk(n, -1)
    if n == 3:
        a, b, c = ps
        a, b, c = x.chunk(n, -1)
    elif n == 2:
        a, b = ps
        a, b = x.chunk(n, dim=-1)
    z = ps[n - 1]
(a, b), c = x.chunk(2, -1), 3
a, (b, c) = 1, x.chunk(2, -1)
[a, b] = x.split(3, -1)
(a,) = x.split(6, -1)
a, *_ = x.unbind(0)
*_, last = x.unbind(1)
h, c = (torch.zeros(1, 2), torch.zeros(1, 2))
mean, logvar = torch.chunk(x, 2, dim=1)
q, k, v = (t.sum() for t in x.chunk(3, dim=1))
q, k, v = tuple(map(lambda t: t.reshape(1, -1), x.chunk(3, dim=1)))
q, k, v = list(x.chunk(3, 1))
q, k, v = reversed(x.chunk(3, 1))
a, b, c, d = *x.chunk(2, 1), *x.chunk(2, 1)
t = x.shape[0]
a, b = torch.zeros(t, 3)
a, b = torch.eye(2)
w, h = torch.tensor([3, 4])
lo, hi = torch.aminmax(x)
u, s, vh = torch.linalg.svd(x)
vals, idx = x.topk(2)
vals, idx = x.sort()
