"""Loops whose last rounds end just at the end of an axis."""

from __future__ import annotations

import torch

x = torch.zeros(2, 20, 3)
h = [torch.zeros(2, 3)]
for i in range(20):
    h.append(h[i] + x[:, i])
torch.stack(h)
out = torch.zeros(2, 21, 3)
for i in range(20):
    out[:, i + 1] = out[:, i] + x[:, i]
for i in range(x.shape[1] - 1, 0, -1):
    x[:, i - 1] = x[:, i]
for i in range(19, -1, -1):
    x[:, i] += x[:, (i + 1) % 20]
for i in range(20):
    x[:, i] += x[:, min(i + 1, 19)]
    x[:, i] += x[:, -i]
    x[:, i] += x[:, i // 2]
for i in range(0, 20, 3):
    j = i + 3
    x[:, i:j] = 0
    x[:, min(j, 19)] = 0
n = 0
while n < 19:
    x[:, n + 1] = x[:, n]
    n += 1
x[:, n]
i = 0
while i < 20:
    x[:, i] = 1
    i += 1
i = 0
while True:
    if i >= 20:
        break
    x[:, i] = 1
    i += 1
for i in range(1, 20):
    x[:, i] = x[:, i - 1]
for i, row in enumerate(x[0]):
    x[0, i] = row
for i, row in enumerate(x[0], 1):
    if i < 20:
        x[0, i] = row
for i, j in zip(range(19), range(1, 20)):
    x[:, i] = x[:, j]
for i in range(20):
    y = x[:, i] if i == 19 else x[:, i + 1]
for i in range(19):
    for j in range(i + 1, 20):
        x[:, i] = x[:, j]
for i in range(20):
    for j in range(i):
        x[:, i] = x[:, j]
for i in range(20):
    for j in range(20 - i):
        x[:, i + j] = 0
for i in range(5):
    for j in range(4):
        x[:, i * 4 + j] = 0
tri = torch.zeros(20, 20)
for i in range(20):
    tri[i, : i + 1] = 1
    tri[i, 20 - 1 - i] = 1
