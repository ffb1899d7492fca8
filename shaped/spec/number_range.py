"""Whether numbers fit into the dtypes of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import DtypeError
from shaped.spec.dims import Dim
from shaped.spec.dtypes import FLOATS, INTEGERS
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.dtype_demands import Call, Demands
    from shaped.spec.dtypes import DType

_LARGEST = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    **{f"int{bits}": 2.0 ** (bits - 1) - 1 for bits in (8, 16, 32)},
    **{f"uint{bits}": 2.0**bits - 1 for bits in (8, 16, 32)},
    "int64": 2.0**63,
}


def fits_input(*numbers: str) -> Demands:
    """These parameters, where they are numbers, are written into the input: its dtype has room for them."""

    def demand(call: Call) -> None:
        _require_room(call, call.arguments.get("input"), numbers)

    return (demand,)


def fits_result(*numbers: str) -> Demands:
    """These parameters, where they are numbers, are written into the result: its dtype has room for them."""

    def demand(call: Call) -> None:
        _require_room(call, call.result, numbers)

    return (demand,)


def _require_room(call: Call, tensor: Value, numbers: tuple[str, ...]) -> None:
    """Demand that numbers fit into a tensor's dtype."""
    dtype = tensor.dtype.single if isinstance(tensor, TensorType) else None
    largest = _LARGEST.get(dtype or "")
    for name in numbers:
        value = call.arguments.get(name)
        number = value.constant if isinstance(value, Dim) else value if isinstance(value, float) else None
        if largest is None or dtype is None or number is None or number != number:
            continue  # nan stands for a float that was not followed
        is_infinite = number in (float("inf"), float("-inf"))
        if is_infinite and dtype in FLOATS:
            continue
        least = -largest - (1 if dtype.startswith("int") else 0)
        if not least <= number <= largest:
            hint = "torch.finfo(x.dtype).min?" if dtype in FLOATS and number < 0 else ""
            raise DtypeError(call.name, f"{number:g} does not fit into {dtype}", f"{dtype}{tensor}", hint)


def require_range(operation: str, data: Value, dtype: DType) -> None:
    """Demand that the ints of a list fit into an integer dtype.

    Raises:
        DtypeError: one does not.
    """
    largest = _LARGEST.get(dtype.single or "")
    if largest is None or not dtype.is_all(INTEGERS):
        return
    for item in data if isinstance(data, tuple) else (data,):
        if isinstance(item, tuple):
            require_range(operation, item, dtype)
        elif isinstance(item, Dim) and item.constant is not None and not -largest - 1 <= item.constant <= largest:
            raise DtypeError(operation, f"{item} does not fit into {dtype}", str(item))
