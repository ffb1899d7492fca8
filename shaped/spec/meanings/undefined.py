"""NaN: no real number is one, so it stands where an expression is undefined, which is not followed."""

from __future__ import annotations

from functools import cache

from shaped.spec.expr import FALSE, Apply, Infinity, Node, Power
from shaped.spec.meaning import backward, meaning
from shaped.spec.tensor import NotExpressible, Tensor, pointwise

_PARTIAL = frozenset(["log", "tan", "asin", "acos", "acosh", "atanh", "erfinv", "lgamma", "digamma"])


@cache
def may_be_undefined(node: Node) -> bool:
    """Whether an expression may have no value at some place, or an infinite one.

    >>> from shaped.spec.tensor import variable
    >>> x = variable("x", ("n",))
    >>> may_be_undefined(x.exp().body), may_be_undefined((1 / x).body)
    (False, True)
    """
    if isinstance(node, Infinity) or (isinstance(node, Apply) and node.function in _PARTIAL):
        return True
    if isinstance(node, Power) and (node.exponent < 0 or node.exponent.denominator > 1):
        return True
    return any(may_be_undefined(part) for part in node.parts() if isinstance(part, Node))


def _require_defined(operation: str, input: Tensor) -> None:
    parts = [input.body, *([] if input.imaginary is None else [input.imaginary])]
    if any(may_be_undefined(part) for part in parts):
        raise NotExpressible(f"{operation} of a tensor that may be infinite or undefined somewhere")


@meaning("isnan")
def isnan(input: Tensor) -> Tensor:
    _require_defined("isnan", input)
    return pointwise(lambda x: FALSE, input, complex_parts=True)


@meaning("nan_to_num")
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    _require_defined("nan_to_num", input)
    return input


@backward("nan_to_num")
def nan_to_num_backward(
    grad: Tensor,
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:
    return grad
