"""Rules of linear kernels whose coefficients are measured: averages, interpolations and their backwards.

The float64 kernel itself is applied to each unit vector, and the coefficients are read as fractions. So nothing is
assumed about what a kernel computes but that it is linear, and its backward is measured on its own.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from shaped.verify.exact import constants, field
from shaped.verify.exact.arithmetic import linear
from shaped.verify.exact.aten.registry import RULES, UnsupportedError
from shaped.verify.exact.value import Value

if TYPE_CHECKING:
    from collections.abc import Callable

aten = torch.ops.aten

_MOST_ENTRIES = 1 << 24  # of a measured matrix
_GREATEST_DENOMINATOR = 10**5
_ROUNDING = 1e-12  # of a coefficient; two fractions of such denominators are 1e-10 apart
_DIGITS = 10**11  # to which a coefficient that is no fraction is rounded


def measured(kernel: Callable[[Tensor], Tensor], value: Value, spatial: int) -> Value:
    """A linear kernel that acts on the last dims, the same for each entry of the others.

    Args:
        kernel: takes and gives a tensor of dims (1, channels, *spatial), for any number of channels.
        value: its argument.
        spatial: how many dims it acts on.
    """
    sizes = value.shape[value.ndim - spatial :]
    leading = value.shape[: value.ndim - spatial]
    inputs = sizes.numel()
    outputs = kernel(torch.zeros(1, 1, *sizes, dtype=torch.float64)).shape[2:]
    if inputs * outputs.numel() > _MOST_ENTRIES:
        raise UnsupportedError(
            f"a kernel of {inputs} x {outputs.numel()} coefficients, which are more than {_MOST_ENTRIES}"
        )
    units = torch.eye(inputs, dtype=torch.float64).reshape(1, inputs, *sizes)
    matrix = fractions_near(kernel(units).reshape(inputs, -1))

    def apply(residue: Tensor) -> Tensor:
        return field.matrix_product(residue.reshape(leading.numel(), inputs), matrix).reshape(*leading, *outputs)

    tangent = None if value.tangent is None else apply(value.tangent)
    flat = value.shadow.reshape(1, leading.numel(), *sizes)
    shadow = kernel(flat) if leading.numel() else flat.new_zeros(0)
    return Value(shadow.reshape(*leading, *outputs), apply(value.residue), tangent)


def fractions_near(coefficients: Tensor) -> Tensor:
    """The residues of the fractions that measured coefficients are near to.

    Others are rounded to the same number of digits, so that twice a coefficient is twice its residue.
    """
    values, place = torch.unique(coefficients, return_inverse=True)
    residues = []
    for number in values.tolist():
        found = Fraction(number).limit_denominator(_GREATEST_DENOMINATOR)
        if abs(float(found) - number) > _ROUNDING:
            mantissa, exponent = math.frexp(number)
            found = Fraction(round(mantissa * _DIGITS), _DIGITS) * Fraction(2) ** exponent
        residues.append(constants.of_fraction(found))
    return torch.tensor(residues, dtype=torch.int64)[place]


def _forward(name: str, spatial: int) -> None:
    """Declare a kernel that takes the tensor and options."""
    operation = getattr(aten, name)

    def apply(value: Value, *arguments: Any, **options: Any) -> Value:
        return measured(lambda one: operation(one, *arguments, **options), value, spatial)

    RULES[name] = apply


def _backward_by_sizes(name: str, spatial: int) -> None:
    """Declare a backward that takes the upstream gradient, the result's and the input's sizes, and options."""
    operation = getattr(aten, name)

    def apply(value: Value, output_size: Any, input_size: Any, *arguments: Any, **options: Any) -> Value:
        sizes = list(input_size)[-spatial:]
        return measured(
            lambda one: operation(one, output_size, [1, one.shape[1], *sizes], *arguments, **options), value, spatial
        )

    RULES[name] = apply


def _backward_by_input(name: str, spatial: int) -> None:
    """Declare a backward that takes the upstream gradient, the input, of which only the shape matters, and options."""
    operation = getattr(aten, name)

    def apply(value: Value, data: Value, *arguments: Any, **options: Any) -> Value:
        sizes = data.shape[-spatial:]

        def kernel(one: Tensor) -> Tensor:
            zeros = torch.zeros(1, one.shape[1], *sizes, dtype=torch.float64)
            result: Tensor = operation(one, zeros, *arguments, **options)
            return result

        return measured(kernel, value, spatial)

    RULES[name] = apply


for _name, _spatial in {
    "avg_pool2d": 2,
    "avg_pool3d": 3,
    "_adaptive_avg_pool2d": 2,
    "_adaptive_avg_pool3d": 3,
}.items():
    _forward(_name, _spatial)
    _backward_by_input(f"{_name}_backward", _spatial)

for _name, _spatial in {
    "upsample_nearest1d": 1,
    "upsample_nearest2d": 2,
    "upsample_nearest3d": 3,
    "_upsample_nearest_exact1d": 1,
    "_upsample_nearest_exact2d": 2,
    "_upsample_nearest_exact3d": 3,
    "upsample_linear1d": 1,
    "upsample_bilinear2d": 2,
    "upsample_bicubic2d": 2,
    "upsample_trilinear3d": 3,
    "_upsample_bilinear2d_aa": 2,
    "_upsample_bicubic2d_aa": 2,
}.items():
    _forward(_name, _spatial)
    _backward_by_sizes(f"{_name}_backward", _spatial)

for _dims in (1, 2, 3):
    for _kind in ("reflection", "replication"):
        _forward(f"{_kind}_pad{_dims}d", _dims)
        _backward_by_input(f"{_kind}_pad{_dims}d_backward", _dims)


_ = linear
