"""Tensors of given numbers: small constants that a program brings along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shaped.spec.dims import Dim, product
from shaped.spec.expr import Condition, Expr, index_zero, where
from shaped.spec.tensor import Body, NotExpressible, Tensor, TensorLike, build, tensor

_MOST_GIVEN = 64  # elements


def given(values: Any, shape: tuple[int, ...], number: Callable[[float], TensorLike] = float) -> Tensor:
    """A tensor of given numbers, as nested lists of this shape; `number` says what a float stands for.

    >>> print(given([[1, 2], [1, 2]], (2, 2)))
    (2, 2): (1 if j = 0 else 2)

    Raises:
        NotExpressible: there are more than 64 of them, or one is NaN.
    """
    count = product([Dim.of(size) for size in shape]).constant or 0
    if count > _MOST_GIVEN:
        raise NotExpressible(f"a tensor of {count} given numbers")

    def first(nested: Any) -> Any:
        return first(nested[0]) if isinstance(nested, list) and nested else 0 if nested == [] else nested

    def entry(nested: Any, places: tuple[Dim, ...]) -> Any:
        if not places:
            value = tensor(number(nested) if isinstance(nested, float) else nested)
            return (value.body, value.imaginary) if value.imaginary is not None else value.body
        entries = [entry(each, places[1:]) for each in nested]
        chosen = entries[-1]
        for place, each in reversed(list(enumerate(entries[:-1]))):
            chosen = choose(index_zero(places[0] - place), each, chosen)
        return chosen

    def choose(here: Condition, then: Body, otherwise: Body) -> Body:
        if isinstance(then, tuple) and isinstance(otherwise, tuple):
            return where(here, then[0], otherwise[0]), where(here, then[1], otherwise[1])
        if isinstance(then, Condition) and isinstance(otherwise, Condition):
            return then if then is otherwise else (here & then) | (~here & otherwise)
        assert isinstance(then, Expr)
        assert isinstance(otherwise, Expr)
        return where(here, then, otherwise)

    if not count:
        return build(shape, lambda *places: 0)
    kind = tensor(first(values)).kind
    return build(shape, lambda *places: entry(values, places), kind)
