"""The exact number that a float of a program stands for.

`0.1` is 1/10. A program also computes constants before it runs on tensors, as `math.sqrt(2 / math.pi)` at the top of a
file: a float that agrees in all its digits with `q`, `q*sqrt(n)`, or one of these times a power of sqrt(pi), log 2 or
log 10, with a rational q of small height, stands for that number. A random float does so with a probability below 1e-4.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from shaped.spec.calls import call_named
from shaped.spec.expr import PI, Expr, apply, power, real
from shaped.spec.size import Size
from shaped.spec.tensor import Tensor, constant

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_DIGITS = 12  # of a decimal number that a person writes
_ROUNDING = 2.0**-51  # two roundings of a float64: constants are computed in a few steps
_HEIGHT = 10**8  # numerator times denominator


_LOGS = [(math.log(base), apply("log", real(base))) for base in (2, 10)]
_UNITS: tuple[tuple[float, Expr], ...] = (
    (1.0, real(1)),
    *((math.pi ** (k / 2), power(PI, Fraction(k, 2))) for k in (1, -1, 2, -2)),
    *((value**k, power(log, k)) for value, log in _LOGS for k in (1, -1)),
    (math.e, apply("exp", real(1))),
)


@lru_cache(maxsize=4096)
def stands_for(value: float) -> Tensor | float:
    """The number as a tensor without axes; the float itself where it is a decimal number.

    >>> stands_for(0.1), stands_for(2**-0.5), stands_for(math.sqrt(2 / math.pi))
    (0.1, (): (1/2)^(1/2), (): 2^(1/2)/pi^(1/2))
    """
    if not math.isfinite(value) or len(Decimal(repr(value)).as_tuple().digits) <= _MOST_DIGITS:
        return value
    for number, unit in _UNITS:
        rest = value / number
        found = _rational(rest)
        if found is not None:
            return Tensor((), unit * real(found), "float")
        square = _rational(rest * rest)
        if square is not None:
            root = power(real(square), Fraction(1, 2))
            return Tensor((), root * unit if rest > 0 else -root * unit, "float")
    return value


def _rational(value: float) -> Fraction | None:
    """A rational of small height within the rounding of a float."""
    if not 1 / _HEIGHT < abs(value) < _HEIGHT:
        return None
    found = Fraction(value).limit_denominator(max(1, math.isqrt(int(_HEIGHT / abs(value)))))
    if abs(found.numerator) * found.denominator > _HEIGHT:
        return None
    return found if abs(float(found) - value) <= _ROUNDING * abs(value) else None


# Functions of Python's `math` that are exact on sizes and numbers, with the names of torch.
_ALIKE = """
    sqrt exp expm1 log1p log2 log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh erf erfc lgamma
"""
_FUNCTIONS = {**{name: f"torch.{name}" for name in _ALIKE.split()}, "fabs": "torch.abs"}


def exact_math(original: Callable[..., Any], name: str) -> Callable[..., Any] | None:
    """A function of `math` that gives exact numbers for sizes, tensors and numbers; None if it needs no replacement."""
    if name == "log":
        return lambda x, *base: exact_log(original, x, *base)
    if name == "pow":
        return lambda x, y: _exact(x) ** _exact(y)
    torch_name = _FUNCTIONS.get(name)
    if torch_name is None:
        return None

    def exact(value: Any) -> Any:
        if isinstance(value, float) and (not math.isfinite(value) or value == 0):
            return original(value)
        return call_named(torch_name, (_exact(value),), {})

    return exact


def exact_log(original: Callable[..., Any], value: Any, *base: Any) -> Any:
    """The logarithm, of another base where one is given."""
    if isinstance(value, (int, float)) and value <= 0:
        return original(value, *base)  # raises as Python does
    logs = [call_named("torch.log", (_exact(each),), {}) for each in (value, *base)]
    return logs[0] / logs[1] if base else logs[0]


EXACT_CONSTANTS = {
    "pi": Tensor((), PI, "float"),
    "tau": Tensor((), real(2) * PI, "float"),
    "e": Tensor((), apply("exp", real(1)), "float"),
}


def _exact(value: Any) -> Tensor:
    """A size, a number or a tensor without axes as a tensor."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Size):
        return value.number()
    found = stands_for(value) if isinstance(value, float) else value
    return found if isinstance(found, Tensor) else constant(found)
