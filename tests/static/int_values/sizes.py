"""Sizes that are negative, do not divide, or do not fit."""

from __future__ import annotations

from tests.static.int_values.pair import IMAGE, ROW, THREE, Pair

PAIRS = [
    Pair(
        "negative zeros",
        ROW,
        "return torch.zeros(x.shape[1] - 5)",
        "return torch.zeros(x.shape[1] - 3)",
    ),
    Pair(
        "negative new_zeros",
        ROW,
        "return x.new_zeros(x.shape[0], x.shape[1] - 4)",
        "return x.new_zeros(x.shape[0], x.shape[1] - 3)",
    ),
    Pair(
        "negative randn",
        "t: int",
        "return torch.randn(min(t, 4) - 5)",
        "return torch.randn(max(t - 4, 0))",
    ),
    Pair(
        "negative full",
        ROW,
        "return torch.full((x.size(1) - 4,), 1.0)",
        "return torch.full((x.size(1) - 2,), 1.0)",
    ),
    Pair(
        "view(-2)",
        ROW,
        "return x.view(-2)",
        "return x.view(-1)",
    ),
    Pair(
        "reshape of two unknown axes",
        ROW,
        "return x.reshape(-1, -1)",
        "return x.reshape(-1, 1)",
    ),
    Pair(
        "negative padding",
        ROW,
        "return F.pad(x, (-2, -2))",
        "return F.pad(x, (-2, -1))",
    ),
    Pair(
        "reflection beyond the size",
        IMAGE,
        "return F.pad(x, (4, 4, 4, 4), mode='reflect')",
        "return F.pad(x, (3, 3, 3, 3), mode='reflect')",
    ),
    Pair(
        "padding pairs",
        IMAGE,
        "return F.pad(x, (1, 1, 1))",
        "return F.pad(x, (1, 1, 1, 1))",
    ),
    Pair(
        "arange backwards",
        ROW,
        "return torch.arange(5, 2)",
        "return torch.arange(5, 2, -1)",
    ),
    Pair(
        "arange length",
        ROW,
        "return x + torch.arange(0, 10, 3)",
        "return x + torch.arange(0, 9, 3)",
    ),
    Pair(
        "arange of a floating step",
        ROW,
        "return x + torch.arange(0, 1, 0.25)",
        "return x + torch.arange(0, 0.75, 0.25)",
    ),
    Pair(
        "linspace",
        ROW,
        "return x * torch.linspace(0, 1, 4)",
        "return x * torch.linspace(0, 1, 3)",
    ),
    Pair(
        "linspace of a negative length",
        ROW,
        "return torch.linspace(0, 1, x.shape[1] - 4)",
        "return torch.linspace(0, 1, x.shape[1] - 3)",
    ),
    Pair(
        "eye",
        ROW,
        "return x @ torch.eye(x.shape[0] + x.shape[1])",
        "return x @ torch.eye(x.shape[1])",
    ),
    Pair(
        "repeat with fewer dims",
        IMAGE,
        "return x.repeat(2, 2, 1)",
        "return x.repeat(1, 2, 2, 1)",
    ),
    Pair(
        "expand of a larger dim",
        ROW,
        "return x.expand(-1, 6)",
        "return x.unsqueeze(2).expand(-1, -1, 6)",
    ),
    Pair(
        "expand with fewer dims",
        ROW,
        "return x.expand(3)",
        "return x.expand(2, -1, 3)",
    ),
    Pair(
        "-1 in a new axis",
        ROW,
        "return x.expand(-1, -1, 3)",
        "return x.expand(4, -1, 3)",
    ),
    Pair(
        "repeat_interleave",
        ROW,
        "return x.repeat_interleave(torch.tensor([1, 2]), dim=1)",
        "return x.repeat_interleave(torch.tensor([1, 2, 0]), dim=1)",
    ),
    Pair(
        "unflatten",
        'x: Float[Tensor, "b 12"]',
        "return x.unflatten(1, (5, 2))",
        "return x.unflatten(1, (6, 2))",
    ),
    Pair(
        "unflatten with -1",
        'x: Float[Tensor, "b 12"]',
        "return x.unflatten(1, (5, -1))",
        "return x.unflatten(1, (-1, 4))",
    ),
    Pair(
        "view of wrong products",
        'x: Float[Tensor, "b 12"]',
        "return x.view(-1, 5, 2) if x.shape[0] % 5 else x.view(7, 7)",
        "return x.view(-1, 3, 4)",
    ),
    Pair(
        "pixel shuffle",
        IMAGE,
        "return F.pixel_shuffle(x, 2)",
        "return F.pixel_shuffle(x.repeat(1, 4, 1, 1), 2)",
    ),
    Pair(
        "pixel unshuffle",
        IMAGE,
        "return F.pixel_unshuffle(x, 3)",
        "return F.pixel_unshuffle(x, 2)",
    ),
    Pair(
        "channel shuffle",
        IMAGE,
        "return F.channel_shuffle(x, 2)",
        "return F.channel_shuffle(x, 3)",
    ),
    Pair(
        "groups of a conv",
        'x: Float[Tensor, "b 6 8 8"]',
        "return nn.Conv2d(6, 8, 3, groups=4)(x)",
        "return nn.Conv2d(6, 8, 3, groups=2)(x)",
    ),
    Pair(
        "groups of a norm",
        'x: Float[Tensor, "b 6 8 8"]',
        "return nn.GroupNorm(4, 6)(x)",
        "return nn.GroupNorm(3, 6)(x)",
    ),
    Pair(
        "functional group norm",
        'x: Float[Tensor, "b 6 8 8"]',
        "return F.group_norm(x, 4)",
        "return F.group_norm(x, 2)",
    ),
    Pair(
        "heads",
        'x: Float[Tensor, "b t 10"]',
        "return nn.MultiheadAttention(10, 4, batch_first=True)(x, x, x)",
        "return nn.MultiheadAttention(10, 5, batch_first=True)(x, x, x)",
    ),
    Pair(
        "heads of a layer",
        'x: Float[Tensor, "b t 10"]',
        "return nn.TransformerEncoderLayer(10, 4, batch_first=True)(x)",
        "return nn.TransformerEncoderLayer(10, 2, batch_first=True)(x)",
    ),
    Pair(
        "tensor_split of an axis",
        ROW,
        "return x.tensor_split(0, dim=1)",
        "return x.tensor_split(2, dim=1)",
    ),
    Pair(
        "chunks of none",
        ROW,
        "return x.chunk(0)",
        "return x.chunk(1)",
    ),
    Pair(
        "hsplit",
        'x: Float[Tensor, "b 6"]',
        "return x.hsplit(4)",
        "return x.hsplit(3)",
    ),
    Pair(
        "diagonal",
        ROW,
        "return torch.eye(3).diagonal(1) + torch.zeros(3)",
        "return torch.eye(3).diagonal(1) + torch.zeros(2)",
    ),
    Pair(
        "diag_embed",
        ROW,
        "return torch.diag_embed(x, 1) + torch.zeros(3, 3)",
        "return torch.diag_embed(x, 1) + torch.zeros(4, 4)",
    ),
    Pair(
        "topk",
        ROW,
        "return x.topk(4)",
        "return x.topk(3)",
    ),
    Pair(
        "kthvalue",
        ROW,
        "return x.kthvalue(4)",
        "return x.kthvalue(3)",
    ),
    Pair(
        "roll",
        ROW,
        "return x.roll((1, 2), 1)",
        "return x.roll((1, 2), (0, 1))",
    ),
    Pair(
        "flip",
        ROW,
        "return x.flip(2)",
        "return x.flip(-2)",
    ),
    Pair(
        "movedim",
        ROW,
        "return x.movedim(0, 2)",
        "return x.movedim(0, 1)",
    ),
    Pair(
        "unsqueeze",
        ROW,
        "return x.unsqueeze(3)",
        "return x.unsqueeze(2)",
    ),
    Pair(
        "flatten",
        ROW,
        "return x.flatten(1, 0)",
        "return x.flatten(0, 1)",
    ),
    Pair(
        "multinomial",
        ROW,
        "return torch.softmax(x, -1).multinomial(4)",
        "return torch.softmax(x, -1).multinomial(3)",
    ),
    Pair(
        "cumulative sizes",
        'x: Float[Tensor, "b 6"]',
        """
            parts, start = [], 0
            for width in (1, 2, 3):
                parts.append(x[:, start : start + width])
                start += width
            return torch.cat(parts, dim=1) + torch.zeros(5)
        """,
        """
            parts, start = [], 0
            for width in (1, 2, 3):
                parts.append(x[:, start : start + width])
                start += width
            return torch.cat(parts, dim=1) + torch.zeros(6)
        """,
    ),
    Pair(
        "enumerate",
        THREE,
        """
            scale = torch.ones(2)
            for i, row in enumerate(x):
                row = row * scale[i]
            return scale
        """,
        """
            scale = torch.ones(3)
            for i, row in enumerate(x):
                row = row * scale[i]
            return scale
        """,
    ),
    Pair(
        "zip of rows",
        THREE,
        """
            for i, row in zip(range(1, 4), x):
                x[i] = row
            return x
        """,
        """
            for i, row in zip(range(1, 3), x):
                x[i] = row
            return x
        """,
    ),
]
