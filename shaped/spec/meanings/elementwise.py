"""Functions of one real number, entry by entry: each with its derivative.

Complex numbers and roundings are in `complex_numbers` and `rounding`, activations in `activation`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from shaped.spec.expr import ONE, PI, Expr, add, apply, power, real, where, zero
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.complex_numbers import COMPLEX_FUNCTIONS
from shaped.spec.meanings.kinds import elementwise
from shaped.spec.tensor import NotExpressible, Tensor, pointwise

if TYPE_CHECKING:
    from collections.abc import Callable

_HALF = Fraction(1, 2)
LOG_2 = apply("log", real(2))
LOG_10 = apply("log", real(10))
TWO_OVER_ROOT_PI = 2 * power(PI, -_HALF)


@dataclass(frozen=True)
class _Function:
    """One line of the table: `torch.{name}`, also under other names.

    Args:
        names: the operations.
        entry: the function.
        derivative: its derivative, with torch's convention at kinks.
        domain: where it is defined.
        kinks: where it has no derivative, and the convention.
    """

    names: tuple[str, ...]
    entry: Callable[[Expr], Expr]
    derivative: Callable[[Expr], Expr]
    domain: str = ""
    kinks: str = ""


def _applied(function: str) -> Callable[[Expr], Expr]:
    return lambda x: apply(function, x)


def exp(x: Expr) -> Expr:
    return apply("exp", x)


def log(x: Expr) -> Expr:
    return apply("log", x)


def root(x: Expr) -> Expr:
    return power(x, _HALF)


def sigmoid(x: Expr) -> Expr:
    return apply("sigmoid", x)


def sign(x: Expr) -> Expr:
    return apply("sign", x)


def normal_density(x: Expr) -> Expr:
    """exp(-x^2/2) / (2 pi)^(1/2)"""
    return exp(-(x**2) * _HALF) * power(2 * PI, -_HALF)


def normal_distribution(x: Expr) -> Expr:
    """The probability that a standard normal variable is at most x."""
    return (1 + apply("erf", x * power(real(2), -_HALF))) * _HALF


def _sinc(x: Expr) -> Expr:
    return where(zero(x), 1, apply("sin", PI * x) / (PI * x))


def _sinc_derivative(x: Expr) -> Expr:
    return where(zero(x), 0, (PI * x * apply("cos", PI * x) - apply("sin", PI * x)) / (PI * x**2))


def _entropy(x: Expr) -> Expr:
    return where(zero(x), 0, -x * log(x))


_INFINITE_AT_0 = "x = 0: infinite"
_FUNCTIONS = [
    _Function(("exp",), exp, exp),
    _Function(("exp2",), lambda x: exp(x * LOG_2), lambda x: LOG_2 * exp(x * LOG_2)),
    _Function(("expm1",), lambda x: exp(x) - 1, exp),
    _Function(("log",), log, lambda x: 1 / x, "x > 0"),
    _Function(("log2",), lambda x: log(x) / LOG_2, lambda x: 1 / (x * LOG_2), "x > 0"),
    _Function(("log10",), lambda x: log(x) / LOG_10, lambda x: 1 / (x * LOG_10), "x > 0"),
    _Function(("log1p",), lambda x: log(1 + x), lambda x: 1 / (1 + x), "x > -1"),
    _Function(("sqrt",), root, lambda x: _HALF * power(x, -_HALF), "x >= 0", _INFINITE_AT_0),
    _Function(("rsqrt",), lambda x: power(x, -_HALF), lambda x: -_HALF * power(x, Fraction(-3, 2)), "x > 0"),
    _Function(("reciprocal",), lambda x: 1 / x, lambda x: -power(x, -2), "x != 0"),
    _Function(("square",), lambda x: x**2, lambda x: 2 * x),
    _Function(("neg", "negative"), lambda x: -x, lambda x: real(-1)),
    _Function(("positive",), lambda x: x, lambda x: ONE),
    _Function(("abs", "absolute"), _applied("abs"), sign, kinks="x = 0: 0"),
    _Function(("sin",), _applied("sin"), _applied("cos")),
    _Function(("cos",), _applied("cos"), lambda x: -apply("sin", x)),
    _Function(("tan",), _applied("tan"), lambda x: 1 + apply("tan", x) ** 2, "cos x != 0"),
    _Function(("sinh",), _applied("sinh"), _applied("cosh")),
    _Function(("cosh",), _applied("cosh"), _applied("sinh")),
    _Function(("tanh",), _applied("tanh"), lambda x: 1 - apply("tanh", x) ** 2),
    _Function(("asin", "arcsin"), _applied("asin"), lambda x: power(1 - x**2, -_HALF), "|x| < 1"),
    _Function(("acos", "arccos"), _applied("acos"), lambda x: -power(1 - x**2, -_HALF), "|x| < 1"),
    _Function(("atan", "arctan"), _applied("atan"), lambda x: 1 / (1 + x**2)),
    _Function(("asinh", "arcsinh"), _applied("asinh"), lambda x: power(x**2 + 1, -_HALF)),
    _Function(("acosh", "arccosh"), _applied("acosh"), lambda x: power(x**2 - 1, -_HALF), "x > 1"),
    _Function(("atanh", "arctanh"), _applied("atanh"), lambda x: 1 / (1 - x**2), "|x| < 1"),
    _Function(("erf",), _applied("erf"), lambda x: TWO_OVER_ROOT_PI * exp(-(x**2))),
    _Function(("erfc",), lambda x: 1 - apply("erf", x), lambda x: -TWO_OVER_ROOT_PI * exp(-(x**2))),
    _Function(("erfinv",), _applied("erfinv"), lambda x: exp(apply("erfinv", x) ** 2) / TWO_OVER_ROOT_PI, "|x| < 1"),
    _Function(("sigmoid",), sigmoid, lambda x: sigmoid(x) * (1 - sigmoid(x))),
    _Function(("lgamma",), _applied("lgamma"), _applied("digamma"), "x is no integer <= 0"),
    _Function(("sinc",), _sinc, _sinc_derivative),
    _Function(("deg2rad",), lambda x: x * PI / 180, lambda x: PI / 180),
    _Function(("rad2deg",), lambda x: x * 180 / PI, lambda x: 180 / PI),
    _Function(("special.ndtr",), normal_distribution, normal_density),
    _Function(
        ("special.log_ndtr",),
        lambda x: log(normal_distribution(x)),
        lambda x: normal_density(x) / normal_distribution(x),
    ),
    _Function(
        ("special.erfcx",),
        lambda x: exp(x**2) * (1 - apply("erf", x)),
        lambda x: 2 * x * exp(x**2) * (1 - apply("erf", x)) - TWO_OVER_ROOT_PI,
    ),
    _Function(("special.entr",), _entropy, lambda x: -log(x) - 1, "x >= 0", _INFINITE_AT_0),
]
# Their result is an integer where the argument is, and an index expression where that is one.
_KEEPS_INTEGERS = {"neg", "square", "positive", "abs"}


def _declare(row: _Function) -> None:
    name = row.names[0]
    kind = None if name in _KEEPS_INTEGERS else "float"
    on_complex = COMPLEX_FUNCTIONS.get(name)
    on_dims = {"neg": lambda x: -x, "square": lambda x: x * x, "positive": lambda x: x}.get(name)

    @meaning(*row.names, kinks=row.kinks, domain=row.domain)
    def function(input: Tensor) -> Tensor:
        return elementwise(row.entry, input, kind=kind, on_dims=on_dims, on_complex=on_complex)

    @backward(*row.names)
    def function_backward(grad: Tensor, input: Tensor) -> Tensor:
        if input.imaginary is not None:
            raise NotExpressible(f"the closed form of the backward of {name} of complex numbers")
        return pointwise(lambda g, x: g * row.derivative(x), grad, input)


for _row in _FUNCTIONS:
    _declare(_row)


@meaning("digamma", domain="x is no integer <= 0")
def digamma(input: Tensor) -> Tensor:
    return elementwise(_applied("digamma"), input, kind="float")


@meaning("polygamma", domain="x is no integer <= 0")
def polygamma(n: int, input: Tensor) -> Tensor:
    if n != 0:
        raise NotExpressible(f"the derivative {n} of digamma")
    return digamma(input)


@meaning("Tensor.polygamma", domain="x is no integer <= 0")
def polygamma_method(input: Tensor, n: int) -> Tensor:
    return polygamma(n, input)


@meaning("mvlgamma", domain="x > (p - 1)/2")
def mvlgamma(input: Tensor, p: int) -> Tensor:
    def entry(x: Expr) -> Expr:
        terms = [apply("lgamma", x - Fraction(j, 2)) for j in range(p)]
        return add(*terms, Fraction(p * (p - 1), 4) * log(PI))

    return elementwise(entry, input, kind="float")


@meaning("special.spherical_bessel_j0")
def spherical_bessel_j0(input: Tensor) -> Tensor:
    return elementwise(lambda x: where(zero(x), 1, apply("sin", x) / x), input, kind="float")


@meaning("logit", domain="0 < x < 1", kinks="x at a bound: 1/(x (1 - x))")
def logit(input: Tensor, eps: float | None = None) -> Tensor:
    inside = input if eps is None else input.clamp(eps, 1 - eps)
    return elementwise(lambda x: log(x / (1 - x)), inside, kind="float")
