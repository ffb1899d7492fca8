"""Activations, entry by entry: each with its derivative. Those that compare along an axis are in `softmax`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from shaped.spec.expr import Condition, Expr, Real, apply, bracket, positive, power, real, where
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.elementwise import exp, log, sigmoid
from shaped.spec.meanings.kinds import elementwise, number
from shaped.spec.meanings.order import is_greater
from shaped.spec.tensor import Tensor, pointwise


@dataclass(frozen=True)
class _Activation:
    """One line of the table: `torch.nn.functional.{name}`.

    Args:
        name: the operation.
        entry: the function, of the element and the parameters.
        derivative: its derivative by the element, with torch's convention at kinks.
        parameters: names and defaults of the parameters.
        kinks: where it has no derivative, and the convention.
    """

    name: str
    entry: Callable[..., Expr]
    derivative: Callable[..., Expr]
    parameters: Mapping[str, float] = field(default_factory=dict)
    kinks: str = ""


def relu(x: Expr) -> Expr:
    """max(x, 0), whose derivative at 0 is 0."""
    return where(positive(x), x, 0)


def cut(x: Expr, low: Real, high: Real) -> Expr:
    """x cut to [low, high], where its derivative at both ends is 0."""
    return where(~is_greater(x, real(low)), low, where(~is_greater(real(high), x), high, x))


def is_inside(x: Expr, low: Real, high: Real) -> Condition:
    """low < x < high."""
    return is_greater(x, real(low)) & is_greater(real(high), x)


def softplus(x: Expr, beta: Expr, threshold: Expr) -> Expr:
    """ln(1 + e^(beta x)) / beta; torch takes x where beta x is above the threshold."""
    return where(is_greater(beta * x, threshold), x, log(1 + exp(beta * x)) / beta)


def _softplus_derivative(x: Expr, beta: Expr, threshold: Expr) -> Expr:
    return where(is_greater(beta * x, threshold), 1, sigmoid(beta * x))


def _silu_derivative(x: Expr) -> Expr:
    return sigmoid(x) * (1 + x * (1 - sigmoid(x)))


def _hardswish(x: Expr) -> Expr:
    return where(is_inside(x, -3, 3), x * (x + 3) / 6, where(positive(x), x, 0))


def _hardswish_derivative(x: Expr) -> Expr:
    return where(is_inside(x, -3, 3), (2 * x + 3) / 6, bracket(positive(x)))


def _shrunk(x: Expr, width: Expr) -> Expr:
    return where(is_greater(x, width), x - width, where(is_greater(-width, x), x + width, 0))


def _outside(x: Expr, width: Expr) -> Condition:
    return is_greater(x, width) | is_greater(-width, x)


def _mish(x: Expr) -> Expr:
    return x * apply("tanh", log(1 + exp(x)))


def _mish_derivative(x: Expr) -> Expr:
    inner = apply("tanh", log(1 + exp(x)))
    return inner + x * (1 - inner**2) * sigmoid(x)


def _elu(x: Expr, alpha: Expr) -> Expr:
    return where(positive(x), x, alpha * (exp(x) - 1))


def _elu_derivative(x: Expr, alpha: Expr) -> Expr:
    return where(positive(x), 1, alpha * exp(x))


def _softsign_derivative(x: Expr) -> Expr:
    return power(1 + apply("abs", x), -2)


# The constants of self-normalizing networks (Klambauer et al. 2017) as torch writes them.
_SELU_ALPHA = real(Fraction("1.6732632423543772848170429916717"))
_SELU_SCALE = real(Fraction("1.0507009873554804934193349852946"))

_ENDS_0 = "x at an end: 0"
_ACTIVATIONS = [
    _Activation("relu", relu, lambda x: bracket(positive(x)), kinks="x = 0: 0"),
    _Activation("relu6", lambda x: cut(x, 0, 6), lambda x: bracket(is_inside(x, 0, 6)), kinks=_ENDS_0),
    _Activation("elu", _elu, _elu_derivative, {"alpha": 1.0}, kinks="x = 0: alpha"),
    _Activation(
        "selu",
        lambda x: _SELU_SCALE * _elu(x, _SELU_ALPHA),
        lambda x: _SELU_SCALE * _elu_derivative(x, _SELU_ALPHA),
        kinks="x = 0: scale alpha",
    ),
    _Activation(
        "celu",
        lambda x, alpha: where(positive(x), x, alpha * (exp(x / alpha) - 1)),
        lambda x, alpha: where(positive(x), 1, exp(x / alpha)),
        {"alpha": 1.0},
    ),
    _Activation("silu", lambda x: x * sigmoid(x), _silu_derivative),
    _Activation("mish", _mish, _mish_derivative),
    _Activation(
        "softplus",
        softplus,
        _softplus_derivative,
        {"beta": 1.0, "threshold": 20.0},
        kinks="beta x = threshold, where torch turns to x: sigmoid(threshold)",
    ),
    _Activation("softsign", lambda x: x / (1 + apply("abs", x)), _softsign_derivative),
    _Activation("tanhshrink", lambda x: x - apply("tanh", x), lambda x: apply("tanh", x) ** 2),
    _Activation(
        "hardtanh",
        cut,
        lambda x, min_val, max_val: bracket(is_inside(x, min_val, max_val)),
        {"min_val": -1.0, "max_val": 1.0},
        kinks=_ENDS_0,
    ),
    _Activation("hardswish", _hardswish, _hardswish_derivative, kinks="x = -3: 0, x = 3: 1"),
    _Activation(
        "hardsigmoid",
        lambda x: cut(x + 3, 0, 6) / 6,
        lambda x: bracket(is_inside(x, -3, 3)) / 6,
        kinks=_ENDS_0,
    ),
    _Activation(
        "hardshrink",
        lambda x, lambd: where(_outside(x, lambd), x, 0),
        lambda x, lambd: bracket(_outside(x, lambd)),
        {"lambd": 0.5},
        kinks="|x| = lambd: 0",
    ),
    _Activation(
        "softshrink",
        _shrunk,
        lambda x, lambd: bracket(_outside(x, lambd)),
        {"lambd": 0.5},
        kinks="|x| = lambd: 0",
    ),
    _Activation(
        "leaky_relu",
        lambda x, negative_slope: where(positive(x), x, negative_slope * x),
        lambda x, negative_slope: where(positive(x), 1, negative_slope),
        {"negative_slope": 0.01},
        kinks="x = 0: the slope",
    ),
    _Activation("logsigmoid", lambda x: -log(1 + exp(-x)), lambda x: sigmoid(-x)),
    _Activation(
        "threshold",
        lambda x, threshold, value: where(is_greater(x, threshold), x, value),
        lambda x, threshold, value: bracket(is_greater(x, threshold)),
        {"threshold": 0.0, "value": 0.0},
        kinks="x = threshold: 0",
    ),
]


def _declare(row: _Activation) -> None:
    more = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation="float")
        for name, default in (*row.parameters.items(), ("inplace", False))
    ]
    first = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Tensor")
        for name in ("grad", "input")
    ]

    def exact(signature: inspect.Signature, *args: Any, **kwargs: Any) -> tuple[list[Tensor], list[Expr]]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = dict(bound.arguments)
        tensors = [values.pop(name) for name in ("grad", "input") if name in values]
        return tensors, [number(values[name]) for name in row.parameters]

    forward, reverse = inspect.Signature([first[1], *more]), inspect.Signature([*first, *more])

    def activation(*args: Any, **kwargs: Any) -> Tensor:
        (input,), parameters = exact(forward, *args, **kwargs)
        return elementwise(lambda x: row.entry(x, *parameters), input)

    def activation_backward(*args: Any, **kwargs: Any) -> Tensor:
        (grad, input), parameters = exact(reverse, *args, **kwargs)
        return pointwise(lambda g, x: g * row.derivative(x, *parameters), grad, input)

    activation.__signature__ = forward  # type: ignore[attr-defined]  # read by inspect
    activation_backward.__signature__ = reverse  # type: ignore[attr-defined]  # read by inspect
    meaning(row.name, kinks=row.kinks)(activation)
    backward(row.name)(activation_backward)


for _row in _ACTIVATIONS:
    _declare(_row)
