"""The operations of torch that a loss calls, and an error of torch told by the names of the operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

from shaped.errors import DtypeError, Fault, ShapeError
from shaped.runtime.tensor_types import dtype_name
from shaped.spec import ops as _all_ops  # noqa: F401  # declares the operations
from shaped.spec.context import Context
from shaped.spec.dtypes import DType
from shaped.spec.op import find_op
from shaped.spec.values import TensorType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Operations(TorchFunctionMode):
    """Counts the operations that are called inside, and notes the one that fails and its operands.

    Args:
        names: what tensors are called, by their identity.
    """

    def __init__(self, names: Mapping[int, str]) -> None:
        super().__init__()
        self.names = names
        self.count = 0
        self.failed: Exception | None = None
        self._called = self._operands = ""
        self._by_rule: Fault | None = None

    def __torch_function__(
        self, func: Callable[..., Any], types: object, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.count += 1
        try:
            return func(*args, **(kwargs or {}))
        except Exception as error:
            self.failed = error
            self._called = getattr(func, "__name__", str(func)).strip("_")
            self._operands = self._told((*args, *(kwargs or {}).values()))
            self._by_rule = None if kwargs else _refused_by_rule(self._called, args)
            raise

    def by_name(self, error: Exception) -> Fault:
        """An error of the operation that failed, with the operation and its operands.

        The reason is in the words of the checker, where its rule of the operation refuses the operands too.

        >>> import torch
        >>> x, w = torch.ones(3), torch.ones(2, 4)
        >>> operations = Operations({id(x): "input x", id(w): "parameter w"})
        >>> try:
        ...     with operations:
        ...         x @ w
        ... except RuntimeError as error:
        ...     print(operations.by_name(error))
        matmul in the loss: input x (3,), parameter w (2, 4): inner dimensions 3 and 2 differ
        """
        if self._by_rule is not None:
            fault = self._by_rule
            return type(fault)(f"{self._called} in the loss", fault.reason, self._operands, fault.hint, fault.dims)
        text = str(error).strip().split("\n", 1)[0]
        kind = DtypeError if "dtype" in text or "scalar type" in text else ShapeError
        return kind(f"{self._called} in the loss", text, self._operands)

    def _told(self, value: object) -> str:
        if isinstance(value, (list, tuple)):
            return ", ".join(operand for each in value if (operand := self._told(each)))
        if not isinstance(value, Tensor):
            return ""
        shape = str(tuple(value.shape))
        name = self.names.get(id(value))
        return f"{name} {shape}" if name else shape


_MODULES = ("torch", "Tensor", "torch.nn.functional")  # where the table has an operation under its own name


def _refused_by_rule(called: str, operands: tuple[Any, ...]) -> Fault | None:
    """What the checker says of an operation on some tensors; None if it takes more than tensors, or has no rule."""
    op = next((found for module in _MODULES if (found := find_op(f"{module}.{called}"))), None)
    if op is None or not all(isinstance(operand, Tensor) for operand in operands):
        return None
    try:
        given = [TensorType.of(*operand.shape, dtype=DType.named(dtype_name(operand.dtype))) for operand in operands]
        op.apply(Context(), given, {})
    except Fault as fault:
        return fault
    except Exception:  # a fault of our own hides no error of torch's
        return None
    return None
