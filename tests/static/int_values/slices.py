"""Slices, steps and pieces of named and known sizes."""

from __future__ import annotations

from tests.static.int_values.pair import ROW, SEQUENCE, THREE, Pair

PAIRS = [
    Pair(
        "halves",
        'x: Float[Tensor, "b 7"]',
        """
            half = x.shape[1] // 2
            return x[:, :half] * x[:, half:]
        """,
        """
            half = x.shape[1] // 2
            return x[:, :half] * x[:, half + 1 :]
        """,
    ),
    Pair(
        "rotate half",
        'x: Float[Tensor, "b t 10"]',
        """
            half = x.shape[-1] // 2
            a, b = x[..., :half], x[..., half:]
            return torch.cat([-b, a], dim=-1) * torch.zeros(half)
        """,
        """
            half = x.shape[-1] // 2
            a, b = x[..., :half], x[..., half:]
            return torch.cat([-b, a], dim=-1) * torch.zeros(2 * half)
        """,
    ),
    Pair(
        "every second",
        SEQUENCE,
        "return x[..., ::2] + x[..., 1::2] + torch.zeros(8)",
        "return x[..., ::2] + x[..., 1::2] + torch.zeros(4)",
    ),
    Pair(
        "every second of an odd size",
        'x: Float[Tensor, "b 7"]',
        "return x[..., ::2] + x[..., 1::2]",
        "return x[..., :-1:2] + x[..., 1::2]",
    ),
    Pair(
        "arange of every second",
        'x: Float[Tensor, "b 7"]',
        "return torch.zeros(7)[torch.arange(0, 7, 2)] + torch.zeros(3)",
        "return torch.zeros(7)[torch.arange(0, 7, 2)] + torch.zeros(4)",
    ),
    Pair(
        "sinusoids of an odd size",
        'x: Float[Tensor, "b 7"]',
        """
            table = torch.zeros(5, 7)
            angle = torch.zeros(5, 4)
            table[:, 0::2] = torch.sin(angle)
            table[:, 1::2] = torch.cos(angle)
            return table
        """,
        """
            table = torch.zeros(5, 7)
            angle = torch.zeros(5, 4)
            table[:, 0::2] = torch.sin(angle)
            table[:, 1::2] = torch.cos(angle[:, :-1])
            return table
        """,
    ),
    Pair(
        "a table that is cut",
        'x: Float[Tensor, "b 128 8"]',
        """
            table = torch.zeros(64, 8)
            return x + table[: x.shape[1]]
        """,
        """
            table = torch.zeros(256, 8)
            return x + table[: x.shape[1]]
        """,
    ),
    Pair(
        "patches of a size that does not divide",
        'x: Float[Tensor, "b 3 30 30"]',
        """
            p = 4
            return x.reshape(x.shape[0], 3, 30 // p, p, 30 // p, p)
        """,
        """
            p = 5
            return x.reshape(x.shape[0], 3, 30 // p, p, 30 // p, p)
        """,
    ),
    Pair(
        "unfold windows",
        'x: Float[Tensor, "b 10"]',
        "return x.unfold(-1, 4, 3) + torch.zeros(4, 4)",
        "return x.unfold(-1, 4, 3) + torch.zeros(3, 4)",
    ),
    Pair(
        "split by names",
        'x: Float[Tensor, "b 6"]',
        """
            sizes = {"mean": 2, "scale": 3}
            mean, scale = x.split(list(sizes.values()), dim=-1)
            return mean
        """,
        """
            sizes = {"mean": 2, "scale": 4}
            mean, scale = x.split(list(sizes.values()), dim=-1)
            return mean
        """,
    ),
    Pair(
        "split of thirds",
        'x: Float[Tensor, "b 8"]',
        """
            q, k, v = x.split(x.shape[-1] // 3, dim=-1)
            return q
        """,
        """
            q, k, v, rest = x.split(x.shape[-1] // 3, dim=-1)
            return q
        """,
    ),
    Pair(
        "split of a name",
        'x: Float[Tensor, "b d"]',
        """
            q, k, v = torch.cat([x, x], -1).split(x.shape[-1], dim=-1)
            return q
        """,
        """
            q, k, v = torch.cat([x, x, x], -1).split(x.shape[-1], dim=-1)
            return q
        """,
    ),
    Pair(
        "heads that do not divide",
        'x: Float[Tensor, "b t 10"]',
        """
            heads = 4
            return x.view(x.shape[0], x.shape[1], heads, 10 // heads)
        """,
        """
            heads = 5
            return x.view(x.shape[0], x.shape[1], heads, 10 // heads)
        """,
    ),
    Pair(
        "repeat times",
        SEQUENCE,
        "return x.repeat(1, 2, 1) + torch.zeros(x.shape[1] * 3, 8)",
        "return x.repeat(1, 2, 1) + torch.zeros(x.shape[1] * 2, 8)",
    ),
    Pair(
        "stack of a list",
        ROW,
        "return torch.stack([x] * 4) + torch.zeros(3, 1, 3)",
        "return torch.stack([x] * 4) + torch.zeros(4, 1, 3)",
    ),
    Pair(
        "cat of a list",
        ROW,
        "return torch.cat([x] * 4, dim=-1) + torch.zeros(9)",
        "return torch.cat([x] * 4, dim=-1) + torch.zeros(12)",
    ),
    Pair(
        "triangles",
        SEQUENCE,
        """
            mask = torch.triu(torch.ones(x.shape[1] + 1, x.shape[1] + 1), diagonal=1)
            return (x @ x.mT) * mask
        """,
        """
            mask = torch.triu(torch.ones(x.shape[1], x.shape[1]), diagonal=1)
            return (x @ x.mT) * mask
        """,
    ),
    Pair(
        "diagonal of a rectangle",
        'x: Float[Tensor, "4 6"]',
        "return x.diagonal() + torch.zeros(6)",
        "return x.diagonal() + torch.zeros(4)",
    ),
    Pair(
        "diagonal with an offset",
        'x: Float[Tensor, "4 6"]',
        "return x.diagonal(4) + torch.zeros(4)",
        "return x.diagonal(4) + torch.zeros(2)",
    ),
    Pair(
        "diag of a vector",
        'x: Float[Tensor, "4"]',
        "return torch.diag(x, -2) + torch.zeros(4, 4)",
        "return torch.diag(x, -2) + torch.zeros(6, 6)",
    ),
    Pair(
        "combinations",
        'x: Float[Tensor, "4"]',
        "return torch.combinations(x) + torch.zeros(4, 2)",
        "return torch.combinations(x) + torch.zeros(6, 2)",
    ),
    Pair(
        "topk of a name",
        'x: Float[Tensor, "b d"]',
        "return x.topk(x.shape[1] + 1)",
        "return x.topk(x.shape[1])",
    ),
    Pair(
        "select of a name",
        'x: Float[Tensor, "b d"]',
        "return x.select(1, x.shape[1])",
        "return x.select(1, x.shape[1] - 1)",
    ),
    Pair(
        "negative index of a name",
        'x: Float[Tensor, "b d"]',
        "return x[:, -x.shape[1] - 1]",
        "return x[:, -x.shape[1]]",
    ),
    Pair(
        "last index minus the length",
        THREE,
        "return x[2 - 6]",
        "return x[2 - 5]",
    ),
    Pair(
        "a nested index",
        'x: Float[Tensor, "b 3 4"]',
        "return x[0][3]",
        "return x[0][2][3]",
    ),
    Pair(
        "index of a view",
        'x: Float[Tensor, "b 6"]',
        "return x.view(-1, 2, 3)[:, 2]",
        "return x.view(-1, 2, 3)[:, 1]",
    ),
    Pair(
        "index of a result",
        'x: Float[Tensor, "b 6"]',
        "return x.max(dim=1)[2]",
        "return x.max(dim=1)[1]",
    ),
    Pair(
        "size with too many",
        'x: Float[Tensor, "b 6"]',
        """
            b, c, *rest, d = x.shape
            return torch.zeros(b, c, d)
        """,
        """
            b, *rest, d = x.shape
            return torch.zeros(b, d)
        """,
    ),
    Pair(
        "scatter",
        'x: Float[Tensor, "2 3"]',
        "return x.scatter(1, torch.tensor([[3]]), 1.0)",
        "return x.scatter(1, torch.tensor([[2]]), 1.0)",
    ),
    Pair(
        "index_add",
        'x: Float[Tensor, "2 3"]',
        "return torch.zeros(4, 3).index_add(0, torch.tensor([0, 4]), x)",
        "return torch.zeros(4, 3).index_add(0, torch.tensor([0, 3]), x)",
    ),
    Pair(
        "caller's heads",
        'x: Float[Tensor, "b t d"], n: int',
        "return x.view(*x.shape[:2], n, x.shape[2] // n + 1)",
        "return x.reshape(*x.shape[:2], -1, 1)",
    ),
    Pair(
        "strided slices of a name",
        SEQUENCE,
        "return x[:, ::2].repeat_interleave(2, dim=1) + torch.zeros(x.shape[1] + 2, 8)",
        "return x[:, ::2] + torch.zeros((x.shape[1] + 1) // 2, 8)",
    ),
]
