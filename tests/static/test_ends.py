"""The first and last rounds of loops over ranges that are not counted."""

from __future__ import annotations

import textwrap

import pytest

from tests.static.oracle import check, errors

HEAD = """
from jaxtyping import Float
from torch import Tensor

def f(x: Float[Tensor, "b t d"], k: int, flags: list[bool]) -> Tensor:
"""

REPORTED = {
    "the next step at the last one": """
        for i in range(x.shape[1]):
            x[:, i] += x[:, i + 1]
    """,
    "a range that is one too long": """
        for i in range(1, x.shape[1] + 1):
            x[:, i] = 0
    """,
    "a falling range that starts at the length": """
        for i in range(x.shape[1], 0, -1):
            x = x + x[:, i : i + 1] + x[:, i].sum()
    """,
    "a name for the next step": """
        for i in range(x.size(1)):
            following = i + 1
            x[:, i] = x[:, following]
    """,
    "an index of every second step": """
        for i in range(0, 40, 2):
            x[:, :40][:, i + 3] = 0
    """,
    "a comprehension": """
        return torch.stack([x[:, i + 1] for i in range(x.shape[1])])
    """,
    "numbers of what is gone through": """
        for i, step in enumerate(x.unbind(1)):
            x[:, i + 1] = step
    """,
    "a range that is gone through backwards": """
        for i in reversed(range(x.shape[1])):
            x[:, i] = x[:, i + 1]
    """,
    "a count": """
        i = 0
        while i < x.shape[1]:
            i += 1
            x[:, i] = 0
    """,
    "a count that ends at the length": """
        i = 1
        while i <= x.shape[1]:
            x[:, i] = 0
            i += 1
    """,
    "a loop in a loop": """
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                x[i, j + 1] = 0
    """,
    "a loop that skips rounds before it reads": """
        for i in range(x.shape[2]):
            if i > 3:
                x = x + 1
            x[:, :, i + 1] = 0
    """,
}

SILENT = {
    "one round less": """
        for i in range(x.shape[1] - 1):
            x[:, i] += x[:, i + 1]
    """,
    "a condition that leaves the last round out": """
        for i in range(x.shape[1]):
            if i + 1 < x.shape[1]:
                x[:, i] += x[:, i + 1]
            x[:, i] += x[:, i + 1] if i < x.shape[1] - 1 else 0
    """,
    "a condition that may leave the last round out": """
        for i in range(x.shape[1]):
            if flags[i]:
                x[:, i] += x[:, i + 1]
            if i != k:
                x[:, i] += x[:, i + 1]
            flags[i] and x[:, i + 1].sum()
    """,
    "a loop that may be left before": """
        for i in range(x.shape[1]):
            if flags[i]:
                break
            x[:, i] += x[:, i + 1]
    """,
    "a round that may be left before": """
        for i in range(x.shape[1]):
            if flags[i]:
                continue
            x[:, i] += x[:, i + 1]
    """,
    "a loop that is left by return": """
        for i in range(x.shape[1]):
            x[:, i] += x[:, i + 1]
            if x.sum() > k:
                return x
    """,
    "an error that is caught": """
        for i in range(x.shape[1]):
            try:
                x[:, i] += x[:, i + 1]
            except IndexError:
                pass
    """,
    "an error that is caught outside": """
        try:
            for i in range(x.shape[1]):
                x[:, i] += x[:, i + 1]
        except IndexError:
            pass
    """,
    "slices, which are cut": """
        for i in range(x.shape[1]):
            x[:, i + 1 :] = x[:, : -(i + 1)] if i else x[:, i + 1 :]
    """,
    "the step before, which wraps around": """
        for i in range(x.shape[1]):
            x[:, i] += x[:, i - 1]
    """,
    "a length that is not known to be the tensor's": """
        for i in range(k):
            x[:, i] += x[:, i + 1]
    """,
    "a tensor that grows": """
        for i in range(x.shape[1]):
            x = torch.cat([x, x[:, :1]], dim=1)
            x[:, i] += x[:, i + 1]
    """,
    "another axis": """
        for i in range(x.shape[1]):
            x[:, :, :1].expand(-1, -1, 90)[:, :, i + 1]
    """,
    "comprehensions with conditions": """
        first = [x[:, i + 1] for i in range(x.shape[1]) if i < x.shape[1] - 1]
        second = [x[:, i + 1] if i < x.shape[1] - 1 else x[:, i] for i in range(x.shape[1])]
        third = [flag and x[:, i + 1] for i in range(x.shape[1]) for flag in flags]
        return torch.stack([*first, *second])
    """,
    "numbers of other things": """
        for i, flag in enumerate(flags):
            x[:, i + 1] = 0
        for i, step in enumerate(x.unbind(1), 0):
            x[:, i] = step
        for i, step in enumerate(x.unbind(1)[:-1]):
            x[:, i + 1] = step
        for i in reversed(range(1, x.shape[1])):
            x[:, i] = x[:, i - 1]
    """,
    "counts": """
        i = 0
        while i < x.shape[1]:
            x[:, i] = 0
            i += 1
        i = 0
        while i < x.shape[1]:
            x[:, i] = 0
            i += 2
            x[:, i - 1] = 0
        i = 0
        while i < x.shape[1]:
            if flags[i]:
                i += 1
            i += 1
            x[:, i - 1] = 0
        i = 0
        while i < x.shape[1]:
            i += 1
            x = torch.cat([x, x], dim=1)
            x[:, i] = 0
        i = 0
        while i < x.shape[1] and flags[i]:
            i += 1
            x[:, i] = 0
        i = k
        while i < x.shape[1] - 1:
            i += 1
            x[:, i] = 0
    """,
    "a function that is not called": """
        later = []
        for i in range(x.shape[1]):
            later.append(lambda: x[:, i + 1])
    """,
}


def program(body: str) -> str:
    return HEAD + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n    return x\n"


@pytest.mark.parametrize("body", REPORTED.values(), ids=REPORTED)
def test_an_index_beyond_the_end_in_the_last_round_is_reported(body: str) -> None:
    found = errors(check(program(body)))
    assert len(found) == 1, found
    assert "out of range" in found[0]


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_an_index_that_no_round_takes_for_certain_is_silent(body: str) -> None:
    assert errors(check(program(body))) == []
