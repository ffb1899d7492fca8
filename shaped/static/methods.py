"""Methods of values that are no objects of the program: tensors, lists, dictionaries, modules, strings."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from shaped.spec.dims import Dim, product
from shaped.spec.op import Module, find_op
from shaped.spec.ops.conversion import require_data_on_cpu
from shaped.spec.values import UNKNOWN, TensorType
from shaped.static import aliases, arrays, assignment, calls, iteration, library, operators, placement, tlists
from shaped.static.arguments import Arguments, forget_arguments
from shaped.static.join import join_many, join_tensors
from shaped.static.values import (
    ArrayValue,
    Container,
    DictValue,
    Instance,
    ListValue,
    ManyValue,
    ShapeValue,
    StaticValue,
    ValueMethod,
    as_dim,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter

# Methods that only tensors have: a value that was not followed is one when it has them.
ONLY_TENSORS = frozenset(
    [
        "view",
        "unsqueeze",
        "permute",
        "expand",
        "contiguous",
        "masked_fill",
        "softmax",
        "log_softmax",
        "detach",
        "requires_grad_",
        "view_as",
        "expand_as",
        "type_as",
        "bmm",
        "matmul",
        "relu",
        "sigmoid",
        "masked_select",
        "scatter",
        "scatter_",
        "gather",
        "index_select",
        "baddbmm",
        "unflatten",
        "movedim",
        "masked_fill_",
        "unsqueeze_",
        "squeeze_",
        "normal_",
        "uniform_",
        "fill_",
        "zero_",
        "new_zeros",
        "new_ones",
        "new_full",
        "new_tensor",
        "new_empty",
        "narrow",
        "repeat_interleave",
        "cumsum_",
        "softmax_",
        "logsumexp",
        "unfold",
        "half",
        "bfloat16",
        "cuda",
    ]
)
# Methods of every torch module that give the module back.
_SELF = frozenset(
    [
        "to",
        "cuda",
        "cpu",
        "eval",
        "train",
        "half",
        "float",
        "double",
        "bfloat16",
        "requires_grad_",
        "apply",
        "share_memory",
        "type",
        "compile",
        "to_empty",
        "xpu",
    ]
)


def call_method(interpreter: Interpreter, method: ValueMethod, arguments: Arguments, node: ast.AST) -> StaticValue:
    """The value of `receiver.name(arguments)`."""
    receiver, name = method.receiver, method.name
    match receiver:
        case TensorType():
            return _tensor(interpreter, receiver, name, arguments, node)
        case ArrayValue():
            return arrays.call_method(interpreter, receiver, name, arguments)
        case Instance():
            return _instance(interpreter, receiver, name, arguments, node)
        case Container():
            return _container(interpreter, receiver, name, arguments, node)
        case Module():
            return _module(interpreter, receiver, name, arguments)
        case ListValue():
            return _list(interpreter, receiver, name, arguments)
        case DictValue():
            return _dict(interpreter, receiver, name, arguments)
        case tuple() | ManyValue() if name in tlists.METHODS:
            return tlists.call_method(interpreter, receiver, name, arguments, node)
        case tuple():
            if name == "numel":
                dims = [as_dim(item) for item in receiver]
                known = [dim for dim in dims if dim is not None]
                return product(known) if len(known) == len(dims) else UNKNOWN
            return interpreter.context.fresh() if name in ("index", "count") else UNKNOWN
        case ShapeValue():
            return interpreter.context.fresh() if name == "numel" else UNKNOWN
        case str():
            return _string(interpreter, receiver, name, arguments)
    forget_arguments(interpreter, arguments)
    if receiver is UNKNOWN and name in ONLY_TENSORS and find_op(f"Tensor.{name}") is not None:
        return _tensor(interpreter, interpreter.context.unknown_tensor(), name, arguments, node)
    if receiver is UNKNOWN and name == "size":
        return _size_of_unknown(interpreter, arguments)
    return UNKNOWN


def _size_of_unknown(interpreter: Interpreter, arguments: Arguments) -> StaticValue:
    from shaped.spec.shape import Shape

    if not arguments.args and not arguments.kwargs:
        return ShapeValue(Shape.of(interpreter.context.fresh_pack()))
    return interpreter.context.fresh() if len(arguments.args) == 1 else UNKNOWN


def _tensor(
    interpreter: Interpreter, tensor: TensorType, name: str, arguments: Arguments, node: ast.AST
) -> StaticValue:
    full = f"Tensor.{name}"
    op = find_op(full)
    if name == "size" and not arguments.args and not arguments.kwargs and tensor.shape.rank is None:
        return ShapeValue(tensor.shape)
    if name == "numpy":
        require_data_on_cpu(name, tensor)
        return ArrayValue(tensor)
    if op is None:
        interpreter.without_rule(full)
        forget_arguments(interpreter, arguments)
        return UNKNOWN
    bound = Arguments()
    devices = placement.named_devices(arguments) if name == "to" else {}
    bound.args = [tensor, *(devices.get(place, value) for place, value in enumerate(arguments.args))]
    bound.kwargs, bound.complete, bound.axes = arguments.kwargs, arguments.complete, arguments.axes
    result = library.apply(interpreter, op, full, bound)
    if full in op.in_place:
        _store(interpreter, node, tensor, result)
    return result


def _store(interpreter: Interpreter, node: ast.AST, before: TensorType, result: StaticValue) -> None:
    """An in-place method changes the tensor that it is called on, under all its names."""
    target: ast.AST | None = node
    while isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute) and target.func.attr.endswith("_"):
        target = target.func.value
    if not isinstance(result, TensorType):
        return
    if result.shape != before.shape:
        # What holds the very tensor may hold it as it is then.
        aliases.replace_everywhere(interpreter, before, join_tensors(interpreter.context, before, result))
    if isinstance(target, (ast.Name, ast.Attribute)):
        assignment.assign(interpreter, target, result)
    elif isinstance(target, ast.Subscript):
        with interpreter.quietly():
            holder = interpreter.evaluate(target.value)
        if isinstance(holder, (ListValue, DictValue)):
            assignment.assign(interpreter, target, result)


def _instance(
    interpreter: Interpreter, instance: Instance, name: str, arguments: Arguments, node: ast.AST
) -> StaticValue:
    args = arguments.args
    if name in _SELF:
        placement.move(interpreter, instance, name, arguments)
        return instance
    if (
        name in ("register_buffer", "register_parameter", "add_module", "register_module")
        and len(args) + len(arguments.kwargs) >= 2
    ):
        key = args[0] if args else arguments.kwargs.get("name")
        value = args[1] if len(args) > 1 else arguments.kwargs.get("tensor", arguments.kwargs.get("param", UNKNOWN))
        if isinstance(key, str):
            interpreter.journal.set(instance.attributes, key, value)
        return None
    if name == "forward":
        return calls.call_instance(interpreter, instance, arguments, node)
    forget_arguments(interpreter, arguments)
    return UNKNOWN


def _module(interpreter: Interpreter, module: Module, name: str, arguments: Arguments) -> StaticValue:
    if name == "forward":
        return library.call_module(interpreter, module, arguments)
    if name in _SELF:
        placement.move(interpreter, module, name, arguments)
        return module
    return UNKNOWN


def _container(
    interpreter: Interpreter, container: Container, name: str, arguments: Arguments, node: ast.AST
) -> StaticValue:
    content, args = container.content, arguments.args
    if name in _SELF:
        placement.move(interpreter, container, name, arguments)
        return container
    match name:
        case "append" if len(args) == 1:
            _set_content(interpreter, container, operators.extended(interpreter, content, (args[0],)))
            return container
        case "extend" if len(args) == 1:
            more = iteration.content(interpreter, args[0])
            _set_content(interpreter, container, operators.extended(interpreter, content, more))
            return container
        case "add_module" if len(args) == 2 and container.kind != "ModuleDict":
            _set_content(interpreter, container, operators.extended(interpreter, content, (args[1],)))
            return None
        case "forward":
            return calls.invoke(interpreter, container, arguments, node)
        case "values" | "children":
            return content
        case "items" | "named_children" if isinstance(content, tuple):
            keys = container.keys or tuple(str(i) for i in range(len(content)))
            return tuple(zip(keys, content))
        case "keys" if container.keys is not None:
            return container.keys
        case "insert" | "pop" | "update" | "clear":
            _set_content(interpreter, container, ManyValue(UNKNOWN, interpreter.context.fresh()))
    return UNKNOWN


def _set_content(
    interpreter: Interpreter, holder: ListValue | Container, content: tuple[StaticValue, ...] | ManyValue
) -> None:
    interpreter.journal.set(holder.__dict__, "content", content)


def _list(interpreter: Interpreter, value: ListValue, name: str, arguments: Arguments) -> StaticValue:
    content, args = value.content, arguments.args
    match name:
        case "index" | "count":
            return interpreter.context.fresh()
        case "append" if len(args) == 1:
            _set_content(interpreter, value, operators.extended(interpreter, content, (args[0],)))
            return None
        case "extend" if len(args) == 1:
            more = iteration.content(interpreter, args[0])
            _set_content(interpreter, value, operators.extended(interpreter, content, more))
            return None
        case "insert" if len(args) == 2:
            index = as_dim(args[0])
            if isinstance(content, tuple) and index is not None and index.constant is not None:
                items = list(content)
                items.insert(index.constant, args[1])
                _set_content(interpreter, value, tuple(items))
            else:
                _set_content(interpreter, value, operators.extended(interpreter, content, (args[1],)))
            return None
        case "pop":
            index = as_dim(args[0]) if args else Dim.of(-1)
            position = index.constant if index is not None else None
            if isinstance(content, tuple) and position is not None and -len(content) <= position < len(content):
                items = list(content)
                item = items.pop(position)
                _set_content(interpreter, value, tuple(items))
                return item
            element = join_many(interpreter.context, content, ()).element
            _set_content(interpreter, value, ManyValue(element, interpreter.context.fresh()))
            return element
        case "reverse" if isinstance(content, tuple):
            _set_content(interpreter, value, tuple(reversed(content)))
            return None
        case "copy":
            return ListValue(content)
        case "clear":
            _set_content(interpreter, value, ())
            return None
        case "sort" | "remove" | "reverse":
            element = join_many(interpreter.context, content, ()).element
            _set_content(interpreter, value, ManyValue(element, interpreter.context.fresh()))
            return None
    return UNKNOWN


def _dict(interpreter: Interpreter, value: DictValue, name: str, arguments: Arguments) -> StaticValue:
    args = arguments.args
    key = assignment.constant_key(args[0]) if args else None
    match name:
        case "get" if key is not None:
            default = args[1] if len(args) > 1 else None
            if key in value.items:
                return value.items[key]
            return default if value.complete else UNKNOWN
        case "pop" | "setdefault" if key is not None:
            default = args[1] if len(args) > 1 else None
            found = value.items.get(key, default if value.complete else UNKNOWN)
            if name == "pop":
                from shaped.static.journal import MISSING

                interpreter.journal.set(value.items, key, MISSING)
            elif key not in value.items:
                interpreter.journal.set(value.items, key, found)
            return found
        case "items" if value.complete:
            return tuple((key if isinstance(key, str) else UNKNOWN, item) for key, item in value.items.items())
        case "values" if value.complete:
            return tuple(value.items.values())
        case "keys" if value.complete:
            return tuple(key if isinstance(key, str) else UNKNOWN for key in value.items)
        case "values" | "items":
            return UNKNOWN
        case "copy":
            return DictValue(dict(value.items), value.complete)
        case "update" | "pop" | "popitem" | "clear" | "setdefault":
            other = args[0] if args else None
            if name == "update" and isinstance(other, DictValue) and other.complete:
                for other_key, item in other.items.items():
                    interpreter.journal.set(value.items, other_key, item)
                return None
            for known in list(value.items):
                interpreter.journal.set(value.items, known, UNKNOWN)
            interpreter.journal.set(value.__dict__, "complete", False)
    return UNKNOWN


_ON_STRINGS: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "strip": str.strip,
}


def _string(interpreter: Interpreter, value: str, name: str, arguments: Arguments) -> StaticValue:
    function = _ON_STRINGS.get(name)
    if function is not None and not arguments.args:
        return function(value)
    if name in ("index", "rindex", "find", "rfind", "count"):
        return interpreter.context.fresh(low=-1)
    if name in ("startswith", "endswith") and len(arguments.args) == 1 and isinstance(arguments.args[0], str):
        return value.startswith(arguments.args[0]) if name == "startswith" else value.endswith(arguments.args[0])
    return UNKNOWN
