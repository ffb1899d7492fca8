"""A dumped graph comes back the same, with indices of its own."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from shaped.spec.dims import Dim, minimum
from shaped.spec.expr import (
    INFINITY,
    PI,
    Exists,
    Flag,
    Greatest,
    Node,
    Product,
    Sum,
    Variable,
    apply,
    index_nonnegative,
    index_zero,
    positive,
    power,
    where,
    zero,
)
from shaped.spec.index import fresh_index, lookup
from shaped.spec.serialize import dump, load

N, M = Dim.name("n"), Dim.name("m")
X, KEEP = Variable("x", (N, M)), Variable("keep", (N,), "bool")
ROW, COLUMN = fresh_index(N, "i"), fresh_index(M, "j")
ENTRY = X[ROW.dim, COLUMN.dim]

NODES: dict[str, Node] = {
    "arithmetic": (2 * ENTRY - Fraction(1, 3)) / N + PI,
    "fractional powers": power(ENTRY, Fraction(-3, 2)),
    "functions": apply("exp", -ENTRY),
    "binders": Sum(COLUMN, Product(ROW, ENTRY) * Greatest(ROW, ENTRY)),
    "choices": where(positive(ENTRY) & ~zero(ENTRY), ENTRY, -INFINITY),
    "flags": where(Exists(ROW, Flag(KEEP, (ROW.dim,))), 1, ENTRY),
    "index conditions": where(index_nonnegative(ROW.dim - COLUMN.dim) | index_zero(ROW.dim - 1), ENTRY, 0),
    "index arithmetic": X[(2 * ROW.dim + 1) // 3, minimum(COLUMN.dim, N)],
    "lookups": X[lookup("y", (ROW.dim,), N), COLUMN.dim],
    "intermediates": Variable("z", (N,), "float", ((ROW,), Sum(COLUMN, ENTRY)))[ROW.dim],
}


@pytest.mark.parametrize("name", NODES)
def test_what_is_read_back_is_the_same_up_to_the_numbers_of_its_indices(name: str) -> None:
    node = NODES[name]
    data = dump(node)
    (read,) = load(json.loads(json.dumps(data)))
    assert str(read) == str(node)
    assert dump(read) == data
    assert node.free.isdisjoint(read.free)


def test_nodes_dumped_together_keep_what_they_share() -> None:
    first, second = load(dump(ENTRY, Sum(COLUMN, ENTRY)))
    assert isinstance(second, Sum)
    assert second.body is first


def test_data_that_is_no_graph_is_refused() -> None:
    with pytest.raises(ValueError, match="no dumped expression graph"):
        load([[["Frobnicate", 1]], [0]])
