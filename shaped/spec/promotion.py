"""The dtype of a result: torch's type promotion over the sets of dtypes that the operands may have."""

from __future__ import annotations

from functools import cache, lru_cache, reduce
from typing import TYPE_CHECKING

from shaped.errors import DtypeError
from shaped.spec.dims import Dim
from shaped.spec.dtypes import (
    ANY_DTYPE,
    BOOL,
    COMPLEX,
    FLOAT32,
    FLOATS,
    INT64,
    INTEGERS,
    UNSIGNED,
    DType,
)
from shaped.spec.values import Ratio, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DTYPE_BITS = {
    "bool": 1,
    "float8_e4m3fn": 8,
    "float8_e5m2": 8,
    "float8_e4m3fnuz": 8,
    "float8_e5m2fnuz": 8,
    "int8": 8,
    "int16": 16,
    "int32": 32,
    "int64": 64,
    "uint8": 8,
    "uint16": 16,
    "uint32": 32,
    "uint64": 64,
    "float16": 16,
    "bfloat16": 16,
    "float32": 32,
    "float64": 64,
    "complex32": 32,
    "complex64": 64,
    "complex128": 128,
}
_FLOAT8 = frozenset(name for name in FLOATS if name.startswith("float8"))
_WIDE_UNSIGNED = UNSIGNED - {"uint8"}
_REAL_OF_COMPLEX = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
_COMPLEX_OF_REAL = {
    "float16": "complex32",
    "bfloat16": "complex64",
    "float32": "complex64",
    "float64": "complex128",
}


def category(name: str) -> int:
    """0 for bool, 1 for an integer, 2 for a float, 3 for a complex dtype: a result has the operands' highest."""
    return 3 if name in COMPLEX else 2 if name in FLOATS else 1 if name in INTEGERS else 0


@cache
def promote_names(a: str, b: str) -> str | None:
    """The dtype that holds both, as `torch.promote_types` gives; None where torch refuses.

    >>> promote_names("uint8", "int8"), promote_names("float16", "bfloat16"), promote_names("int64", "float16")
    ('int16', 'float32', 'float16')
    """
    if a == b:
        return a
    low, high = sorted((a, b), key=category)
    if low in _FLOAT8 or high in _FLOAT8:
        return None
    if {a, b} & _WIDE_UNSIGNED:
        return high if category(high) == 2 else None
    if category(high) == 3:
        if category(low) < 2:
            return high
        left = _REAL_OF_COMPLEX.get(low, low)
        common = promote_names(left, _REAL_OF_COMPLEX[high])
        return _COMPLEX_OF_REAL[common] if common else None
    if category(low) < category(high):
        return high
    if category(high) == 2:
        return "float32" if {a, b} == {"float16", "bfloat16"} else max(a, b, key=DTYPE_BITS.__getitem__)
    if "uint8" in (a, b):
        signed = a if b == "uint8" else b
        return "int16" if signed == "int8" else signed
    return max(a, b, key=DTYPE_BITS.__getitem__)


def _combine_names(higher: str, lower: str) -> str | None:
    """The dtype for an operand with axes (or a tensor) and one without (or a Python number): only a higher category of
    the lower one matters."""
    if category(higher) == 3:
        return higher
    if category(higher) == 2:
        return _COMPLEX_OF_REAL.get(higher) if category(lower) == 3 else higher
    if higher == "bool" or category(lower) >= 2:
        return promote_names(higher, lower)
    return higher


@lru_cache(maxsize=4096)
def promote(a: DType, b: DType) -> DType:
    """The dtypes that two tensors with axes may promote to."""
    return _each_pair(a, b, combine=False)


@lru_cache(maxsize=4096)
def _combine(higher: DType, lower: DType) -> DType:
    return _each_pair(higher, lower, combine=True)


def _each_pair(a: DType, b: DType, *, combine: bool) -> DType:
    function = _combine_names if combine else promote_names
    if a == b and a.single is not None:
        return a
    names = {function(x, y) for x in a.names for y in b.names} - {None}
    # Where torch refuses every pair the call fails at run time, but promotion faults are not for shapes to report.
    return DType(frozenset(name for name in names if name is not None)) if names else ANY_DTYPE


_MOST_EITHER = 6  # tensors of unknown rank that are tried with and without axes: each doubles the work


