"""Calls of libraries: operations of the table, torch's modules, functions without a rule."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

from shaped.errors import Origin
from shaped.spec import ops as _all_ops  # noqa: F401  # declares the operations
from shaped.spec.dims import Dim
from shaped.spec.op import Module, Op, find_module, find_op, parameters_of
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import UNKNOWN, TensorType, Value
from shaped.static import arrays, builtins, containers, placement
from shaped.static.arguments import Arguments, forget_arguments
from shaped.static.lowering import lift
from shaped.static.values import (
    Maybe,
    Opaque,
    ShapeValue,
    StaticValue,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter


# Operations whose size arguments are the result's axes, so that axes that were not counted can stand among them.
_SIZED = frozenset(
    ["Tensor.view", "Tensor.reshape", "Tensor.new_zeros", "Tensor.new_ones", "Tensor.new_empty"]
    + [f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn")]
)


# Operations that make a tensor of what they are given, which need not be an int where a caller's value is not known.
_OF_DATA = frozenset(["torch.tensor", "torch.as_tensor", "torch.asarray", "torch.from_numpy", "torch.Tensor"])


def call_external(interpreter: Interpreter, name: str, arguments: Arguments, node: ast.AST) -> StaticValue:
    """A call of a library's function or class by its qualified name."""
    if name.startswith("numpy."):
        return arrays.call(interpreter, name, arguments, node)
    if name.startswith("builtins.") or name in builtins.FUNCTIONS:
        return builtins.call(interpreter, name, arguments, node)
    if name in containers.KINDS:
        return containers.construct(interpreter, containers.KINDS[name], arguments)
    module = find_module(name)
    if module is not None:
        return construct_module(interpreter, module, arguments, node)
    op = find_op(name)
    if op is not None and name.startswith("einops.") and arrays.has_arrays(arguments):
        return arrays.as_arrays(apply(interpreter, op, name, arrays.as_tensors(arguments)))
    if op is not None:
        return apply(interpreter, op, name, arguments)
    if name.startswith(("torch.", "einops.")):
        interpreter.without_rule(name)
    forget_arguments(interpreter, arguments)
    return UNKNOWN


def apply(interpreter: Interpreter, op: Op, name: str, arguments: Arguments) -> StaticValue:
    """The result of an operation of the table."""
    if not arguments.complete:
        return UNKNOWN
    context = interpreter.context
    if arguments.axes is not None or any(isinstance(value, ShapeValue) for value in arguments.args):
        return _apply_sized(interpreter, op, name, arguments)
    if name in _OF_DATA:
        arguments = arrays.as_tensors(arguments)
    args = [_lowered(interpreter, op, place, value) for place, value in enumerate(arguments.args)]
    if name in _OF_DATA and arguments.args and isinstance(arguments.args[0], Opaque):
        args[0] = UNKNOWN
    kwargs = {key: _lowered(interpreter, op, key, value) for key, value in arguments.kwargs.items()}
    return lift(op.apply(context, args, kwargs))


def _lowered(interpreter: Interpreter, op: Op, key: int | str, value: StaticValue) -> Value:
    """An argument as operations take it: that of a parameter's position or name.

    What may be the None that asks for something else is not known: `x.sum(dim)` with `dim: int | None`. An optional
    tensor is followed as if it were there: what it has to fit is the same.
    """
    if isinstance(value, Maybe) and not isinstance(value.value, TensorType):
        parameters = op.signature.parameters
        name = next(itertools.islice(parameters, key, None), "") if isinstance(key, int) else key
        if name in parameters and parameters[name].default is None:
            return UNKNOWN
    return interpreter.lower(value)


def _apply_sized(interpreter: Interpreter, op: Op, name: str, arguments: Arguments) -> StaticValue:
    """An operation with sizes among which axes were not counted: `x.view(*x.shape[:-1], heads, -1)`."""
    context = interpreter.context
    values = list(arguments.args)
    tensor = values.pop(0) if name.startswith("Tensor.") else None
    axes: list[Dim | Pack] = []
    sizes = values[0] if len(values) == 1 and isinstance(values[0], tuple) else tuple(values)
    for value in sizes:
        if isinstance(value, ShapeValue):
            # A sum of sizes may end in one that is to be found: `x.shape[:-1] + (heads, -1)`.
            axes.extend(context.fresh() if axis == -1 else axis for axis in value.shape.axes)
            continue
        lowered = interpreter.lower(value)
        size = lowered if isinstance(lowered, Dim) and lowered != -1 else context.fresh()
        axes.append(size)
    if (
        name in ("Tensor.expand", "torch.broadcast_to")
        or name not in _SIZED
        or sum(isinstance(a, Pack) for a in axes) != 1
    ):
        return context.unknown_tensor(tensor.dtype) if isinstance(tensor, TensorType) else UNKNOWN
    shape = Shape(tuple(axes))
    return tensor.with_shape(shape) if isinstance(tensor, TensorType) else TensorType(shape)


def construct_module(
    interpreter: Interpreter, module: type[Module], arguments: Arguments, node: ast.AST
) -> StaticValue:
    """An instance of a `torch.nn` module. The sizes that it is given are said to come from here."""
    if not arguments.complete:
        return UNKNOWN
    parameters = parameters_of(module.__init__, 2)  # without self and the context
    line, target = getattr(node, "lineno", 0), interpreter.here.target

    def with_origin(name: str, value: StaticValue) -> Value:
        lowered = interpreter.lower(value)
        if isinstance(lowered, Dim):
            text = f"{name} of {target}" if target else f"{name} of nn.{module.__name__}"
            path = "" if interpreter.here.module.path == interpreter.path else interpreter.here.module.path.name
            return lowered.at(Origin(text, line, path))
        return lowered

    names = [*parameters.names, *[""] * len(arguments.args)]
    args = [with_origin(name, value) for name, value in zip(names, arguments.args)]
    kwargs = {name: with_origin(name, value) for name, value in arguments.kwargs.items()}
    bound = parameters.bind(args, kwargs)
    if bound is None:
        return UNKNOWN
    make: Callable[..., Module] = module  # every module takes the context first, then torch's own parameters
    made = make(interpreter.context, *args, **kwargs)
    placement.made(interpreter, made, bound.get("dtype"), bound.get("device"))
    return made


def call_module(interpreter: Interpreter, module: Module, arguments: Arguments) -> StaticValue:
    """`module(x)` of a `torch.nn` module."""
    if not arguments.complete:
        return UNKNOWN
    args = [interpreter.lower(value) for value in arguments.args]
    kwargs = {name: interpreter.lower(value) for name, value in arguments.kwargs.items()}
    return lift(module.apply(interpreter.context, args, kwargs))
