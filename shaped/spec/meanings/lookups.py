"""Entries of integer tensors as places on an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shaped.spec.dims import Dim
from shaped.spec.expr import Condition, Constant, Expr, Where, Whole, index_nonnegative
from shaped.spec.index import is_nonnegative
from shaped.spec.meanings.places import chosen
from shaped.spec.tensor import Body, NotExpressible, Tensor


def at_value(index: Tensor, places: Sequence[Dim], then: Callable[[Dim], Body]) -> Body:
    """`then` of the entry of an int tensor; where that is chosen by conditions, chosen by these.

    Raises:
        NotExpressible: the entry is no index expression.
    """

    def follow(body: Expr | Condition) -> Body:
        if isinstance(body, Where):
            return chosen(body.condition, follow(body.then), follow(body.otherwise))
        if isinstance(body, Whole):
            return then(body.dim)
        if isinstance(body, Constant) and body.value.denominator == 1:
            return then(Dim.of(body.value.numerator))
        raise NotExpressible(f"the value {body} as an index")

    if index.kind != "int":
        raise NotExpressible(f"a tensor of kind {index.kind} as an index")
    return follow(index.body_at(*places))


def wrapped(place: Dim, size: Dim, then: Callable[[Dim], Body]) -> Body:
    """`then` of a place that counts from the end where it is negative."""
    if is_nonnegative(place):
        return then(place)
    if is_nonnegative(-place - 1):
        return then(place + size)
    return chosen(index_nonnegative(place), then(place), then(place + size))
