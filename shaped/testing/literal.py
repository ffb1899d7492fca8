"""Tensors as Python text that makes them again, for the examples of a failing test and for reproductions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

MOST_ENTRIES = 256  # of a tensor that is written out
_INFERRED = frozenset({torch.float32, torch.int64, torch.bool})  # the dtypes that torch.tensor gives to literals
_MOST_DIGITS = 17  # tell any two float64 apart


def literal(x: Tensor) -> str:
    """An expression that makes the tensor again.

    >>> print(literal(torch.tensor([[0.1, -1.0]])), literal(torch.zeros(0, 3, dtype=torch.float64)))
    torch.tensor([[0.1, -1.0]]) torch.empty((0, 3), dtype=torch.float64)
    """
    plain = x.detach().resolve_conj().resolve_neg().cpu()
    if plain.numel() > MOST_ENTRIES:
        return repr(x)
    dtype = "" if x.dtype in _INFERRED and x.numel() else f", dtype={x.dtype}"
    if not plain.numel():
        text = f"torch.empty({tuple(x.shape)}{dtype})"
    else:
        text = f"torch.tensor({_nested(plain.tolist(), x.dtype)}{dtype})"
    if isinstance(x, torch.nn.Parameter):
        return f"torch.nn.Parameter({text})"
    return f"{text}.requires_grad_()" if x.requires_grad else text


def _nested(values: object, dtype: torch.dtype) -> str:
    if isinstance(values, list):
        return f"[{', '.join(_nested(value, dtype) for value in values)}]"
    if isinstance(values, complex):
        return number_text(values)
    if isinstance(values, float):
        return number_text(_shortest(values, dtype))
    return repr(values)


def _shortest(number: float, dtype: torch.dtype) -> float:
    """The number with the fewest digits that the dtype rounds to `number`: 0.1 for the float32 nearest to it."""
    if dtype is torch.float64 or not math.isfinite(number):
        return number
    for digits in range(1, _MOST_DIGITS):
        candidate = float(f"{number:.{digits}g}")
        if torch.tensor(candidate, dtype=torch.float64).to(dtype).item() == number:
            return candidate
    return number


def number_text(number: float | complex) -> str:
    """A number as Python reads it where torch is imported.

    >>> print(number_text(0.5), number_text(-math.inf), number_text(True), number_text(complex(0, math.nan)))
    0.5 -torch.inf True complex(0.0, torch.nan)
    """
    if isinstance(number, complex):
        if _is_read_back(number):
            return repr(number)
        return f"complex({number_text(number.real)}, {number_text(number.imag)})"
    if math.isnan(number):
        return "torch.nan"
    if math.isinf(number):
        return "torch.inf" if number > 0 else "-torch.inf"
    return repr(number)


def _is_read_back(number: complex) -> bool:
    """Whether Python reads the number's own text: not with infinities, nor with zeros whose sign is lost (`-1j`)."""
    real_is_read = number.real != 0 or math.copysign(1, number.real) > 0
    imaginary_is_read = math.copysign(1, number.imag) > 0 or (number.imag < 0 and number.real != 0)
    return math.isfinite(number.real) and math.isfinite(number.imag) and real_is_read and imaginary_is_read
