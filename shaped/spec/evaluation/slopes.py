"""The derivatives of the elementary functions."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from shaped.spec.expr import ONE, PI, Expr, apply, power

if TYPE_CHECKING:
    from collections.abc import Callable

_HALF = Fraction(1, 2)
_SLOPES: dict[str, Callable[[Expr], Expr]] = {
    "exp": lambda x: apply("exp", x),
    "log": lambda x: power(x, -1),
    "sin": lambda x: apply("cos", x),
    "cos": lambda x: -apply("sin", x),
    "tan": lambda x: 1 + apply("tan", x) ** 2,
    "asin": lambda x: power(ONE - x * x, -_HALF),
    "acos": lambda x: -power(ONE - x * x, -_HALF),
    "atan": lambda x: power(ONE + x * x, -1),
    "sinh": lambda x: apply("cosh", x),
    "cosh": lambda x: apply("sinh", x),
    "tanh": lambda x: ONE - apply("tanh", x) ** 2,
    "asinh": lambda x: power(ONE + x * x, -_HALF),
    "acosh": lambda x: power(x * x - ONE, -_HALF),
    "atanh": lambda x: power(ONE - x * x, -1),
    "sigmoid": lambda x: apply("sigmoid", x) * (ONE - apply("sigmoid", x)),
    "erf": lambda x: 2 * power(PI, -_HALF) * apply("exp", -(x * x)),
    "erfinv": lambda x: _HALF * power(PI, _HALF) * apply("exp", apply("erfinv", x) ** 2),
    "lgamma": lambda x: apply("digamma", x),
    "abs": lambda x: apply("sign", x),
}
_FLAT = frozenset(["sign", "floor", "round"])


def slope(function: str, argument: Expr) -> Expr | None:
    """The derivative of an elementary function at an argument, None if it is 0 everywhere; at its kinks, as in torch.

    >>> from shaped.spec.expr import real
    >>> print(slope("log", real(3)))
    1/3

    Raises:
        NotImplementedError: the derivative is no elementary function.
    """
    if function in _FLAT:
        return None
    if function not in _SLOPES:
        raise NotImplementedError(f"the derivative of {function} is no elementary function")
    return _SLOPES[function](argument)
