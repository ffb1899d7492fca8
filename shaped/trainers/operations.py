"""The operations of torch that a loss calls, and an error of torch told by the names of the operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

from shaped.errors import DtypeError, Fault, ShapeError

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
            raise

    def by_name(self, error: Exception) -> Fault:
        """An error of the operation that failed, with the operation and its operands.

        >>> import torch
        >>> x, w = torch.ones(3), torch.ones(2, 4)
        >>> operations = Operations({id(x): "input x", id(w): "parameter w"})
        >>> try:
        ...     with operations:
        ...         x @ w
        ... except RuntimeError as error:
        ...     print(operations.by_name(error))
        matmul in the loss: input x (3,), parameter w (2, 4): mat1 and mat2 shapes cannot be multiplied (1x3 and 2x4)
        """
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
