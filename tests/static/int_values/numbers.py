"""Sizes that are computed."""

from __future__ import annotations

from tests.static.int_values.pair import IMAGE, ROW, SEQUENCE, Pair

PAIRS = [
    Pair(
        "ceil",
        'x: Float[Tensor, "b 7"]',
        "return x + torch.zeros(2 * math.ceil(7 / 2))",
        "return x + torch.zeros(2 * math.ceil(7 / 2) - 1)",
    ),
    Pair(
        "ceil of a name",
        SEQUENCE,
        "return x[:, ::2] + torch.zeros(math.ceil(x.shape[1] / 2) + 1, 8)",
        "return x[:, ::2] + torch.zeros(math.ceil(x.shape[1] / 2), 8)",
    ),
    Pair(
        "floor",
        'x: Float[Tensor, "b 7"]',
        "return x + torch.zeros(2 * math.floor(7 / 2))",
        "return x + torch.zeros(1 + 2 * math.floor(7 / 2))",
    ),
    Pair(
        "sqrt",
        'x: Float[Tensor, "b 16 8"]',
        "return x.view(x.shape[0], int(math.sqrt(16)) + 1, 4, 8)",
        "return x.view(x.shape[0], int(math.sqrt(16)), 4, 8)",
    ),
    Pair(
        "power of a half",
        'x: Float[Tensor, "b 16 8"]',
        "return x.view(x.shape[0], int(16**0.5), 5, 8)",
        "return x.view(x.shape[0], int(16**0.5), 4, 8)",
    ),
    Pair(
        "prod",
        IMAGE,
        "return x.view(x.shape[0], math.prod(x.shape[1:]) + 1)",
        "return x.view(x.shape[0], math.prod(x.shape[1:]))",
    ),
    Pair(
        "numel",
        SEQUENCE,
        "return x.view(x.numel() // 8, 9)",
        "return x.view(x.numel() // 8, 8)",
    ),
    Pair(
        "divmod",
        'x: Float[Tensor, "b 14"]',
        """
            q, r = divmod(14, 4)
            return x[:, : q * 4] + torch.zeros(q * 4 + r)
        """,
        """
            q, r = divmod(14, 4)
            return x + torch.zeros(q * 4 + r)
        """,
    ),
    Pair(
        "modulo",
        'x: Float[Tensor, "b 14"]',
        "return F.pad(x, (0, 14 % 4)).view(-1, 4, 4)[0] + x.new_zeros(5)",
        "return F.pad(x, (0, 14 % 4)).view(-1, 4, 4)[0] + x.new_zeros(4)",
    ),
    Pair(
        "padding to a multiple",
        SEQUENCE,
        """
            rest = -x.shape[1] % 4
            y = F.pad(x, (0, 0, 0, rest))
            return y.view(x.shape[0], -1, 4, 9)
        """,
        """
            rest = -x.shape[1] % 4
            y = F.pad(x, (0, 0, 0, rest))
            return y.view(x.shape[0], -1, 4, 8)
        """,
    ),
    Pair(
        "round",
        ROW,
        "return x + torch.zeros(round(3.6))",
        "return x + torch.zeros(round(2.6))",
    ),
    Pair(
        "rounds to even",
        'x: Float[Tensor, "b 2"]',
        "return x + torch.zeros(round(7 / 2))",
        "return x + torch.zeros(round(5 / 2))",
    ),
    Pair(
        "min",
        SEQUENCE,
        "return x + torch.zeros(max(4, 8, 9))",
        "return x + torch.zeros(min(8, 9))",
    ),
    Pair(
        "sum of sizes",
        'x: Float[Tensor, "b 6"]',
        """
            sizes = [1, 2, 4]
            return nn.Linear(sum(sizes), 2)(x)
        """,
        """
            sizes = [1, 2, 3]
            return nn.Linear(sum(sizes), 2)(x)
        """,
    ),
    Pair(
        "sum of a generator",
        'x: Float[Tensor, "b 6"]',
        "return x + torch.zeros(sum(2 * i for i in (1, 3)))",
        "return x + torch.zeros(sum(2 * i for i in (1, 2)))",
    ),
    Pair(
        "hidden sizes",
        'x: Float[Tensor, "b 6"]',
        """
            dims = [6, 8, 4]
            layers = [nn.Linear(a, b) for a, b in zip(dims[:-1], dims[:-1])]
            return nn.Sequential(*layers)(x)
        """,
        """
            dims = [6, 8, 4]
            layers = [nn.Linear(a, b) for a, b in zip(dims[:-1], dims[1:])]
            return nn.Sequential(*layers)(x)
        """,
    ),
    Pair(
        "sizes that double",
        'x: Float[Tensor, "b 6"]',
        """
            width = 6
            for _ in range(3):
                x = nn.Linear(width, width * 2)(x)
            return x
        """,
        """
            width = 6
            for _ in range(3):
                x = nn.Linear(width, width * 2)(x)
                width *= 2
            return x
        """,
    ),
    Pair(
        "shifted power",
        'x: Float[Tensor, "b 8"]',
        "return nn.Linear(1 << 4, 2)(x)",
        "return nn.Linear(1 << 3, 2)(x)",
    ),
    Pair(
        "power of 2",
        'x: Float[Tensor, "b 8"]',
        "return nn.Linear(2**4, 2)(x)",
        "return nn.Linear(2**3, 2)(x)",
    ),
    Pair(
        "boolean as an int",
        'x: Float[Tensor, "b 8"], wide: bool',
        "return nn.Linear(9 + True, 2)(x)",
        "return nn.Linear(8 + False, 2)(x)",
    ),
    Pair(
        "len of a list",
        ROW,
        "return x + torch.zeros(len(['a', 'b', 'c', 'd']))",
        "return x + torch.zeros(len(['a', 'b', 'c']))",
    ),
    Pair(
        "len of a string",
        ROW,
        "return x + torch.zeros(len('abcd'))",
        "return x + torch.zeros(len('abc'))",
    ),
    Pair(
        "len of a dict",
        ROW,
        "return x + torch.zeros(len({'a': 1, 'b': 2}))",
        "return x + torch.zeros(len({'a': 1, 'b': 2, 'c': 3}))",
    ),
    Pair(
        "len of a range",
        ROW,
        "return x + torch.zeros(len(range(0, 10, 3)))",
        "return x + torch.zeros(len(range(0, 9, 3)))",
    ),
]
