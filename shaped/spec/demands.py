"""What torch demands of the dtypes and devices of an operation's or module's tensors, checked in one place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shaped.spec import devices
from shaped.spec.dtype_demands import Call, Demands, gives_dtype_of_parameters, require_differentiable
from shaped.spec.dtypes import DType
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from shaped.spec.context import Context
    from shaped.spec.op import Module, Op


def widened(
    context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> tuple[Sequence[Value], Mapping[str, Value]]:
    """The arguments of a call, with all dtypes that their tensors may have by the program's settings."""
    if not context.settings.alike:
        return args, kwargs
    return [_widened(context, value) for value in args], {
        key: _widened(context, value) for key, value in kwargs.items()
    }


def _widened(context: Context, value: Value) -> Value:
    if isinstance(value, TensorType):
        dtype = context.settings.widened(value.dtype)
        return value if dtype is value.dtype else value.with_dtype(dtype)
    return tuple(_widened(context, each) for each in value) if isinstance(value, tuple) else value


def _require(demands: Demands, call: Call) -> None:
    for demand in demands:
        demand(call)


def met(context: Context, operation: Op, arguments: Mapping[str, Value], result: Value) -> Value:
    """The result of an operation whose arguments are as torch demands.

    Raises:
        Fault: they are not.
    """
    if operation.dtypes:
        _require(operation.dtypes, Call(operation.name, arguments, result))
    if arguments.get("requires_grad") is True:
        require_differentiable(operation.name, result)
    return devices.checked(context, operation.name, operation.rule.__module__, arguments, result)


def met_by_module(module: Module, arguments: Mapping[str, Value], result: Value) -> Value:
    """The result of a module whose arguments go with its parameters, which have its parameters' dtype.

    Raises:
        Fault: they do not.
    """
    parameters = next(tensors_in(module), None)
    kind = module.torch_name.rpartition(".")[2].removeprefix("Lazy")
    _require(module.dtypes, Call(f"nn.{kind}", arguments, result, parameters))
    if parameters is not None:
        if not (kind.startswith("Embedding") and parameters.device == "meta"):
            devices.require_one_device_with_module(f"nn.{kind}", parameters, arguments)
        if isinstance(result, TensorType) and gives_dtype_of_parameters(module.dtypes):
            names = result.dtype.names & parameters.dtype.names
            result = result.with_dtype(DType(names)) if names else result
            result = replace(result, device=result.device or parameters.device)
    return result


def tensors_in(module: object) -> Iterator[TensorType]:
    """The tensors that a module of torch holds, its submodules' included."""
    from shaped.spec.op import Module

    for value in vars(module).values():
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(each, TensorType):
                yield each
            elif isinstance(each, Module):
                yield from tensors_in(each)
