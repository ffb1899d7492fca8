"""Numbers that functions of itertools, functools, operator and math give, which sizes are made of."""

from __future__ import annotations

import pytest

from tests.static.oracle import check, disagreements, notes

HEAD = """
import functools, itertools, math, operator
import numpy as np
x = torch.zeros(2, 3)
sizes = [4, 5, 6]
"""

NUMBERS = [
    "functools.reduce(operator.mul, x.shape)",
    "functools.reduce(lambda a, b: a + b, sizes, 4)",
    "functools.reduce(operator.floordiv, [100, 5, 3])",
    "len(list(itertools.product([1, 2], sizes)))",
    "len(list(itertools.combinations(sizes, 2)))",
    "len(list(itertools.permutations(sizes, 2)))",
    "sum(itertools.chain([1, 2], sizes, (3,)))",
    "sum(itertools.chain.from_iterable([[1, 2], sizes]))",
    "list(itertools.accumulate(sizes))[-1]",
    "list(itertools.accumulate(sizes, operator.mul))[1]",
    "sum(a * b for a, b in itertools.pairwise(sizes))",
    "sum(itertools.islice(sizes, 1, None))",
    "sum(itertools.repeat(3, 4))",
    "sum(filter(lambda v: v > 4, sizes))",
    "len(list(filter(None, [0, 1, 2])))",
    "range(10)[3]",
    "len(range(10)[2:])",
    "dict(zip('abc', sizes))['b']",
    "pow(2, 3)",
    "int('12')",
    "max([], default=6)",
    "max(sizes, default=6)",
    "int(np.ceil(7 / 2)) + int(np.floor(3.7)) + int(np.log2(8))",
]
NOT_COUNTED = [
    "len(list(filter(len, [[1], [], x.tolist()])))",
    "int(max(sizes, key=lambda v: -v))",
    "len(list(itertools.islice(itertools.count(), 3)))",
    "next(itertools.islice(sizes, 1, None))",
]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_is_the_one_that_python_gives(number: str) -> None:
    source = f"{HEAD}reveal_shape(torch.zeros({number}))"
    assert disagreements(source) == []
    ((_, shape),) = notes(check(source))
    assert shape.isdecimal()


@pytest.mark.parametrize("number", NOT_COUNTED)
def test_a_number_that_is_not_followed_may_be_any(number: str) -> None:
    assert disagreements(f"{HEAD}reveal_shape(torch.zeros({number}))") == []


def test_what_may_be_an_array_is_no_float() -> None:
    assert (
        disagreements(
            """
        import numpy as np
        from json import loads
        scale = np.sqrt(loads("[[4.0], [9.0]]"))
        reveal_shape(torch.zeros(3) * torch.as_tensor(scale))
        """
        )
        == []
    )
