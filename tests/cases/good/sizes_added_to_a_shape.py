"""Sizes are added to those of a tensor of any rank, one of them to be found."""

import torch
from torch import Tensor, nn


class Scores(nn.Module):
    def __init__(self, hidden_size: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(hidden_size, hidden_size)

    def split(self, x, heads) -> Tensor:
        x = x.view(x.size()[:-1] + (heads, -1))  # noqa: RUF005  # the sum is what this is about
        return x.permute(0, 2, 1, 3).contiguous().view(-1, x.size(1), x.size(-1))

    def forward(self, states: Tensor) -> Tensor:
        query = self.split(self.query(states), self.heads)
        return torch.bmm(query, query.transpose(-1, -2))
