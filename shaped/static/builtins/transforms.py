"""Functions that take a function and give one, or call it: `torch.func`, `torch.compile`, `torch.utils.checkpoint`.

A transformed function is a `Partial` of a name under `torch.func` that no program can write, so that it is called,
passed on and joined like any other.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.broadcast import is_joined
from shaped.spec.dims import Dim
from shaped.spec.op import Module
from shaped.spec.ops.arguments import integer
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType
from shaped.static import calls, iteration
from shaped.static.arguments import Arguments
from shaped.static.values import (
    BoundMethod,
    Choice,
    Container,
    DictValue,
    External,
    FunctionValue,
    Instance,
    ListValue,
    Partial,
    StaticValue,
    ValueMethod,
)

if TYPE_CHECKING:
    from shaped.static.builtins.kind import Builtin
    from shaped.static.interpreter import Interpreter

_CALLED = "torch.func.<called>."  # the name of what a transform gives back


def arguments_of(args: Sequence[StaticValue], kwargs: dict[str, StaticValue] | None = None) -> Arguments:
    """The arguments of a call that the interpreter makes itself."""
    found = Arguments()
    found.args, found.kwargs = list(args), kwargs or {}
    return found


def _bound(arguments: Arguments, **parameters: StaticValue) -> list[StaticValue] | None:
    """The first argument and those of parameters, with their defaults, in order; None if they do not fit.

    Keyword arguments of other parameters have no say in shapes.
    """
    first, *given = arguments.args or [UNKNOWN]
    if not arguments.args or len(given) > len(parameters):
        return None
    values = {**parameters, **dict(zip(parameters, given, strict=False))}
    values.update({name: value for name, value in arguments.kwargs.items() if name in parameters})
    return [first, *values.values()]


def _transform(kind: str, **parameters: StaticValue) -> Builtin:
    """`kind(function, options)`, which gives a function. `parameters` are the options with their defaults."""

    def transform(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        values = _bound(arguments, **parameters)
        return UNKNOWN if values is None else Partial(External(_CALLED + kind), tuple(values), ())

    return transform


def _called(options: int, apply: Callable[..., StaticValue]) -> Builtin:
    """A call of what a transform with so many options gave: `apply(interpreter, node, call, options, args)`."""

    def call(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        function, *rest = arguments.args
        given, args = rest[:options], rest[options:]

        def run(values: Sequence[StaticValue]) -> StaticValue:
            return calls.invoke(interpreter, function, arguments_of(values, arguments.kwargs), node)

        return apply(interpreter, run, given, args)

    return call


Run = Callable[[Sequence[StaticValue]], StaticValue]


# vmap


def _vmap(interpreter: Interpreter, run: Run, options: list[StaticValue], args: list[StaticValue]) -> StaticValue:
    in_dims, out_dims = options
    axes = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(args)
    mapped: list[StaticValue] = []
    sizes: list[tuple[TensorType, Dim]] = []
    if len(axes) != len(args):
        return UNKNOWN
    for value, axis in zip(args, axes, strict=True):
        if axis is None:
            mapped.append(value)
            continue
        taken = _without_axis(interpreter, value, axis)
        if taken is None:  # a tree of tensors, or an axis that was not followed
            mapped.append(UNKNOWN)
            continue
        tensor, size = taken
        mapped.append(tensor)
        sizes.append((value, size) if isinstance(value, TensorType) else (tensor, size))
    size = interpreter.context.fresh() if not sizes else sizes[0][1]
    for tensor, other in sizes[1:]:

        def fault(other: Dim = other, tensor: TensorType = tensor) -> ShapeError:
            first, one = sizes[0]
            reason = f"the mapped axes have sizes {one} and {other}"
            return ShapeError("vmap", reason, f"{first}, {tensor}", dims=(one, other))

        size = interpreter.context.require_equal(size, other, fault)
    return _with_axis(interpreter, run(mapped), size, out_dims)


def _without_axis(interpreter: Interpreter, value: StaticValue, axis: StaticValue) -> tuple[TensorType, Dim] | None:
    """A tensor without the axis that is mapped over, and that axis's size."""
    if not isinstance(value, TensorType) or not isinstance(axis, Dim) or value.shape.rank is None:
        return None
    if value.shape.rank == 0:
        raise ShapeError("vmap", "a tensor without axes has none to map over", str(value))
    place = interpreter.context.axis("vmap", value, axis)
    if place is None:
        return None
    dims = value.shape.dims
    return value.with_shape(Shape((*dims[:place], *dims[place + 1 :]))), dims[place]


