"""Other dtypes and devices, copies, and what is no change at all.

Numbers are real numbers whatever the float dtype: `.half()` is the same number. A dtype matters where it changes the
kind of number.
"""

from __future__ import annotations

from typing import Any

from shaped.spec.dtypes import ALIASES, ANY
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.creation import as_dtype, filled
from shaped.spec.meanings.kinds import requested
from shaped.spec.tensor import NotExpressible, Tensor


@meaning("clone", "contiguous", "requires_grad_", "pin_memory", "share_memory_", "coalesce", "to_dense", "cpu", "cuda")
def same(input: Tensor, *args: object, **options: object) -> Tensor:
    return input


@backward("clone", "contiguous", "coalesce", "to_dense", "cpu", "cuda")
def same_backward(grad: Tensor, input: Tensor, *args: object, **options: object) -> Tensor:
    return grad


@meaning("detach")
def detach(input: Tensor) -> Tensor:
    """The same numbers, whose derivative counts as 0.

    Raises:
        NotExpressible: there is a derivative: an expression cannot say that it is not meant. What reads programs
            replaces this meaning by one that keeps the numbers apart.
    """
    if input.kind in ("float", "complex"):
        raise NotExpressible("detach, whose derivative is not that of the value")
    return input


@meaning("zero_")
def zero_(input: Tensor) -> Tensor:
    return filled(input.sizes, 0, None, input.kind)


@meaning("to")
def to(
    input: Tensor,
    *args: Any,
    dtype: object = None,
    device: object = None,
    other: Tensor | None = None,
    **options: object,
) -> Tensor:
    for arg in (*args, dtype, device, other):
        if isinstance(arg, Tensor):
            input = as_dtype(input, arg.kind)
        elif arg is not None and not isinstance(arg, (bool, int)) and _is_dtype(arg):
            input = as_dtype(input, requested(arg, input.kind))
    return input


def _is_dtype(value: object) -> bool:
    name = str(value).removeprefix("torch.")
    return ALIASES.get(name, name) in ANY


@meaning("type")
def type_(input: Tensor, dtype: object = None, **options: object) -> Tensor:
    if not _is_dtype(dtype):
        raise NotExpressible(f"the type {dtype}")
    return to(input, dtype)


@meaning("type_as")
def type_as(input: Tensor, other: Tensor) -> Tensor:
    return as_dtype(input, other.kind)


def _declare_cast(name: str, kind: str) -> None:
    @meaning(name)
    def cast(input: Tensor, memory_format: object = None) -> Tensor:
        return as_dtype(input, kind)


for _kind, _names in {
    "float": ("float", "double", "half", "bfloat16"),
    "int": ("byte", "char", "short", "int", "long"),
    "bool": ("bool",),
    "complex": ("cfloat", "cdouble", "chalf"),
}.items():
    for _name in _names:
        _declare_cast(_name, _kind)
