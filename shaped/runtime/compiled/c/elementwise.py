"""Operations that compute each element from the elements at its place: one formula in C for each.

A formula names the arguments of torch's schema: `{self}`, `{other}`. Each stands for a value of the type in which torch
computes, `{T}` (`float` or `double`); a formula may use it as often as it likes, for it is a variable or a number.
What an operation in place computes (`add_`) is what its twin does (`add`). NaN goes through as in torch: a condition on
it is false, so the value that is left must be NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

# A formula, or what gives it for the arguments that are no tensors: numbers, strings, None.
Formula: TypeAlias = str | Callable[[Mapping[str, object]], str]


class NoFormula(Exception):
    """There is no formula for these arguments."""


def _clamp(given: Mapping[str, object]) -> str:
    value = "{self}"
    if given.get("min") is not None:
        value = f"larger_{{T}}({value}, {{min}})"
    if given.get("max") is not None:
        value = f"smaller_{{T}}({value}, {{max}})"
    return value


def _gelu(given: Mapping[str, object]) -> str:
    return "gelu_tanh_{T}({self})" if given["approximate"] == "tanh" else "gelu_{T}({self})"


def _gelu_backward(given: Mapping[str, object]) -> str:
    kind = "_tanh" if given["approximate"] == "tanh" else ""
    return f"{{grad_output}} * gelu{kind}_slope_{{T}}({{self}})"


def _division(given: Mapping[str, object]) -> str:
    if given.get("rounding_mode") is not None:
        raise NoFormula(f"rounding_mode={given['rounding_mode']!r}")
    return "{self} / {other}"


def _power(given: Mapping[str, object]) -> str:
    special = {
        0.5: "sqrt_{T}({self})",
        1: "{self}",
        2: "{self} * {self}",
        3: "{self} * {self} * {self}",
        -0.5: "1 / sqrt_{T}({self})",
        -1: "1 / {self}",
        -2: "1 / ({self} * {self})",
    }
    exponent = given.get("exponent")
    if isinstance(exponent, int | float):
        return special.get(exponent, "pow_{T}({self}, {exponent})")
    return "pow_{T}({self}, {exponent})"


def _elu_backward(given: Mapping[str, object]) -> str:
    if given["is_result"]:
        slope = "{self_or_result} <= 0 ? {input_scale} * ({self_or_result} + {alpha} * {scale})"
    else:
        slope = "{self_or_result} <= 0 ? {input_scale} * {alpha} * {scale} * exp_{T}({self_or_result} * {input_scale})"
    return f"{{grad_output}} * ({slope} : {{scale}})"


def _mean_of(given: Mapping[str, object]) -> str:
    """What the gradient of a loss is divided by: {numel} if it is a mean."""
    return " / {numel}" if given["reduction"] == 1 else ""


def _mse_backward(given: Mapping[str, object]) -> str:
    return f"(2{'.0 / {numel}' if given['reduction'] == 1 else ''}) * ({{self}} - {{target}}) * {{grad_output}}"


def _smooth_l1_backward(given: Mapping[str, object]) -> str:
    slope = "smooth_l1_slope_{T}({self} - {target}, {beta})"
    return f"{slope} * {{grad_output}}{_mean_of(given)}"


def _huber_backward(given: Mapping[str, object]) -> str:
    return f"huber_slope_{{T}}({{self}} - {{target}}, {{delta}}) * {{grad_output}}{_mean_of(given)}"


def _constant(name: str) -> Formula:
    return lambda given: name


FORMULAS: dict[str, Formula] = {
    # arithmetic
    "add": "{self} + {alpha} * {other}",
    "sub": "{self} - {alpha} * {other}",
    "rsub": "{other} - {alpha} * {self}",
    "mul": "{self} * {other}",
    "div": _division,
    "neg": "-{self}",
    "abs": "abs_{T}({self})",
    "sign": "sign_{T}({self})",
    "sgn": "sign_{T}({self})",
    "reciprocal": "1 / {self}",
    "sqrt": "sqrt_{T}({self})",
    "rsqrt": "1 / sqrt_{T}({self})",
    "pow": _power,
    "maximum": "larger_{T}({self}, {other})",
    "minimum": "smaller_{T}({self}, {other})",
    "clamp": _clamp,
    "clamp_min": "larger_{T}({self}, {min})",
    "clamp_max": "smaller_{T}({self}, {max})",
    "lerp": "lerp_{T}({self}, {end}, {weight})",
    "addcmul": "{self} + {value} * {tensor1} * {tensor2}",
    "addcdiv": "{self} + {value} * {tensor1} / {tensor2}",
    "floor": "floor_{T}({self})",
    "ceil": "ceil_{T}({self})",
    # exponentials and their inverses
    "exp": "exp_{T}({self})",
    "exp2": "exp2_{T}({self})",
    "expm1": "expm1_{T}({self})",
    "log": "log_{T}({self})",
    "log2": "log2_{T}({self})",
    "log1p": "log1p_{T}({self})",
    "sin": "sin_{T}({self})",
    "cos": "cos_{T}({self})",
    "erf": "erf_{T}({self})",
    # activations
    "relu": "{self} <= 0 ? 0 : {self}",
    "threshold": "{self} <= {threshold} ? {value} : {self}",
    "threshold_backward": "{self} <= {threshold} ? 0 : {grad_output}",
    "leaky_relu": "{self} > 0 ? {self} : {self} * {negative_slope}",
    "leaky_relu_backward": "{self} > 0 ? {grad_output} : {grad_output} * {negative_slope}",
    "hardtanh": "smaller_{T}(larger_{T}({self}, {min_val}), {max_val})",
    "hardtanh_backward": "{self} > {min_val} && {self} < {max_val} ? {grad_output} : 0",
    "sigmoid": "sigmoid_{T}({self})",
    "sigmoid_backward": "{grad_output} * (1 - {output}) * {output}",
    "tanh": "tanh_{T}({self})",
    "tanh_backward": "{grad_output} * (1 - {output} * {output})",
    "silu": "{self} / (1 + exp_{T}(-{self}))",
    "silu_backward": "silu_slope_{T}({self}) * {grad_output}",
    "gelu": _gelu,
    "gelu_backward": _gelu_backward,
    "elu": "{self} <= 0 ? expm1_{T}({self} * {input_scale}) * {alpha} * {scale} : {self} * {scale}",
    "elu_backward": _elu_backward,
    "softplus": "{self} * {beta} > {threshold} ? {self} : log1p_{T}(exp_{T}({self} * {beta})) / {beta}",
    "softplus_backward": (
        "{self} * {beta} > {threshold} ? {grad_output} : "
        "{grad_output} * exp_{T}({self} * {beta}) / (exp_{T}({self} * {beta}) + 1)"
    ),
    # comparisons and choices
    "eq": "{self} == {other}",
    "ne": "{self} != {other}",
    "lt": "{self} < {other}",
    "le": "{self} <= {other}",
    "gt": "{self} > {other}",
    "ge": "{self} >= {other}",
    "logical_not": "{self} == 0",
    "logical_and": "{self} != 0 && {other} != 0",
    "logical_or": "{self} != 0 || {other} != 0",
    "isnan": "{self} != {self}",
    "where": "{condition} ? {self} : {other}",
    "masked_fill": "{mask} ? {value} : {self}",
    # copies and constants
    "clone": "{self}",
    "_to_copy": "{self}",
    "lift_fresh_copy": "{self}",
    "copy": "{src}",
    "fill": "{value}",
    "zero": _constant("0"),
    "zeros_like": _constant("0"),
    "ones_like": _constant("1"),
    "full_like": "{fill_value}",
    "new_zeros": _constant("0"),
    "new_ones": _constant("1"),
    "new_full": "{fill_value}",
    "zeros": _constant("0"),
    "ones": _constant("1"),
    "full": "{fill_value}",
    "scalar_tensor": "{s}",
    # losses: their gradients, and their elements where nothing is reduced
    "mse_loss": "({self} - {target}) * ({self} - {target})",
    "mse_loss_backward": _mse_backward,
    "smooth_l1_loss": "smooth_l1_{T}({self} - {target}, {beta})",
    "smooth_l1_loss_backward": _smooth_l1_backward,
    "huber_loss": "huber_{T}({self} - {target}, {delta})",
    "huber_loss_backward": _huber_backward,
}

# What is computed in the type of its operands, though it gives truth values.
COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "logical_not", "logical_and", "logical_or", "isnan"})
# Arguments that are truth values whatever the others are.
CONDITIONS = frozenset({"condition", "mask"})
# Formulas of losses, which are elementwise where nothing is reduced; `reductions.py` has them where something is.
LOSSES = frozenset({"mse_loss", "smooth_l1_loss", "huber_loss"})
