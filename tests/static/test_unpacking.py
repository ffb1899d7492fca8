"""The pieces of a tensor under as many names as there are."""

from __future__ import annotations

import textwrap

import pytest

from tests.static.oracle import check, errors

HEAD = """
from jaxtyping import Float
from torch import Tensor

class Bag:
    def __init__(self, items):
        self.items = items

    def split(self, parts):
        return tuple(self.items)

def f(x: Float[Tensor, "b 6"], y: Float[Tensor, "b d"], flag: bool, *more: Tensor) -> object:
"""

REPORTED = {
    "a chunk too few": "q, k, v = x.chunk(2, dim=-1)",
    "a chunk too many": "q, k = torch.chunk(x, 3, -1)",
    "chunks of a named size": "q, k = y.chunk(3, dim=-1)",
    "pieces that are made something of": "q, k = [t * 2 for t in x.split(2, -1)]",
    "mapped pieces": "q, k = map(torch.relu, x.chunk(3, dim=-1))",
    "fewer chunks than were asked for": "a, b, c, d = x[:, :5].chunk(4, dim=1)",
    "rows": "a, b = torch.zeros(3, 2)",
    "a starred name does not take what is not there": "a, b, *c, d = x.chunk(2, 1)",
    "unbound columns": "a, b, c = x[:, :2].unbind(-1)",
    "sizes beside a starred name": "b, c, *rest, d = x.shape",
    "a piece by its number": "return x.chunk(3, dim=-1)[3]",
    "a named piece by its number": """
        parts = x.split(3, dim=-1)
        return parts[0] + parts[-3]
    """,
}

SILENT = {
    "as many as there are": """
        q, k, v = x.chunk(3, dim=-1)
        a, b = [t * 2 for t in x.split(3, -1)]
        c, *d = y.chunk(3, dim=-1)
        b, *rest, w = x.shape
        e, g = torch.zeros(2, 2)
        h, *i = torch.zeros(1, 2)
        return x.chunk(3, dim=-1)[-3], x.unbind(-1)[5]
    """,
    "pieces that were not counted": """
        a, b = y.unbind(0)
        c, d, e = y.split(4, dim=-1)
        return y.split(4)[7]
    """,
    "other objects that can be split": "a, b, c = Bag([x, y, 1]).split(2)",
    "another method of a string": "a, b = 'k v'.split()",
    "a length that is asked for": """
        parts = x.chunk(3, dim=-1)
        if len(parts) > 3:
            return parts[3]
        return parts[4] if len(parts) == 5 else parts[0]
    """,
    "tensors of two shapes": """
        z = x if flag else x[:, :4]
        a, b = z.chunk(2, dim=-1)
        c, d = z.split(2, dim=-1) if flag else z.split(3, dim=-1)
        return a
    """,
    "a condition that may ask how many there are": """
        parts = x.chunk(3, dim=-1)
        return parts[3] if flag else parts[0]
    """,
    "more arguments than are known": "return more[3]",
    "some of the pieces": "a, b = [t for t in x.chunk(3, dim=-1) if t.sum() > 0]",
}


def program(body: str) -> str:
    return HEAD + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n    return x\n"


@pytest.mark.parametrize("body", REPORTED.values(), ids=REPORTED)
def test_another_number_of_names_than_of_pieces_is_reported(body: str) -> None:
    found = errors(check(program(body)))
    assert len(found) == 1, found
    assert "unpack" in found[0] or "out of range" in found[0]


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_names_for_pieces_whose_number_may_be_right_are_silent(body: str) -> None:
    assert errors(check(program(body))) == []