def result_type(*operands: Value) -> DType:
    """The dtype of an operation on tensors and Python numbers, as `torch.result_type` gives.

    A tensor without axes counts less than one with axes, a Python number less than both; a tensor of unknown rank may
    be either. What was not followed may be any of them.

    >>> from shaped.spec.dtypes import INT64
    >>> print(result_type(TensorType.of(3, dtype=INT64), 2.5), result_type(TensorType.of(3, dtype=INT64), True))
    float32 int64
    """
    with_axes: list[DType] = []
    without: list[DType] = []
    either: list[DType] = []
    numbers: list[DType] = []
    for operand in operands:
        match operand:
            case TensorType(shape=shape, dtype=dtype):
                group = with_axes if shape.least_rank else without if shape.rank == 0 else either
                group.append(dtype)
            case _:
                number = number_dtype(operand)
                if number is None:
                    either.append(ANY_DTYPE)
                else:
                    numbers.append(number)
    if len(with_axes) == 1 and not without and not either and not numbers:
        return with_axes[0]
    first = next(iter([*with_axes, *without, *either]), None)
    if first is not None and first.single and not numbers and all(d == first for d in with_axes + without + either):
        return first
    if len(either) > _MOST_EITHER:
        return ANY_DTYPE
    results: set[str] = set()
    for choice in range(2 ** len(either)):
        chosen_with = [dtype for i, dtype in enumerate(either) if choice >> i & 1]
        chosen_without = [dtype for i, dtype in enumerate(either) if not choice >> i & 1]
        levels = (with_axes + chosen_with, without + chosen_without, numbers)
        results |= reduce(
            lambda lower, higher: _combine(higher, lower),
            (reduce(promote, level) for level in reversed(levels) if level),
        ).names
    return DType(frozenset(results)) if results else ANY_DTYPE


def number_dtype(value: Value) -> DType | None:
    """The dtype that a Python number stands for, None if `value` is none."""
    match value:
        case bool():
            return DType(BOOL)
        case Dim() | int():
            return INT64
        case float() | Ratio():
            return FLOAT32
        case _:
            return None


def is_number(value: Value) -> bool:
    """Whether it is a Python number (a bool, an int or a float)."""
    return number_dtype(value) is not None


def mapped(dtype: DType, mapping: dict[str, str]) -> DType:
    """The dtypes with some replaced."""
    return DType(frozenset(mapping.get(name, name) for name in dtype.names))


_TO_FLOAT = dict.fromkeys(INTEGERS | BOOL, "float32")
_TO_INT64 = dict.fromkeys(INTEGERS | BOOL, "int64")
_ABSOLUTE = {**_REAL_OF_COMPLEX}


def as_float(dtype: DType) -> DType:
    """The result of a function with real values, as `exp` or a true division: integers and bool become float32."""
    return mapped(dtype, _TO_FLOAT)


def as_sum(dtype: DType) -> DType:
    """The result of a sum or product: integers and bool become int64."""
    return mapped(dtype, _TO_INT64)


def as_real(dtype: DType) -> DType:
    """The result of an absolute value: complex becomes real."""
    return mapped(dtype, _ABSOLUTE)


def as_complex(dtype: DType) -> DType:
    """The complex dtype with parts of this dtype."""
    return mapped(dtype, _COMPLEX_OF_REAL)


def requested(dtype: Value, default: DType) -> DType:
    """What an argument `dtype=` asks for: `default` for None, any dtype where it was not followed."""
    match dtype:
        case None:
            return default
        case DType():
            return dtype
        case _:
            return ANY_DTYPE


def excluding(operation: str, dtype: DType, refused: Iterable[str], reason: str, hint: str = "") -> DType:
    """The dtypes that are left when torch refuses some.

    Raises:
        DtypeError: none is left. `reason` says what is allowed; the dtype is put before it.
    """
    names = dtype.names - frozenset(refused)
    if not names:
        raise DtypeError(operation, f"{dtype} {reason}", hint=hint)
    return DType(names)


def as_mean(operation: str, dtype: DType) -> DType:
    """The dtype of a mean: of floats or complex only.

    Raises:
        DtypeError: it is the mean of integers or bool for certain.
    """
    return excluding(operation, dtype, INTEGERS | BOOL, "has no mean", ".float()?")


def common_device(operands: Sequence[Value]) -> str | None:
    """The device of a result: that of the operands with axes, where they agree."""
    tensors = [operand for operand in operands if isinstance(operand, TensorType)]
    decisive = [tensor for tensor in tensors if tensor.shape.rank != 0] or tensors
    devices = {tensor.device for tensor in decisive}
    return devices.pop() if len(devices) == 1 else None
