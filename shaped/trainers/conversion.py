"""Numbers, nested lists and arrays as tensors: what is given to a trainer in place of a tensor."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import torch

from shaped.errors import DtypeError, ShapeError
from shaped.runtime.tensor_types import dtype_name

if TYPE_CHECKING:
    from torch import Tensor

_INT64 = range(-(2**63), 2**63)


def float_tensor(value: Any, called: str, dtype: torch.dtype, device: torch.device) -> Tensor:
    """A tensor of floats in a trainer's dtype, on its device.

    Numbers, and nested lists of them, are rounded to the dtype; so is an array or a tensor of another float dtype. An
    array or a tensor of ints is refused, since ints that are no floats are more often labels in the wrong place.

    Args:
        value: a number, a nested list, a NumPy array or a tensor.
        called: what it is, for messages.
        dtype: the float dtype.
        device: the device.

    >>> float_tensor([[1, 0.5]], "input x", torch.float32, torch.device("cpu"))
    tensor([[1.0000, 0.5000]])

    Raises:
        ShapeError: a list is ragged: at which index.
        DtypeError: something else than floats is given.
    """
    given: Tensor | None = value if isinstance(value, torch.Tensor) else _from_array(value, called)
    if given is None:
        return torch.tensor(_nested(value, called, _as_float), dtype=dtype, device=device)
    if not given.is_floating_point():
        hint = ".float(), or after the float inputs if they are labels" if called.startswith("input") else ".float()"
        raise DtypeError(called, f"dtype {dtype_name(given.dtype)} does not match {dtype_name(dtype)}", hint=hint)
    return given.to(device=device, dtype=dtype)


def integer_tensor(value: Any, called: str, device: torch.device) -> Tensor:
    """A tensor of integers, of the dtype that it has; numbers and nested lists become int64.

    No value passes through a float.

    >>> integer_tensor([3, 2**62 + 1], "integer input y", torch.device("cpu"))
    tensor([                  3, 4611686018427387905])

    Raises:
        ShapeError: a list is ragged: at which index.
        DtypeError: something else than integers is given, or one needs more than 64 bits.
    """
    given: Tensor | None = value if isinstance(value, torch.Tensor) else _from_array(value, called)
    if given is None:
        return torch.tensor(_nested(value, called, _as_int), dtype=torch.int64, device=device)
    if given.is_floating_point() or given.is_complex():
        hint = "integer inputs keep their dtype: give them as y.long()"
        raise DtypeError(called, f"dtype {dtype_name(given.dtype)} is no integer dtype", hint=hint)
    return given.to(device=device)


def _from_array(value: Any, called: str) -> Tensor | None:
    """A NumPy array, or what gives one, as a tensor that may share its memory; None for numbers and lists."""
    if isinstance(value, (list, tuple)) or (isinstance(value, numbers.Number) and not hasattr(value, "__array__")):
        return None
    if not hasattr(value, "__array__"):
        raise DtypeError(
            called, f"a {type(value).__name__} is no tensor", hint="a tensor, an array, a number or a nested list"
        )
    try:
        return torch.as_tensor(value)
    except TypeError as problem:
        raise DtypeError(called, f"an array of dtype {getattr(value, 'dtype', '?')} is no tensor: {problem}") from None


def _as_float(value: Any, called: str) -> float:
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise DtypeError(called, f"{value!r} is no number")
    try:
        return float(value)
    except OverflowError:
        raise DtypeError(called, f"{value!r} is too large for a float") from None


def _as_int(value: Any, called: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise DtypeError(called, f"{value!r} is no integer")
    number = int(value.__index__())
    if number not in _INT64:
        raise DtypeError(called, f"{number} needs more than 64 bits")
    return number


def _nested(value: Any, called: str, convert: Any) -> Any:
    """A nested list with each number converted.

    Raises:
        ShapeError: it is ragged.
        DtypeError: something in it is no number.
    """
    shape: list[int] = []
    inner = value
    while isinstance(inner, (list, tuple)):
        shape.append(len(inner))
        if not inner:
            break
        inner = inner[0]

    def converted(part: Any, place: str, depth: int) -> Any:
        if isinstance(part, (list, tuple)):
            if depth == len(shape):
                raise ShapeError(
                    f"{called}{place}", f"is a list of {len(part)}, where {called}{'[0]' * depth} is a number"
                )
            if len(part) != shape[depth]:
                of = "number" if depth == len(shape) - 1 else "row"
                first = f"{called}{'[0]' * depth}"
                raise ShapeError(f"{called}{place}", f"has {_count(len(part), of)}, where {first} has {shape[depth]}")
            return [converted(each, f"{place}[{number}]", depth + 1) for number, each in enumerate(part)]
        if depth < len(shape):
            first = f"{called}{'[0]' * depth}"
            raise ShapeError(f"{called}{place}", f"is a number, where {first} is a list of {shape[depth]}")
        return convert(part, f"{called}{place}")

    return converted(value, "", 0)


def _count(count: int, of: str) -> str:
    return f"{count} {of}{'s' * (count != 1)}"
