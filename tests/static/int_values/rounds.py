"""Indices in loops."""

from __future__ import annotations

from tests.static.int_values.pair import SEQUENCE, THREE, Pair

PAIRS = [
    Pair(
        "next item in a loop",
        THREE,
        """
            total = x[0]
            for i in range(len(x)):
                total = total + x[i + 1]
            return total
        """,
        """
            total = x[0]
            for i in range(len(x) - 1):
                total = total + x[i + 1]
            return total
        """,
    ),
    Pair(
        "next step in a loop",
        SEQUENCE,
        """
            total = x[:, 0]
            for i in range(x.shape[1]):
                total = total + x[:, i + 1]
            return total
        """,
        """
            total = x[:, 0]
            for i in range(x.shape[1] - 1):
                total = total + x[:, i + 1]
            return total
        """,
    ),
    Pair(
        "a loop from 1 past the end",
        SEQUENCE,
        """
            total = x[:, 0]
            for i in range(1, x.shape[1] + 1):
                total = total + x[:, i]
            return total
        """,
        """
            total = x[:, 0]
            for i in range(1, x.shape[1]):
                total = total + x[:, i]
            return total
        """,
    ),
    Pair(
        "a loop over another axis",
        SEQUENCE,
        """
            total = x[0]
            for i in range(9):
                total = total + x[:, :, i].sum()
            return total
        """,
        """
            total = x[0]
            for i in range(8):
                total = total + x[:, :, i].sum()
            return total
        """,
    ),
    Pair(
        "a comprehension past the end",
        SEQUENCE,
        "return [x[:, i + 1] for i in range(x.shape[1])]",
        "return [x[:, i + 1] - x[:, i] for i in range(x.shape[1] - 1)]",
    ),
    Pair(
        "many known rounds",
        'x: Float[Tensor, "b 40"]',
        """
            for i in range(40):
                x[:, i + 1] = 0
            return x
        """,
        """
            for i in range(39):
                x[:, i + 1] = 0
            return x
        """,
    ),
    Pair(
        "the last i is out of range behind the loop",
        THREE,
        """
            for i in range(3):
                y = x[i]
            return x[i + 1] + y
        """,
        """
            for i in range(3):
                y = x[i]
            return x[i] + y
        """,
    ),
    Pair(
        "backwards from the length",
        SEQUENCE,
        """
            out = []
            for i in range(x.shape[1], -1, -1):
                out.append(x[:, i])
            return torch.stack(out)
        """,
        """
            out = []
            for i in range(x.shape[1] - 1, -1, -1):
                out.append(x[:, i])
            return torch.stack(out)
        """,
    ),
    Pair(
        "stacked in a loop",
        SEQUENCE,
        """
            y = torch.stack([x[:, i] for i in range(x.shape[1])], dim=1)
            return y + torch.zeros(x.shape[1] + 1, 8)
        """,
        """
            y = torch.stack([x[:, i] for i in range(x.shape[1])], dim=1)
            return y + torch.zeros(x.shape[1], 8)
        """,
    ),
    Pair(
        "windows",
        SEQUENCE,
        """
            y = torch.stack([x[:, i : i + 2] for i in range(x.shape[1] - 1)], dim=1)
            return y + torch.zeros(3, 8)
        """,
        """
            y = torch.stack([x[:, i : i + 2] for i in range(x.shape[1] - 1)], dim=1)
            return y + torch.zeros(2, 8)
        """,
    ),
    Pair(
        "enumerate next",
        THREE,
        """
            for i, row in enumerate(x):
                x[i] = row + x[i + 1]
            return x
        """,
        """
            for i, row in enumerate(x[:-1]):
                x[i] = row + x[i + 1]
            return x
        """,
    ),
    Pair(
        "enumerate next uncounted",
        'x: Float[Tensor, "t d"]',
        """
            for i, row in enumerate(x):
                x[i] = row + x[i + 1]
            return x
        """,
        """
            for i, row in enumerate(x[:-1]):
                x[i] = row + x[i + 1]
            return x
        """,
    ),
    Pair(
        "enumerate unbound",
        SEQUENCE,
        """
            out = []
            for i, step in enumerate(x.unbind(1)):
                out.append(step + x[:, i + 1])
            return out
        """,
        """
            out = []
            for i, step in enumerate(x.unbind(1)):
                out.append(step + x[:, i])
            return out
        """,
    ),
    Pair(
        "reversed range",
        SEQUENCE,
        """
            total = x[:, 0]
            for i in reversed(range(x.shape[1])):
                total = total + x[:, i + 1]
            return total
        """,
        """
            total = x[:, 0]
            for i in reversed(range(x.shape[1] - 1)):
                total = total + x[:, i + 1]
            return total
        """,
    ),
    Pair(
        "while",
        SEQUENCE,
        """
            i = 0
            total = x[:, 0]
            while i < x.shape[1]:
                i += 1
                total = total + x[:, i]
            return total
        """,
        """
            i = 0
            total = x[:, 0]
            while i < x.shape[1]:
                total = total + x[:, i]
                i += 1
            return total
        """,
    ),
    Pair(
        "while closed",
        SEQUENCE,
        """
            i = 0
            total = x[:, 0]
            while i <= x.shape[1]:
                total = total + x[:, i]
                i += 1
            return total
        """,
        """
            i = 0
            total = x[:, 0]
            while i < x.shape[1]:
                total = total + x[:, i]
                i += 1
            return total
        """,
    ),
]
