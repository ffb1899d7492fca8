"""Tensors of given entries: zeros, ones, places, identities, and numbers from Python lists."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from shaped.errors import ShapeError
from shaped.spec.dims import ZERO, Dim, ceildiv
from shaped.spec.expr import Constant, Entry, Expr, Variable, bracket, index_zero, power, real
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.joining import stack
from shaped.spec.meanings.kinds import converted, requested
from shaped.spec.meanings.sizes import SizeLike, as_dim, as_sizes, is_size
from shaped.spec.tensor import NotExpressible, Tensor, TensorLike, build, tensor, variable


def filled(sizes: Sequence[Dim], value: TensorLike, dtype: object, default: str) -> Tensor:
    """A tensor of one value, of the dtype's kind."""
    kind = requested(dtype, default)
    single = tensor(as_dim(value) if is_size(value) and not isinstance(value, (bool, int)) else value)
    if single.rank:
        raise ShapeError("full", "the value must be one number")
    single = as_dtype(single, kind)
    if kind == "complex":
        return build(sizes, lambda *at: (real_part(single), single.imaginary_at()), kind)
    return build(sizes, lambda *at: single.body_at(), kind)


def real_part(single: Tensor) -> Expr:
    """The real part of a tensor without axes."""
    body = single.body_at()
    assert isinstance(body, Expr)
    return body


def as_dtype(operand: Tensor, kind: str) -> Tensor:
    """The same numbers in a kind, rounded as torch rounds them.

    Raises:
        NotExpressible: numbers that are not whole as ints, or complex ones as others.
    """
    if operand.kind == kind:
        return operand
    order = ["bool", "int", "float", "complex"]
    if order.index(operand.kind) < order.index(kind):
        return converted(operand, kind)
    if operand.kind == "complex":
        raise NotExpressible("a complex tensor as real numbers: write .real")
    if kind == "bool":
        return build(operand.sizes, operand.condition_at, "bool")
    operand.whole_at(*operand.places)  # refuses what is not whole
    return Tensor(operand.axes, operand.body, kind)


def _sizes(sizes: Sequence[SizeLike], size: SizeLike) -> tuple[Dim, ...]:
    return as_sizes(sizes) if size is None else as_sizes((size,))


@meaning("zeros")
def zeros(*sizes: SizeLike, size: SizeLike = None, dtype: object = None, **options: object) -> Tensor:
    return filled(_sizes(sizes, size), 0, dtype, "float")


@meaning("ones")
def ones(*sizes: SizeLike, size: SizeLike = None, dtype: object = None, **options: object) -> Tensor:
    return filled(_sizes(sizes, size), 1, dtype, "float")


_numbers = itertools.count(1)


def _unset(sizes: Sequence[Dim], kind: str) -> Tensor:
    """A tensor whose entries may be anything: a given one of its own."""
    if kind == "int":
        return build(sizes, lambda *at: Entry(Variable(f"unset {next(_numbers)}", tuple(sizes)), at), kind)
    return variable(f"unset {next(_numbers)}", sizes, kind)


@meaning("empty")
def empty(*sizes: SizeLike, size: SizeLike = None, dtype: object = None, **options: object) -> Tensor:
    return _unset(_sizes(sizes, size), requested(dtype, "float"))


@meaning("empty_like")
def empty_like(input: Tensor, *, dtype: object = None, **options: object) -> Tensor:
    return _unset(input.sizes, requested(dtype, input.kind))


@meaning("new_empty")
def new_empty(
    input: Tensor, *sizes: SizeLike, size: SizeLike = None, dtype: object = None, **options: object
) -> Tensor:
    return _unset(_sizes(sizes, size), requested(dtype, input.kind))


@meaning("full")
def full(size: SizeLike, fill_value: TensorLike, *, dtype: object = None, **options: object) -> Tensor:
    return filled(as_sizes((size,)), fill_value, dtype, _kind_of(fill_value))


def _kind_of(value: TensorLike) -> str:
    return (
        value.kind
        if isinstance(value, Tensor)
        else "int"
        if is_size(value) and not isinstance(value, bool)
        else tensor(value).kind
    )


@meaning("zeros_like")
def zeros_like(input: Tensor, *, dtype: object = None, **options: object) -> Tensor:
    return filled(input.sizes, 0, dtype, input.kind)


@meaning("ones_like")
def ones_like(input: Tensor, *, dtype: object = None, **options: object) -> Tensor:
    return filled(input.sizes, 1, dtype, input.kind)


@meaning("full_like")
def full_like(input: Tensor, fill_value: TensorLike, *, dtype: object = None, **options: object) -> Tensor:
    return filled(input.sizes, fill_value, dtype, input.kind)


