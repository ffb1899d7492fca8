"""Sums, products, quotients, roots and selections of values, with their tangents and images."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.exact import constants, field
from shaped.verify.exact.branches import compare, current
from shaped.verify.exact.field import PRIME, multiply, reduce
from shaped.verify.exact.value import Value, law, lift, tangent_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ROOT_SALT = 13
_MOST_POWER = 64  # exp(k * x) is followed as a power up to this k


def add(left: object, right: object, alpha: object = 1) -> Value:
    """`left + alpha * right`."""
    one, other = lift(left), lift(right)
    if alpha != 1:
        other = times(other, alpha)
    tangent: Tensor | None = None
    if one.tangent is not None or other.tangent is not None:
        tangent = reduce(tangent_of(one) + tangent_of(other))
    return Value(
        one.shadow + other.shadow,
        reduce(one.residue + other.residue),
        tangent,
        exp=law(lambda: multiply(one.exp_image(), other.exp_image()), one, other, which="exp"),
        shift=_shift(one, right if alpha == 1 else None) or _shift(other, left),
    )


def _shift(value: Value, other: object) -> tuple[Tensor, int] | None:
    """The value plus a whole number, kept apart for powers."""
    if isinstance(other, (int, float)) and float(other).is_integer():
        base, already = value.shift or (value.residue, 0)
        return base, already + int(other)
    return None


def subtract(left: object, right: object, alpha: object = 1) -> Value:
    """`left - alpha * right`."""
    if isinstance(right, (int, float)) and alpha == 1:
        return add(left, -right)
    return add(left, negative(right), alpha)


def negative(value: object) -> Value:
    """`-value`."""
    one = lift(value)
    return Value(
        -one.shadow,
        reduce(-one.residue),
        None if one.tangent is None else reduce(-one.tangent),
        exp=law(lambda: field.inverse(one.exp_image()), one, which="exp"),
    )


def times(left: object, right: object) -> Value:
    """`left * right`."""
    one, other = lift(left), lift(right)
    factor = _whole(right)
    if factor is None and (factor := _whole(left)) is not None:
        one, other = other, one
    residue = multiply(one.residue, other.residue)
    tangent: Tensor | None = None
    if one.tangent is not None:
        tangent = multiply(one.tangent, other.residue)
    if other.tangent is not None:
        second = multiply(one.residue, other.tangent)
        tangent = second if tangent is None else reduce(tangent + second)
    exp = None
    if factor is not None:
        exponent = factor
        exp = law(lambda: field.power(one.exp_image(), exponent), one, which="exp")
    log = law(lambda: reduce(one.log_image() + other.log_image()), one, other, which="log")
    square_of = one if one.residue is other.residue else None
    return Value(one.shadow * other.shadow, residue, tangent, exp=exp, log=log, square_of=square_of)


def _whole(number: object) -> int | None:
    """A Python number that is a small whole one."""
    if isinstance(number, (int, float)) and float(number).is_integer() and abs(number) <= _MOST_POWER:
        return int(number)
    return None


def reciprocal(value: object) -> Value:
    """`1 / value`."""
    one = lift(value)
    residue = field.inverse(one.residue)
    tangent = None if one.tangent is None else reduce(-multiply(one.tangent, multiply(residue, residue)))
    return Value(
        1 / one.shadow,
        residue,
        tangent,
        log=law(lambda: reduce(-one.log_image()), one, which="log"),
    )


def divide(left: object, right: object) -> Value:
    """`left / right`."""
    if isinstance(right, (int, float)) and right and not isinstance(right, bool):
        if isinstance(right, int):
            return times(left, fraction(Fraction(1, right)))
        one = lift(right)
        return times(left, Value(1 / one.shadow, field.inverse(one.residue)))
    return times(left, reciprocal(right))


def fraction(value: Fraction) -> Value:
    """A rational constant."""
    return Value(torch.tensor(float(value), dtype=torch.float64), torch.tensor(constants.of_fraction(value)))


def whole_power(value: Value, exponent: int) -> Value:
    """`value` to an integer power."""
    residue = field.power(value.residue, exponent)
    tangent: Tensor | None = None
    if value.tangent is not None:
        slope = multiply(field.power(value.residue, exponent - 1), torch.tensor(exponent % PRIME))
        tangent = multiply(value.tangent, slope)
    return Value(
        value.shadow**exponent,
        residue,
        tangent,
        log=law(lambda: reduce(value.log_image() * (exponent % PRIME)), value, which="log"),
        square_of=value if exponent == 2 else None,
    )


def square_root(value: object) -> Value:
    """The square root: a true one of the residue where there is one; of a square, the absolute value.

    A root has two signs, of which the residues do not know the positive one. What holds for both holds.
    """
    one = lift(value)
    if one.square_of is not None:
        return absolute(one.square_of)
    residue, true = field.root(one.residue, _ROOT_SALT)
    current().took_roots(true)
    tangent = None if one.tangent is None else multiply(one.tangent, field.inverse(reduce(2 * residue)))
    return Value(one.shadow.sqrt(), residue, tangent)


def where(condition: object, left: object, right: object) -> Value:
    """`left` where a condition holds, else `right`."""
    chosen = condition.shadow.bool() if isinstance(condition, Value) else condition
    assert isinstance(chosen, Tensor)
    chosen = chosen.bool()
    one, other = lift(left), lift(right)

    def pick(a: Tensor, b: Tensor) -> Tensor:
        return torch.where(chosen, a, b)

    tangent: Tensor | None = None
    if one.tangent is not None or other.tangent is not None:
        tangent = pick(tangent_of(one), tangent_of(other))
    shadow = pick(one.shadow, other.shadow)
    shape = shadow.shape

    def broadcast(image: Tensor) -> Tensor:
        return image.expand(shape)

    return Value(
        shadow,
        pick(one.residue, other.residue),
        tangent,
        exp=law(lambda: pick(broadcast(one.exp_image()), broadcast(other.exp_image())), one, other, which="exp"),
        log=law(lambda: pick(broadcast(one.log_image()), broadcast(other.log_image())), one, other, which="log"),
    )


def maximum(left: object, right: object) -> Value:
    """The greater of two; a tie of different values is a kink."""
    return where(compare(torch.ge, left, right), left, right)


def minimum(left: object, right: object) -> Value:
    """The smaller of two; a tie of different values is a kink."""
    return where(compare(torch.le, left, right), left, right)


def absolute(value: object) -> Value:
    """`|value|`."""
    return where(compare(torch.ge, value, 0), value, negative(value))


def linear(function: Callable[[Tensor], Tensor], value: Value) -> Value:
    """A linear function with whole coefficients (sums, differences), of int64 as of float64 tensors.

    Args:
        function: gives exact sums of int64 below 2^63, that is of fewer than 2^32 residues.
        value: its argument.
    """
    tangent = None if value.tangent is None else reduce(function(value.tangent))
    return Value(function(value.shadow), reduce(function(value.residue)), tangent)


def linear_of_many(function: Callable[[Sequence[Tensor]], Tensor], values: Sequence[Value]) -> Value:
    """A linear function with whole coefficients of several values."""
    tangent: Tensor | None = None
    if any(value.tangent is not None for value in values):
        tangent = reduce(function([tangent_of(value) for value in values]))
    residue = reduce(function([value.residue for value in values]))
    return Value(function([value.shadow for value in values]), residue, tangent)


def move_many(function: Callable[[Sequence[Tensor]], Tensor], values: Sequence[Value]) -> Value:
    """Entries of several values put together, with their images."""
    moved = linear_of_many(function, values)
    if any(value.exp is not None for value in values):
        moved.exp = law(lambda: function([value.exp_image() for value in values]), *values, which="exp")
    if any(value.log is not None for value in values):
        moved.log = law(lambda: function([value.log_image() for value in values]), *values, which="log")
    return moved


def bilinear(function: Callable[[Tensor, Tensor], Tensor], left: Value, right: Value, terms: int) -> Value:
    """A bilinear function with coefficients 0, 1 and -1.

    Args:
        function: of float64 tensors; sums of products of an entry of each operand.
        left: an operand.
        right: an operand.
        terms: at most how many products are added for one entry.
    """
    tangent: Tensor | None = None
    if left.tangent is not None:
        tangent = field.bilinear(function, left.tangent, right.residue, terms)
    if right.tangent is not None:
        second = field.bilinear(function, left.residue, right.tangent, terms)
        tangent = second if tangent is None else reduce(tangent + second)
    residue = field.bilinear(function, left.residue, right.residue, terms)
    return Value(function(left.shadow, right.shadow), residue, tangent)


def matrix_product(left: object, right: object) -> Value:
    """The matrix product, batched as `torch.matmul` does."""
    one, other = lift(left), lift(right)
    tangent: Tensor | None = None
    if one.tangent is not None:
        tangent = field.matrix_product(one.tangent, other.residue)
    if other.tangent is not None:
        second = field.matrix_product(one.residue, other.tangent)
        tangent = second if tangent is None else reduce(tangent + second)
    return Value(one.shadow @ other.shadow, field.matrix_product(one.residue, other.residue), tangent)


def total(value: Value, dims: Sequence[int], *, keepdim: bool = False) -> Value:
    """The sum along dims; all of them if none is named. exp of it is the product of the images."""
    if not value.ndim:
        return value
    along = sorted({dim % value.ndim for dim in dims}) or list(range(value.ndim))
    result = linear(lambda one: one.sum(along, keepdim=keepdim), value)

    def products() -> Tensor:
        image = value.exp_image()
        for dim in reversed(along):
            image = field.product(image, dim)
            image = image.unsqueeze(dim) if keepdim else image
        return image

    if value.exp is not None:
        result.exp = law(products, value, which="exp")
    return result


def count(value: Value, dims: Sequence[int]) -> int:
    """How many entries a reduction along dims takes together."""
    result = 1
    for dim in {dim % max(1, value.ndim) for dim in dims} or range(value.ndim):
        result *= value.shape[dim] if value.ndim else 1
    return result


def mean(value: Value, dims: Sequence[int], *, keepdim: bool = False) -> Value:
    """The mean along dims; all of them if none is named."""
    return divide(total(value, dims, keepdim=keepdim), count(value, dims))