def _with_axis(interpreter: Interpreter, value: StaticValue, size: Dim, axis: StaticValue) -> StaticValue:
    """The results of all calls together: each tensor with one axis more."""
    if isinstance(value, tuple):
        axes = axis if isinstance(axis, tuple) else (axis,) * len(value)
        if len(axes) != len(value):
            return UNKNOWN
        return tuple(_with_axis(interpreter, item, size, each) for item, each in zip(value, axes, strict=True))
    if axis is None:
        return value
    if not isinstance(value, TensorType):
        return UNKNOWN
    place = integer(axis) if isinstance(axis, Dim) else None
    shape = value.shape
    if place is None or shape.rank is None or not -shape.rank - 1 <= place <= shape.rank:
        return interpreter.context.unknown_tensor(value.dtype)
    place %= shape.rank + 1
    return value.with_shape(Shape((*shape.dims[:place], size, *shape.dims[place:])))


# Derivatives


def _grad(interpreter: Interpreter, run: Run, options: list[StaticValue], args: list[StaticValue]) -> StaticValue:
    argnums, has_aux = options
    value, auxiliary, is_split = _with_auxiliary(run(args), has_aux)
    if isinstance(value, TensorType) and value.shape.least_rank > 0:
        raise ShapeError("grad", "the function has to give a scalar", str(value), hint="sum it?")
    found = _of_arguments(args, argnums)
    return (found, auxiliary) if is_split else UNKNOWN if auxiliary is UNKNOWN else found


def _grad_and_value(
    interpreter: Interpreter, run: Run, options: list[StaticValue], args: list[StaticValue]
) -> StaticValue:
    results: list[StaticValue] = []

    def run_once(values: Sequence[StaticValue]) -> StaticValue:
        results.append(run(values))
        return results[0]

    found = _grad(interpreter, run_once, options, args)
    value = results[0] if results else UNKNOWN
    if options[1] is True and isinstance(found, tuple):
        found = found[0]
    return (found, value) if isinstance(options[1], bool) else UNKNOWN


def _with_auxiliary(value: StaticValue, has_aux: StaticValue) -> tuple[StaticValue, StaticValue, bool]:
    """What a function gives that is differentiated, what it gives beside it, and whether it does."""
    if has_aux is False:
        return value, None, False
    if has_aux is True and isinstance(value, tuple) and len(value) == 2:
        return value[0], value[1], True
    return UNKNOWN, UNKNOWN, has_aux is True


def _of_arguments(args: list[StaticValue], argnums: StaticValue) -> StaticValue:
    """The gradients: each as the argument that it is taken by."""
    if isinstance(argnums, tuple):
        return tuple(_of_arguments(args, each) for each in argnums)
    place = integer(argnums) if isinstance(argnums, Dim) else None
    if place is None or not -len(args) <= place < len(args):
        return UNKNOWN
    return _as_gradient(args[place])


def _as_gradient(value: StaticValue) -> StaticValue:
    if isinstance(value, TensorType):
        return replace(value, merged=())
    if isinstance(value, tuple):
        return tuple(_as_gradient(item) for item in value)
    if isinstance(value, ListValue) and isinstance(value.content, tuple):
        return ListValue(tuple(_as_gradient(item) for item in value.content))
    if isinstance(value, DictValue):
        return DictValue({key: _as_gradient(item) for key, item in value.items.items()}, value.complete)
    return UNKNOWN