@meaning("new_zeros")
def new_zeros(
    input: Tensor, *sizes: SizeLike, size: SizeLike = None, dtype: object = None, **options: object
) -> Tensor:
    return filled(_sizes(sizes, size), 0, dtype, input.kind)


@meaning("new_ones")
def new_ones(input: Tensor, *sizes: SizeLike, size: SizeLike = None, dtype: object = None, **options: object) -> Tensor:
    return filled(_sizes(sizes, size), 1, dtype, input.kind)


@meaning("new_full")
def new_full(
    input: Tensor, size: SizeLike, fill_value: TensorLike, *, dtype: object = None, **options: object
) -> Tensor:
    return filled(as_sizes((size,)), fill_value, dtype, input.kind)


@backward("zeros_like", "ones_like", "new_zeros", "new_ones")
def like_backward(grad: Tensor, input: Tensor, *args: object, **options: object) -> None:
    """No gradient: only the shape of `input` is used."""
    return


@meaning("arange")
def arange(
    *bounds: TensorLike,
    start: TensorLike | None = None,
    end: TensorLike | None = None,
    step: TensorLike | None = None,
    dtype: object = None,
    **options: object,
) -> Tensor:
    given = list(bounds)
    if end is None:
        end = given.pop(0 if len(given) == 1 and start is None else 0 if start is not None else 1)
    if start is None:
        start = given.pop(0) if given else 0
    if step is None:
        step = given.pop(0) if given else 1
    if all(is_size(each) or (isinstance(each, Tensor) and each.kind == "int") for each in (start, end, step)):
        first, last, stride = as_dim(start), as_dim(end), as_dim(step)
        count = ceildiv(last - first, stride)
        return build((count,), lambda i: real(first + i * stride), requested(dtype, "int"))
    # torch counts the places in floating point, whatever the numbers stand for.
    low, high, gap = (_as_float(each) for each in (start, end, step))
    places, lowest, between = math.ceil((high - low) / gap), tensor(low).at(), tensor(gap).at()
    return build((places,), lambda i: lowest + real(i) * between, requested(dtype, "float"))


def _as_float(value: Any) -> float:
    """A bound as the float that it is.

    Raises:
        NotExpressible: it is not the same for all sizes.
    """
    if isinstance(value, Tensor):
        body = value.body_at() if value.rank == 0 else None
        if isinstance(body, Constant):
            return float(body.value)
    if isinstance(value, (int, float, Fraction)):
        return float(value)
    constant = None if isinstance(value, Tensor) else as_dim(value).constant
    if constant is None:
        raise NotExpressible(f"the bound {value} of places between floats")
    return float(constant)


@meaning("eye")
def eye(n: SizeLike, m: SizeLike = None, *, dtype: object = None, **options: object) -> Tensor:
    kind = requested(dtype, "float")
    rows = as_dim(n)
    return build((rows, rows if m is None else as_dim(m)), lambda i, j: bracket(index_zero(i - j)), kind)


@meaning("linspace")
def linspace(
    start: TensorLike, end: TensorLike, steps: SizeLike, base: object = None, *, dtype: object = None, **options: object
) -> Tensor:
    first, last, count = tensor(start), tensor(end), as_dim(steps)
    if count == 1:
        return build((count,), lambda i: first.at(), requested(dtype, "float"))
    return build(
        (count,),
        lambda i: first.at() + (last.at() - first.at()) * real(i) * power(real(count - 1), -1),
        requested(dtype, "float"),
    )


def from_data(data: Any) -> Tensor:
    """A tensor of nested lists of numbers and of tensors without axes."""
    if isinstance(data, Tensor):
        return data
    if is_size(data) and not isinstance(data, bool):
        return tensor(as_dim(data))
    if isinstance(data, (list, tuple)):
        if not data:
            return build((ZERO,), lambda i: 0)
        return stack([from_data(each) for each in data])
    if hasattr(data, "tolist"):
        return from_data(data.tolist())
    if isinstance(data, (bool, float, complex, Fraction)):
        return tensor(data)
    raise NotExpressible(f"{type(data).__name__} as the entries of a tensor")


@meaning("tensor", "as_tensor", "asarray", "scalar_tensor")
def tensor_(data: Any, dtype: object = None, device: object = None, **options: object) -> Tensor:
    made = from_data(data)
    return made if dtype is None else as_dtype(made, requested(dtype, made.kind))


@meaning("new_tensor")
def new_tensor(input: Tensor, data: Any, *, dtype: object = None, **options: object) -> Tensor:
    made = from_data(data)
    return as_dtype(made, requested(dtype, made.kind))
