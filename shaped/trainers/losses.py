"""The loss of a trainer: a function of a list of parameters, or of a module that has them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import torch
from torch import Tensor, nn

from shaped.errors import DtypeError, Fault, ShapeError
from shaped.runtime.tensor_types import dtype_name
from shaped.runtime.tlist import TList

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

AnyList: TypeAlias = "TList[*tuple[Any, ...]]"
"""A list of any tensors."""


class Loss(Protocol):
    """A loss as trainers call it."""

    function: Callable[..., Any]
    takes_nats: bool

    def first(self, params: AnyList) -> AnyList | nn.Module:
        """The first argument of the function for the live parameters."""

    def __call__(self, params: AnyList, inputs: AnyList, nats: AnyList) -> Any:
        """The loss of the live parameters."""

    def of(self, params: Sequence[Tensor], inputs: AnyList, nats: AnyList) -> Any:
        """The loss of other parameters than the live ones; nothing else changes."""

    def buffers(self) -> Iterator[Tensor]:
        """What the loss may write to, beside parameters."""


class FunctionLoss:
    """`loss(params, inputs)` or `loss(params, inputs, nat_inputs)`.

    Raises:
        Fault: the function takes another number of arguments.
    """

    def __init__(self, function: Callable[..., Any], has_nats: bool) -> None:
        self.function = function
        self.takes_nats = takes_nats(function, has_nats, "params")

    def first(self, params: AnyList) -> AnyList:
        return params

    def __call__(self, params: AnyList, inputs: AnyList, nats: AnyList) -> Any:
        return self.function(params, inputs, nats) if self.takes_nats else self.function(params, inputs)

    def of(self, params: Sequence[Tensor], inputs: AnyList, nats: AnyList) -> Any:
        return self(TList(*params), inputs, nats)

    def buffers(self) -> Iterator[Tensor]:
        return iter(())


class ModuleLoss:
    """`loss(module, inputs)` or `loss(module, inputs, nat_inputs)`, of the parameters that the module has.

    Raises:
        Fault: the function takes another number of arguments.
    """

    def __init__(self, module: nn.Module, function: Callable[..., Any], has_nats: bool) -> None:
        self.module = module
        self.function = function
        self.takes_nats = takes_nats(function, has_nats, "module")
        self._around = _Around(self)
        self._names = [name for name, _ in self._around.named_parameters()]

    def first(self, params: AnyList) -> nn.Module:
        return self.module

    def compiled(self, backend: str) -> ModuleLoss:
        """The same loss, compiled; what it writes to buffers is written."""
        compiled: Callable[..., Any] = torch.compile(self.function, backend=backend)
        return ModuleLoss(self.module, compiled, self.takes_nats)

    def __call__(self, params: AnyList, inputs: AnyList, nats: AnyList) -> Any:
        return self.function(self.module, inputs, nats) if self.takes_nats else self.function(self.module, inputs)

    def of(self, params: Sequence[Tensor], inputs: AnyList, nats: AnyList) -> Any:
        with torch.no_grad():
            buffers = {name: buffer.clone() for name, buffer in self._around.named_buffers()}
        return torch.func.functional_call(self._around, {**dict(zip(self._names, params)), **buffers}, (inputs, nats))

    def buffers(self) -> Iterator[Tensor]:
        return self.module.buffers()


class _Around(nn.Module):
    """A module with the loss as its forward, so that torch can put other parameters in."""

    def __init__(self, loss: ModuleLoss) -> None:
        super().__init__()
        self.module = loss.module
        self._loss = [loss]  # a list, so that it is no part of the module

    def forward(self, inputs: AnyList, nats: AnyList) -> Any:
        return self._loss[0](TList(), inputs, nats)


def takes_nats(function: Callable[..., Any], has_nats: bool, first: str) -> bool:
    """Whether a loss takes integer inputs.

    Raises:
        Fault: it takes more or fewer arguments than it is called with.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return has_nats
    # Without integer inputs, a third parameter that has a default is the loss's own.
    if not has_nats and _accepts(signature, 2):
        return False
    if not _accepts(signature, 3):
        wanted = f"loss({first}, inputs, nat_inputs)" if has_nats else f"loss({first}, inputs)"
        raise Fault("the loss", f"has the signature {signature}, but is called as {wanted}")
    return True


def _accepts(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def require_scalar(loss: object) -> Tensor:
    """The loss, which has to be a tensor of floats without axes.

    Raises:
        ShapeError: it has axes, or is no tensor.
        DtypeError: it has another dtype.
    """
    if isinstance(loss, Tensor) and not loss.ndim and loss.is_floating_point():
        return loss
    if not isinstance(loss, Tensor):
        raise ShapeError("the loss", f"is a {type(loss).__name__}, no tensor", hint="return the tensor, not its item()")
    if loss.ndim:
        raise ShapeError(
            "the loss",
            f"it has {loss.ndim} ax{'i' if loss.ndim == 1 else 'e'}s, a scalar has none",
            str(tuple(loss.shape)),
            hint=".mean() or .sum()?",
        )
    raise DtypeError("the loss", f"its dtype is {dtype_name(loss.dtype)}, which has no gradient")
