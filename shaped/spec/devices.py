"""Devices: what a program calls them, and what torch does with tensors of two of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shaped.errors import DeviceError
from shaped.spec.dims import Dim
from shaped.spec.dtypes import DType
from shaped.spec.values import Device, TensorType, Value, tensors_among

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shaped.spec.context import Context

_KINDS = frozenset(["cpu", "cuda", "mps", "meta", "xpu", "hpu", "npu", "mlu", "musa", "mtia", "xla", "privateuseone"])
_WITHOUT_FLOAT64 = frozenset(["mps"])

# The files of the table whose operations want all of their tensors on one device. Others copy between devices, ask for
# lengths on the CPU, or were not looked at.
_OF_ONE_DEVICE = frozenset(
    [
        *("activation", "arithmetic", "blend", "class_losses", "comparison", "convolution", "elementwise"),
        *("embedding", "joining", "linear", "losses", "normalization"),
    ]
)
_OF_ANY_DEVICE = frozenset(["ctc_loss", "equal"])
# These, and all in place, take a tensor without data (on the meta device) beside one of any device.
_OF_ONE_DEVICE_WITH_DATA = frozenset(
    [
        *("gather", "take", "index_select", "scatter", "scatter_add", "scatter_reduce", "index_add", "index_copy"),
        *("masked_select", "linalg.solve", "scaled_dot_product_attention", "einsum", "cdist", "embedding"),
    ]
)
_MAKES_TENSORS = frozenset(["creation", "random", "from_data"])
_OF_DATA = frozenset(["tensor", "as_tensor", "asarray", "from_numpy", "scalar_tensor"])


@dataclass(frozen=True)
class Placement:
    """The dtype and device of a module's parameters, as far as they are known."""

    dtype: DType
    device: str | None


def device_name(device: Value, index: Value = None) -> str | None:
    """The name of the device that an argument stands for; None if it is not known.

    >>> print(device_name("cuda"), device_name("cuda:0"), device_name("cuda", Dim.of(1)), device_name("auto"))
    cuda cuda:0 cuda:1 None
    """
    match device:
        case Device():
            return device.name
        case str() if device.partition(":")[0] in _KINDS:
            if isinstance(index, Dim) and index.constant is not None:
                return f"{device}:{index.constant}"
            return device if index is None or device == "cpu" else device.partition(":")[0]
    return None


def are_two(a: str | None, b: str | None) -> bool:
    """Whether two names are of two devices for certain: `cuda` may be any `cuda:1`."""
    if a is None or b is None:
        return False
    (kind, _, number), (other_kind, _, other_number) = a.partition(":"), b.partition(":")
    return kind != other_kind or (bool(number) and bool(other_number) and number != other_number)


def require_one_device(operation: str, tensors: Sequence[tuple[str, TensorType]]) -> None:
    """Demand that tensors are on one device. One without axes on the CPU goes with any.

    Raises:
        DeviceError: two are on different ones. `tensors` go with what a message calls them.
    """
    known = [(name, each) for name, each in tensors if each.device is not None and not _goes_with_any(each)]
    for name, tensor in known[1:]:
        first_name, first = known[0]
        if are_two(first.device, tensor.device):
            operands = ", ".join(f"{called}{each} on {each.device}" for called, each in known)
            moved = f'.to("{_accelerator(first, tensor)}")'
            on_cpu = first if str(first.device).startswith("cpu") else tensor
            other = first_name if on_cpu is first else name
            hint = f"{moved} on the operand {on_cpu}?" if not other.strip() else f"{moved} on {other.strip()}?"
            raise DeviceError(operation, f"devices {first.device} and {tensor.device} differ", operands, hint)


def _goes_with_any(tensor: TensorType) -> bool:
    return tensor.device == "cpu" and tensor.shape.least_rank == 0


def _accelerator(a: TensorType, b: TensorType) -> str | None:
    return b.device if a.device == "cpu" else a.device


def checked(context: Context, operation: str, file: str, arguments: Mapping[str, Value], result: Value) -> Value:
    """The result of an operation, with the default device where it is made there.

    Raises:
        DeviceError: tensors of two devices meet, or the device has no float64.
    """
    tensors = [("", tensor) for tensor in tensors_among(arguments.values())]
    family = file.rpartition(".")[2]
    if len(tensors) > 1 and _wants_one_device(operation, family, tensors):
        require_one_device(operation, tensors)
    if isinstance(result, TensorType):
        is_new = family in _MAKES_TENSORS and not tensors and arguments.get("device") is None
        if is_new and result.device is None and (operation not in _OF_DATA or _is_plain(arguments.get("data"))):
            result = replace(result, device=context.settings.default_device)
        require_dtype(operation, result)
    return result


def _wants_one_device(operation: str, family: str, tensors: Sequence[tuple[str, TensorType]]) -> bool:
    name = operation.rstrip("_")
    lacks_data = any(tensor.device == "meta" for _, tensor in tensors)
    if family in _OF_ONE_DEVICE and name not in _OF_ANY_DEVICE:
        return not lacks_data or operation == name
    return (family == "contraction" or name in _OF_ONE_DEVICE_WITH_DATA) and not lacks_data


def _is_plain(data: Value) -> bool:
    """Whether data is no tensor, whose device the result would have."""
    return isinstance(data, (tuple, Dim, float, bool))


def require_dtype(operation: str, tensor: TensorType, what: str = "") -> None:
    """Demand that the device of a tensor has its dtype.

    Raises:
        DeviceError: it has not.
    """
    kind = (tensor.device or "").partition(":")[0]
    if kind in _WITHOUT_FLOAT64 and tensor.dtype.single in ("float64", "complex128"):
        operands = what or f"{tensor.dtype}{tensor} on {kind}"
        raise DeviceError(operation, f"{kind} has no {tensor.dtype}", operands, ".float() first?")


def require_one_device_with_module(operation: str, parameters: TensorType, arguments: Mapping[str, Value]) -> None:
    """Demand that the arguments of a module are where its parameters are.

    Raises:
        DeviceError: one is elsewhere.
    """
    for name, value in arguments.items():
        for tensor in tensors_among((value,)):
            is_one_number = _goes_with_any(tensor) or _goes_with_any(parameters)
            if are_two(tensor.device, parameters.device) and not is_one_number:
                operands = f"{name} {tensor} on {tensor.device}, parameters on {parameters.device}"
                reason = f"devices {tensor.device} and {parameters.device} differ"
                raise DeviceError(operation, reason, operands, f'.to("{parameters.device}") on {name}?')
