"""Indices and slices: in range, beyond it, and of the pieces that a tensor is cut into."""

from __future__ import annotations

from tests.static.int_values.pair import ROW, SEQUENCE, THREE, Pair

PAIRS = [
    Pair(
        "column",
        ROW,
        "return x[:, 5]",
        "return x[:, 2]",
    ),
    Pair(
        "negative column",
        ROW,
        "return x[:, -4]",
        "return x[:, -3]",
    ),
    Pair(
        "row",
        THREE,
        "return x[3]",
        "return x[-3]",
    ),
    Pair(
        "column behind an ellipsis",
        ROW,
        "return x[..., 3]",
        "return x[..., 0]",
    ),
    Pair(
        "last index is the length",
        SEQUENCE,
        "return x[:, x.shape[1]]",
        "return x[:, x.shape[1] - 1]",
    ),
    Pair(
        "len as an index",
        THREE,
        "return x[len(x)]",
        "return x[len(x) - 1]",
    ),
    Pair(
        "size(-1) as an index",
        ROW,
        "return x[:, x.size(-1)]",
        "return x[:, x.size(-1) - 1]",
    ),
    Pair(
        "select",
        ROW,
        "return x.select(1, 3)",
        "return x.select(1, -3)",
    ),
    Pair(
        "torch.select",
        THREE,
        "return torch.select(x, 0, -4)",
        "return torch.select(x, 0, 1)",
    ),
    Pair(
        "narrow",
        ROW,
        "return x.narrow(1, 1, 3)",
        "return x.narrow(1, 1, 2)",
    ),
    Pair(
        "narrow symbolic",
        SEQUENCE,
        "return x.narrow(1, 1, x.shape[1])",
        "return x.narrow(1, 1, x.shape[1] - 1)",
    ),
    Pair(
        "list as an index",
        ROW,
        "return x[:, [0, 3]]",
        "return x[:, [0, 2, -3]]",
    ),
    Pair(
        "tensor as an index",
        ROW,
        "return x[:, torch.tensor([0, 3])]",
        "return x[:, torch.tensor([0, 2])]",
    ),
    Pair(
        "arange as an index",
        ROW,
        "return x[:, torch.arange(4)]",
        "return x[:, torch.arange(3)]",
    ),
    Pair(
        "index_select",
        ROW,
        "return x.index_select(1, torch.tensor([3]))",
        "return x.index_select(1, torch.tensor([2, 0]))",
    ),
    Pair(
        "index_select of a range",
        ROW,
        "return torch.index_select(x, 1, torch.arange(1, 4))",
        "return torch.index_select(x, 1, torch.arange(1, 3))",
    ),
    Pair(
        "assignment",
        ROW,
        """
            x[:, 3] = 0
            return x
        """,
        """
            x[:, 2] = 0
            return x
        """,
    ),
    Pair(
        "assignment of a slice",
        ROW,
        """
            x[:, 1:] = torch.ones(3)
            return x
        """,
        """
            x[:, 1:] = torch.ones(2)
            return x
        """,
    ),
    Pair(
        "unbind",
        ROW,
        """
            a, b = x.unbind(1)
            return a + b
        """,
        """
            a, b, c = x.unbind(1)
            return a + b + c
        """,
    ),
    Pair(
        "unpack a tensor",
        THREE,
        """
            a, b = x
            return a + b
        """,
        """
            a, b, c = x
            return a + b + c
        """,
    ),
    Pair(
        "unpack chunks",
        'x: Float[Tensor, "b 6"]',
        """
            q, k = x.chunk(3, dim=-1)
            return q + k
        """,
        """
            q, k, v = x.chunk(3, dim=-1)
            return q + k + v
        """,
    ),
    Pair(
        "chunks of too small an axis",
        'x: Float[Tensor, "b 4"]',
        """
            q, k, v = x.chunk(3, dim=-1)
            return q
        """,
        """
            q, k = x.chunk(3, dim=-1)
            return q + k
        """,
    ),
    Pair(
        "unpack splits",
        'x: Float[Tensor, "b 6"]',
        """
            q, k, v = x.split(3, dim=-1)
            return q
        """,
        """
            q, k, v = x.split(2, dim=-1)
            return q + k + v
        """,
    ),
    Pair(
        "index of chunks",
        'x: Float[Tensor, "b 6"]',
        "return x.chunk(3, dim=-1)[3]",
        "return x.chunk(3, dim=-1)[2]",
    ),
    Pair(
        "index of splits",
        'x: Float[Tensor, "b 6"]',
        "return x.split(3, dim=-1)[2]",
        "return x.split(3, dim=-1)[1]",
    ),
    Pair(
        "split sizes",
        'x: Float[Tensor, "b 6"]',
        "return x.split([2, 2], dim=-1)",
        "return x.split([2, 4], dim=-1)",
    ),
    Pair(
        "split of sizes in a list",
        'x: Float[Tensor, "b 6"]',
        """
            sizes = [1, 2, 4]
            return x.split(sizes, dim=1)
        """,
        """
            sizes = [1, 2, 3]
            return x.split(sizes, dim=1)
        """,
    ),
    Pair(
        "unpack a shape",
        ROW,
        """
            b, c, h = x.shape
            return b + c + h
        """,
        """
            b, c = x.shape
            return b + c
        """,
    ),
    Pair(
        "shape of a missing axis",
        ROW,
        "return x.shape[2]",
        "return x.shape[-2]",
    ),
    Pair(
        "size of a missing axis",
        ROW,
        "return x.size(2)",
        "return x.size(-2)",
    ),
    Pair(
        "dim beyond the rank",
        ROW,
        "return x.sum(2)",
        "return x.sum(x.ndim - 1)",
    ),
    Pair(
        "dim that is the rank",
        ROW,
        "return x.sum(x.ndim)",
        "return x.sum(-x.ndim)",
    ),
    Pair(
        "shape[ndim]",
        ROW,
        "return x.shape[x.ndim]",
        "return x.shape[x.dim() - 1]",
    ),
    Pair(
        "two indices too many",
        ROW,
        "return x[0, 0, 0]",
        "return x[0, 0]",
    ),
    Pair(
        "slice beyond the end",
        ROW,
        "return x[:, :5] + torch.zeros(5)",
        "return x[:, :5] + torch.zeros(3)",
    ),
    Pair(
        "slice from the end",
        ROW,
        "return x[:, -5:] + torch.zeros(5)",
        "return x[:, -5:] + torch.zeros(3)",
    ),
    Pair(
        "empty slice",
        ROW,
        "return x[:, 5:] + torch.zeros(2)",
        "return x[:, 5:] + torch.zeros(0)",
    ),
    Pair(
        "steps",
        'x: Float[Tensor, "b 7"]',
        "return x[:, ::3] + torch.zeros(2)",
        "return x[:, ::3] + torch.zeros(3)",
    ),
    Pair(
        "neighbours",
        SEQUENCE,
        "return x[:, 1:] - x",
        "return x[:, 1:] - x[:, :-1]",
    ),
    Pair(
        "neighbours two apart",
        SEQUENCE,
        "return x[:, 2:] - x[:, :-1]",
        "return x[:, 2:] - x[:, :-2]",
    ),
    Pair(
        "negative step",
        ROW,
        "return x[:, ::-1]",
        "return x.flip(1)",
    ),
    Pair(
        "embedding row",
        ROW,
        "return F.embedding(torch.tensor([5]), torch.zeros(3, 8))",
        "return F.embedding(torch.tensor([2]), torch.zeros(3, 8))",
    ),
    Pair(
        "embedding module row",
        ROW,
        "return nn.Embedding(3, 8)(torch.tensor([0, 3]))",
        "return nn.Embedding(3, 8)(torch.tensor([0, 2]))",
    ),
    Pair(
        "positions beyond the table",
        'x: Float[Tensor, "b 9 8"]',
        "return x + nn.Embedding(8, 8)(torch.arange(x.shape[1]))",
        "return x + nn.Embedding(9, 8)(torch.arange(x.shape[1]))",
    ),
    Pair(
        "padding index",
        ROW,
        "return nn.Embedding(3, 8, padding_idx=3)",
        "return nn.Embedding(3, 8, padding_idx=-3)",
    ),
    Pair(
        "one_hot",
        ROW,
        "return F.one_hot(torch.tensor([0, 3]), 3)",
        "return F.one_hot(torch.tensor([0, 3]), 4)",
    ),
    Pair(
        "one_hot of a range",
        ROW,
        "return F.one_hot(torch.arange(4), num_classes=3)",
        "return F.one_hot(torch.arange(4), num_classes=4)",
    ),
    Pair(
        "gather",
        ROW,
        "return x[:1].gather(1, torch.tensor([[3]]))",
        "return x[:1].gather(1, torch.tensor([[2]]))",
    ),
    Pair(
        "ragged tensor",
        ROW,
        "return torch.tensor([[1, 2], [3]])",
        "return torch.tensor([[1, 2], [3, 4]])",
    ),
]