def _jacobian(interpreter: Interpreter, run: Run, options: list[StaticValue], args: list[StaticValue]) -> StaticValue:
    argnums, has_aux = options
    value, auxiliary, is_split = _with_auxiliary(run(args), has_aux)
    found = _derivatives(interpreter, value, _of_arguments(args, argnums))
    return (found, auxiliary) if is_split else UNKNOWN if auxiliary is UNKNOWN else found


def _hessian(interpreter: Interpreter, run: Run, options: list[StaticValue], args: list[StaticValue]) -> StaticValue:
    if isinstance(options[0], tuple):
        return UNKNOWN
    by = _of_arguments(args, options[0])
    return _derivatives(interpreter, _derivatives(interpreter, run(args), by), by)


def _derivatives(interpreter: Interpreter, value: StaticValue, by: StaticValue) -> StaticValue:
    """The derivatives of all entries of a result by all entries of the arguments: the axes of both, in this order."""
    if isinstance(value, tuple):
        return tuple(_derivatives(interpreter, item, by) for item in value)
    if isinstance(by, tuple):
        return tuple(_derivatives(interpreter, value, item) for item in by)
    if not isinstance(value, TensorType) or not isinstance(by, TensorType):
        return UNKNOWN
    if value.shape.rank is None and by.shape.rank is None:
        return interpreter.context.unknown_tensor(value.dtype)
    return TensorType(Shape((*value.shape.axes, *by.shape.axes)), value.dtype, joined=is_joined(value, by))


