"""Rules of complex numbers, by their real and imaginary parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from shaped.verify.exact import functions, special
from shaped.verify.exact.arithmetic import add, divide, matrix_product, negative, square_root, times, total, where
from shaped.verify.exact.aten.registry import RULES, Rule, UnsupportedError, find_rule, rule
from shaped.verify.exact.branches import compare
from shaped.verify.exact.complex_value import ComplexValue, complex_lift, product, quotient, square_of_size
from shaped.verify.exact.value import Value, lift

if TYPE_CHECKING:
    from collections.abc import Callable

COMPLEX_RULES: dict[str, Rule] = {}

# Real-linear operations, which act on each part alone.
_BY_PARTS = frozenset({
    # sums
    "add", "sub", "rsub", "neg", "sum", "mean", "cumsum", "scatter_add", "index_add", "tril", "triu",
    "diag_embed",
    # places
    "permute", "transpose", "t", "unsqueeze", "squeeze", "slice", "select", "diagonal", "flip", "roll",
    "repeat", "unfold", "narrow", "view", "_unsafe_view", "reshape", "expand", "as_strided", "cat", "stack",
    "split", "split_with_sizes", "unbind", "slice_scatter", "select_scatter", "diagonal_scatter",
    "as_strided_scatter", "constant_pad_nd", "gather", "index_select", "take", "index", "masked_select",
    "index_put", "where", "masked_fill", "embedding", "masked_scatter", "scatter",
    "slice_backward", "select_backward", "diagonal_backward",
    # copies
    "clone", "contiguous", "detach", "alias", "lift_fresh_copy", "lift_fresh", "positive", "copy",
})  # fmt: skip


def _complex_rule(*names: str) -> Callable[[Rule], Rule]:
    def declare(function: Rule) -> Rule:
        for name in names:
            COMPLEX_RULES[name] = function
        return function

    return declare


def find_complex_rule(operation: str, overload: str) -> Rule | None:
    """The rule for an operation with a complex argument, if there is one."""
    found = COMPLEX_RULES.get(f"{operation}.{overload}") or COMPLEX_RULES.get(operation)
    if found is not None:
        return found
    name = operation.removesuffix("_copy")
    real_rule = find_rule(operation, overload)
    if name not in _BY_PARTS or real_rule is None:
        return None

    def by_parts(*arguments: Any, **options: Any) -> Any:
        results = [
            real_rule(*[_part(one, which) for one in arguments], **{k: _part(one, which) for k, one in options.items()})
            for which in ("real", "imaginary")
        ]
        if isinstance(results[0], (list, tuple)):
            return [ComplexValue(one, other) for one, other in zip(*results)]
        return ComplexValue(*results)

    return by_parts


def _part(argument: Any, which: str) -> Any:
    """One part of an argument of a real-linear operation; of a real one the imaginary part is 0."""
    if isinstance(argument, (list, tuple)) and any(isinstance(one, (ComplexValue, Value)) for one in argument):
        return [_part(one, which) for one in argument]
    if isinstance(argument, (ComplexValue, Value, complex)):
        return getattr(complex_lift(argument), which)
    return argument


@rule("view_as_complex", "view_as_complex_copy")
def _view_as_complex(value: Value) -> ComplexValue:
    return ComplexValue(value.move(lambda one: one[..., 0]), value.move(lambda one: one[..., 1]))


@rule("complex")
def _complex(real: Any, imaginary: Any) -> ComplexValue:
    first, second = lift(real), lift(imaginary)
    zero = times(add(first.without_tangent, second.without_tangent), 0)
    return ComplexValue(add(first, zero), add(second, zero))


@rule("polar")
def _polar(size: Any, angle: Any) -> ComplexValue:
    return ComplexValue(times(size, functions.cos(angle)), times(size, functions.sin(angle)))


@_complex_rule("view_as_real", "view_as_real_copy")
def _view_as_real(value: ComplexValue) -> Value:
    return RULES["stack"]([value.real, value.imaginary], -1)  # type: ignore[no-any-return]  # rules are of any type


@_complex_rule("real")
def _real(value: ComplexValue) -> Value:
    return value.real


@_complex_rule("imag")
def _imag(value: ComplexValue) -> Value:
    return value.imaginary


@_complex_rule("_conj", "conj", "_conj_physical", "conj_physical", "_conj_copy")
def _conj(value: ComplexValue) -> ComplexValue:
    return value.conjugate


@_complex_rule("resolve_conj", "resolve_neg")
def _resolve(value: ComplexValue) -> ComplexValue:
    return value


@_complex_rule("mul")
def _mul(left: Any, right: Any) -> ComplexValue:
    if not isinstance(right, (ComplexValue, complex)):
        return complex_lift(left).each(lambda part: times(part, right))
    return product(left, right)


@_complex_rule("div.Tensor", "div.Scalar", "div.default")
def _div(left: Any, right: Any) -> ComplexValue:
    return quotient(left, right)


@_complex_rule("reciprocal")
def _reciprocal(value: ComplexValue) -> ComplexValue:
    return quotient(1.0, value)


@_complex_rule("mm", "bmm", "mv")
def _mm(left: Any, right: Any) -> ComplexValue:
    return product(left, right, matrix_product)


@_complex_rule("dot")
def _dot(left: Any, right: Any) -> ComplexValue:
    return product(left, right).each(lambda part: total(part, [0]))


@_complex_rule("vdot")
def _vdot(left: Any, right: Any) -> ComplexValue:
    return product(complex_lift(left).conjugate, right).each(lambda part: total(part, [0]))


@_complex_rule("abs")
def _abs(value: ComplexValue) -> Value:
    return square_root(square_of_size(value))


@_complex_rule("sgn")
def _sgn(value: ComplexValue) -> ComplexValue:
    size = _abs(value)
    zero = compare(torch.eq, size, 0)
    return value.each(lambda part: where(zero, 0, divide(part, size)))


@_complex_rule("eq")
def _eq(left: Any, right: Any) -> Tensor:
    one, other = complex_lift(left), complex_lift(right)
    return compare(torch.eq, one.real, other.real) & compare(torch.eq, one.imaginary, other.imaginary)


@_complex_rule("ne")
def _ne(left: Any, right: Any) -> Tensor:
    same: Tensor = _eq(left, right)
    return ~same


@_complex_rule("angle")
def _angle(value: ComplexValue) -> Value:
    return special.atan2(value.imaginary, value.real)


@_complex_rule("exp")
def _exp(value: ComplexValue) -> ComplexValue:
    size = functions.exp(value.real)
    turn = value.imaginary
    return ComplexValue(times(size, functions.cos(turn)), times(size, functions.sin(turn)))


@_complex_rule("sin")
def _sin(value: ComplexValue) -> ComplexValue:
    x, y = value.real, value.imaginary
    return ComplexValue(
        times(functions.sin(x), functions.cosh(y)),
        times(functions.cos(x), functions.sinh(y)),
    )


@_complex_rule("cos")
def _cos(value: ComplexValue) -> ComplexValue:
    x, y = value.real, value.imaginary
    return ComplexValue(
        times(functions.cos(x), functions.cosh(y)),
        negative(times(functions.sin(x), functions.sinh(y))),
    )


@_complex_rule("fill")
def _fill(value: ComplexValue, number: Any) -> ComplexValue:
    return complex_lift(number).each(lambda part: part.move(lambda one: one.expand(value.shape)))


@_complex_rule("new_zeros", "new_empty")
def _new_zeros(value: ComplexValue, shape: Any, *, dtype: torch.dtype | None = None, **_: Any) -> ComplexValue | Value:
    zero = lift(0).move(lambda one: one.expand(list(shape)))
    return zero if dtype is not None and dtype.is_floating_point else ComplexValue(zero, zero)


@_complex_rule("log")
def _log(value: ComplexValue) -> ComplexValue:
    return ComplexValue(functions.log(_abs(value)), _angle(value))


@_complex_rule("pow.Tensor_Scalar")
def _pow(value: ComplexValue, exponent: Any) -> ComplexValue:
    if isinstance(exponent, complex) or not float(exponent).is_integer() or abs(exponent) > 16:
        raise UnsupportedError(f"a complex number to the power {exponent}")
    result = complex_lift(1.0)
    for _ in range(abs(int(exponent))):
        result = product(result, value)
    return result if exponent >= 0 else quotient(1.0, result)


@_complex_rule("_to_copy", "convert_element_type")
def _to_copy(value: ComplexValue, dtype: torch.dtype | None = None, **_: Any) -> ComplexValue | Value | Tensor:
    if dtype is None or dtype.is_complex:
        return value
    return RULES["_to_copy"](value.real, dtype=dtype)  # type: ignore[no-any-return]  # rules are of any type


@_complex_rule("zeros_like", "empty_like")
def _zeros_like(value: ComplexValue, **_: Any) -> ComplexValue:
    return complex_lift(0.0).each(lambda part: part.move(lambda one: one.expand(value.shape)))
