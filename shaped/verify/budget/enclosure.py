"""True values of expressions at given floats, enclosed, and what a float kernel may differ from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from shaped.spec.evaluation import Evaluated, evaluate, evaluate_where_defined
from shaped.spec.scalars.balls import Balls
from shaped.spec.scalars.running_error import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, Format, RunningErrors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shaped.spec.atoms import Symbol
    from shaped.spec.expr import Expr
    from shaped.spec.index import Index
    from shaped.spec.scalars.system import Array

FORMATS: dict[torch.dtype, Format] = {
    torch.float64: FLOAT64,
    torch.float32: FLOAT32,
    torch.float16: FLOAT16,
    torch.bfloat16: BFLOAT16,
}


def format_of(dtype: torch.dtype) -> Format:
    """The float format of a dtype.

    Raises:
        TypeError: it is no dtype of floats that is rounded as IEEE 754 says.
    """
    if dtype not in FORMATS:
        known = ", ".join(str(each) for each in FORMATS)
        raise TypeError(f"{dtype} has no error bound: give tensors of {known}")
    return FORMATS[dtype]


def given(value: Any) -> Any:
    """A tensor as numbers that are exactly its entries; anything else as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    value = value.detach().cpu()
    return (value.double() if value.dtype.is_floating_point else value).numpy()


def enclose(
    expr: Expr,
    indices: Sequence[Index],
    sizes: Mapping[Symbol, int] | Mapping[str, int],
    values: Mapping[str, Any],
    *,
    precision: int = 128,
) -> Array:
    """Balls in which the true values of an expression at the given inputs lie; floats are taken as exact.

    Args:
        expr: the expression.
        indices: its indices, one axis of the result for each.
        sizes: the value of each named size.
        values: the tensors, by name: torch tensors, arrays or nested lists.
        precision: the bits that the balls are computed with.

    >>> from shaped.spec.dims import Dim
    >>> from shaped.spec.expr import Variable, apply
    >>> from shaped.spec.index import fresh_index
    >>> x, i = Variable("x", (Dim.of(2),)), fresh_index(2)
    >>> print(*enclose(apply("exp", x[i.dim]), [i], {}, {"x": torch.tensor([0.0, 1.0])}))
    1.00000000000000 [2.71828182845905 +/- 4.77e-15]

    Raises:
        Undefined: an expression has no value at a place, or it cannot be told at this precision.
    """
    return evaluate(expr, indices, Balls(precision), sizes, {name: given(value) for name, value in values.items()})


def with_error_bounds(
    expr: Expr,
    indices: Sequence[Index],
    sizes: Mapping[Symbol, int] | Mapping[str, int],
    values: Mapping[str, Any],
    dtype: torch.dtype,
) -> Evaluated:
    """The true values, each with a bound on the error of a kernel of this dtype (`scalars.running_error.Rounded`)."""
    system = RunningErrors(format_of(dtype))
    return evaluate_where_defined(expr, indices, system, sizes, {name: given(value) for name, value in values.items()})


def error_bound(
    expr: Expr,
    indices: Sequence[Index],
    sizes: Mapping[Symbol, int] | Mapping[str, int],
    values: Mapping[str, Any],
    dtype: torch.dtype,
) -> Array:
    """For each entry the most that a sound kernel of this dtype differs from the true value, as floats.

    NaN where the expression has no value; 0 at infinities.

    >>> from shaped.spec.dims import Dim
    >>> from shaped.spec.expr import Sum, Variable
    >>> from shaped.spec.index import fresh_index
    >>> x, i = Variable("x", (Dim.of(3),)), fresh_index(3)
    >>> bound = error_bound(Sum(i, x[i.dim]), [], {}, {"x": torch.ones(3)}, torch.float32)
    >>> round(float(bound) / 2**-24, 3)  # two additions of numbers whose magnitudes sum to 3
    6.0
    """
    result = with_error_bounds(expr, indices, sizes, values, dtype)
    bounds = np.zeros(result.data.shape)
    for at, value in np.ndenumerate(result.data):
        if result.reasons[at]:
            bounds[at] = np.nan
        elif not isinstance(value, float):
            bounds[at] = value.bound
    return bounds