def _jvp(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    """`jvp(func, primals, tangents)` gives what the function gives, and as much for the tangents."""
    values = _bound(arguments, primals=UNKNOWN, tangents=UNKNOWN)
    if values is None or not isinstance(values[1], tuple) or arguments.kwargs.get("has_aux", False) is not False:
        return UNKNOWN
    found = calls.invoke(interpreter, values[0], arguments_of(values[1]), node)
    return found, _as_gradient(found)


def _vjp(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    """`vjp(func, *primals)` gives what the function gives, and the function that gives the gradients."""
    if not arguments.args or arguments.kwargs.get("has_aux", False) is not False:
        return UNKNOWN
    function, *primals = arguments.args
    found = calls.invoke(interpreter, function, arguments_of(primals), node)
    gradients = tuple(_as_gradient(primal) for primal in primals)
    return found, Partial(External(f"{_CALLED}vjp"), (gradients,), ())


def _first_value(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    return arguments.args[0]


def _jacobian_of(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    """`torch.autograd.functional.jacobian(func, inputs)`; a tuple of inputs gives a tuple for each output."""
    values = _bound(arguments, inputs=UNKNOWN)
    if values is None:
        return UNKNOWN
    inputs = values[1] if isinstance(values[1], tuple) else (values[1],)
    if not all(isinstance(value, TensorType) for value in inputs):
        return UNKNOWN
    found = calls.invoke(interpreter, values[0], arguments_of(inputs), node)
    return _derivatives(interpreter, found, _as_gradient(values[1]))


# Calls of a function with other arguments


def _functional_call(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    """`functional_call(module, parameters, args, kwargs)`: as `module(*args, **kwargs)`."""
    values = _bound(arguments, parameter_and_buffer_dicts=UNKNOWN, args=None, kwargs=None)
    if values is None or not isinstance(values[2], (TensorType, tuple, type(None))):
        return UNKNOWN
    module, _, args, options = values
    given = () if args is None else args if isinstance(args, tuple) else (args,)
    if options is None:
        return calls.invoke(interpreter, module, arguments_of(given), node)
    if not isinstance(options, DictValue) or not options.complete:
        return UNKNOWN
    named = {key: value for key, value in options.items.items() if isinstance(key, str)}
    return calls.invoke(interpreter, module, arguments_of(given, named), node)


_OF_CHECKPOINT = ("use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop")


def _checkpoint(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    """`checkpoint(function, *args)` calls the function."""
    if not arguments.args:
        return UNKNOWN
    named = {key: value for key, value in arguments.kwargs.items() if key not in _OF_CHECKPOINT}
    return calls.invoke(interpreter, arguments.args[0], arguments_of(arguments.args[1:], named), node)


def _checkpoint_sequential(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    """`checkpoint_sequential(functions, segments, input)` calls one after the other."""
    values = _bound(arguments, segments=UNKNOWN, input=UNKNOWN)
    if values is None:
        return UNKNOWN
    functions, _, value = values
    if isinstance(functions, Container) and functions.kind == "Sequential":
        return calls.invoke(interpreter, functions, arguments_of([value]), node)
    steps = iteration.items(interpreter, functions)
    if steps is None:
        return UNKNOWN
    for step in steps:
        value = calls.invoke(interpreter, step, arguments_of([value]), node)
    return value


_CALLABLE = (FunctionValue, BoundMethod, Instance, Container, Module, Partial, Choice, ValueMethod)


def _compiled(name: str) -> Builtin:
    """`torch.compile(model)` is the model; `torch.compile(mode=...)` is a decorator that gives it."""

    def same(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        named = [arguments.kwargs[key] for key in ("model", "fn") if key in arguments.kwargs]
        given = [*arguments.args[:1], *named]
        return given[0] if given else External(name)

    return same


def _mode(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    """`torch.no_grad()`, a context manager and a decorator; `torch.no_grad(function)` is the function."""
    is_function = len(arguments.args) == 1 and isinstance(arguments.args[0], _CALLABLE)
    return arguments.args[0] if is_function else External(f"{_CALLED}mode")


_DERIVATIVE = {"grad": _grad, "grad_and_value": _grad_and_value, "jacrev": _jacobian, "jacfwd": _jacobian}
_MODES = ("no_grad", "enable_grad", "inference_mode")
_SAME = [
    *("torch.compile", "torch.jit.script", "torch.jit.trace", "torch.jit.ignore", "torch.jit.unused"),
    *("torch.jit.export", "torch.jit.script_if_tracing", "torch.compiler.disable", "torch.compiler.allow_in_graph"),
    *("torch._dynamo.disable", "torch._dynamo.allow_in_graph", "torch.fx.wrap", "torch.cuda.amp.custom_fwd"),
    *("torch.cuda.amp.custom_bwd", "torch.jit.freeze", "torch.jit.optimize_for_inference"),
    *("shaped.runtime.compile_forward", "shaped.runtime.compiled.compile_forward"),
]

FUNCTIONS: dict[str, Builtin] = {
    **dict.fromkeys(["torch.vmap", "torch.func.vmap"], _transform("vmap", in_dims=Dim.of(0), out_dims=Dim.of(0))),
    f"{_CALLED}vmap": _called(2, _vmap),
    **{f"torch.func.{name}": _transform(name, argnums=Dim.of(0), has_aux=False) for name in _DERIVATIVE},
    **{f"{_CALLED}{name}": _called(2, apply) for name, apply in _DERIVATIVE.items()},
    "torch.func.hessian": _transform("hessian", argnums=Dim.of(0)),
    f"{_CALLED}hessian": _called(1, _hessian),
    "torch.func.jvp": _jvp,
    "torch.func.vjp": _vjp,
    f"{_CALLED}vjp": _first_value,
    "torch.autograd.functional.jacobian": _jacobian_of,
    "torch.func.functional_call": _functional_call,
    "torch.nn.utils.stateless.functional_call": _functional_call,
    "torch.utils.checkpoint.checkpoint": _checkpoint,
    "torch.utils.checkpoint.checkpoint_sequential": _checkpoint_sequential,
    **{name: _compiled(name) for name in _SAME},
    **{f"torch.{name}": _mode for name in _MODES},
    f"{_CALLED}mode": _compiled(f"{_CALLED}mode"),
}
