"""The dtype and device of modules: what `.half()`, `.cuda()` and `.to(...)` make of their parameters.

The object that stands for all of a class may have been cast and moved by any caller, so nothing is known of it. Of one
that the code under check made, what is done with it is followed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shaped.spec.devices import device_name, require_dtype
from shaped.spec.dims import Dim
from shaped.spec.dtypes import FLOAT, FLOATS, DType
from shaped.spec.op import Module
from shaped.spec.values import UNKNOWN, Device, TensorType, Value
from shaped.static.copies import objects_in
from shaped.static.values import Choice, Container, FunctionValue, Instance, ManyValue, Maybe, StaticValue
from shaped.static.walk import walk

if TYPE_CHECKING:
    from shaped.static.arguments import Arguments
    from shaped.static.interpreter import Interpreter

_CASTS = {"half": "float16", "float": "float32", "double": "float64", "bfloat16": "bfloat16"}
_MOVES = ("cuda", "cpu", "xpu")
_UNCHANGED = frozenset(["eval", "train", "requires_grad_", "share_memory", "compile"])
_CASTING_CALLS = frozenset([*_CASTS, *_MOVES, "to", "type", "data"])


@dataclass(frozen=True)
class _Move:
    """What a call makes of parameters. A dtype of None stays; so does the device unless `moves`."""

    dtype: DType | None = None
    device: str | None = None
    moves: bool = False


_TO_ANYTHING = _Move(FLOAT, None, moves=True)


def made(interpreter: Interpreter, module: Module, dtype: Value, device: Value) -> None:
    """Give the parameters of a new module the program's default dtype and device, if it asks for none."""
    settings = interpreter.context.settings
    if not settings.follows_parameters:
        return
    place = settings.default_device if device is None else device_name(device)
    _move(_set_directly, module, _Move(settings.default_dtype if dtype is None else None, place, moves=True))


def move(interpreter: Interpreter, value: StaticValue, method: str, arguments: Arguments) -> None:
    """Follow a method of a module that gives the module back: `to`, `cuda`, `half`, `apply`, ...

    Raises:
        Fault: its parameters have a dtype that the device has not.
    """
    if method in _UNCHANGED:
        return
    asked = _asked(interpreter, method, arguments)
    if not interpreter.context.settings.follows_parameters:
        asked = _TO_ANYTHING
    _move(interpreter.journal.set, value, asked)
    if asked.moves:
        for tensor in _tensors(value):
            require_dtype(method, tensor, f"parameters of {tensor.dtype}")


def forget(interpreter: Interpreter, *values: StaticValue) -> None:
    """Code that is not followed may have cast or moved modules among `values`."""
    for value in values:
        if isinstance(value, (Instance, Module, Container)):
            _move(interpreter.journal.set, value, _TO_ANYTHING)


def forget_for_all(interpreter: Interpreter, value: StaticValue) -> None:
    """Make an object that was just made stand for those that others cast and moved."""

    def set_for_all(slots: dict[Any, Any], key: str, new: StaticValue) -> None:
        slots[key] = new
        interpreter.journal.changed.add(id(slots))

    _move(set_for_all, value, _TO_ANYTHING)


def forget_scope(interpreter: Interpreter, names: dict[str, StaticValue]) -> None:
    """What a module's top level makes may be cast and moved before its functions are called."""
    for name, value in list(names.items()):
        if isinstance(value, TensorType):
            names[name] = replace(value, device=None)
        elif isinstance(value, (Instance, Module, Container)):
            forget_for_all(interpreter, value)


def named_devices(arguments: Arguments) -> dict[int | str, Device]:
    """The arguments that were not followed but that are called a device: `device`, `self.device`, `args.dev`."""
    values: Iterator[tuple[int | str, StaticValue]] = iter([*enumerate(arguments.args), *arguments.kwargs.items()])
    return {key: Device(None) for key, value in values if value is UNKNOWN and _names_device(arguments.nodes.get(key))}


def _names_device(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "device"
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name.lower().rstrip("s0123456789").endswith(("device", "dev"))


def _set_directly(slots: dict[Any, Any], key: str, value: StaticValue) -> None:
    slots[key] = value


def _asked(interpreter: Interpreter, method: str, arguments: Arguments) -> _Move:
    """What a method makes of parameters."""
    if not arguments.complete:
        return _TO_ANYTHING
    given: dict[int | str, StaticValue] = dict(enumerate(arguments.args))
    given.update(arguments.kwargs)
    given.update(named_devices(arguments))
    values = {key: interpreter.lower(value) for key, value in given.items()}
    if method in _CASTS:
        return _Move(DType.named(_CASTS[method]))
    if method in _MOVES:
        index = next(iter(values.values()), None)
        return _Move(None, _indexed(method, index), moves=True)
    if method == "to":
        return _asked_by_to(values)
    if method == "type" and isinstance(dtype := next(iter(values.values()), UNKNOWN), DType):
        return _Move(dtype)
    if method == "to_empty":
        return _Move(None, device_name(next(iter(values.values()), UNKNOWN)), moves=True)
    if method == "apply" and _leaves_dtypes(next(iter(given.values()), UNKNOWN)):
        return _Move()
    return _TO_ANYTHING


def _indexed(kind: str, index: Value) -> str | None:
    if index is None or kind == "cpu":
        return kind
    if isinstance(index, Dim):
        return kind if index.constant is None else f"{kind}:{index.constant}"
    return device_name(index) or kind


def _asked_by_to(values: Mapping[int | str, Value]) -> _Move:
    dtype: DType | None = None
    device: str | None = None
    moves = False
    for key, value in values.items():
        match value:
            case DType():
                dtype = value
            case str() | Device():
                device, moves = device_name(value), True
            case TensorType():
                dtype, device, moves = value.dtype, value.device, True
            case None | bool():
                pass
            case _ if key == "device" or isinstance(value, Dim):
                device, moves = None, True
            case _ if key == "dtype":
                dtype = FLOAT
            case _ if key in ("memory_format", "non_blocking"):
                pass
            case _:
                return _TO_ANYTHING
    return _Move(dtype, device, moves)


def _leaves_dtypes(function: StaticValue) -> bool:
    """Whether a function that is applied to all submodules casts and moves nothing."""
    if not isinstance(function, FunctionValue):
        return False
    return not any(isinstance(node, ast.Attribute) and node.attr in _CASTING_CALLS for node in walk(function.node))


Set = Callable[[dict[Any, Any], str, StaticValue], None]


def _move(set_slot: Set, value: StaticValue, asked: _Move) -> None:
    for holder in _holders(value):
        if isinstance(holder, Module):
            for slots, name, own in _parameters(holder):
                set_slot(slots, name, _moved(own, asked) if isinstance(own, TensorType) else asked.dtype or own)
        elif isinstance(holder, Container):
            content = _each(holder.content, lambda tensor: _moved(tensor, asked))
            if content is not holder.content:
                set_slot(holder.__dict__, "content", content)
        elif isinstance(holder, Instance) and holder.is_made and holder.cls.is_module:
            for name, item in list(holder.attributes.items()):
                moved = _each(item, lambda tensor: _moved_or_not(tensor, asked))
                if moved is not item:
                    set_slot(holder.attributes, name, moved)


def _holders(value: StaticValue) -> list[StaticValue]:
    """The modules of a value: its own, and those that may stand in one place."""
    found: list[StaticValue] = []
    for holder in objects_in(value).values():
        found.append(holder)
        if isinstance(holder, Instance) and holder.is_made:  # others are forgotten when they are made
            choices = [item for item in holder.attributes.values() if isinstance(item, Choice)]
        elif isinstance(holder, Container) and isinstance(holder.content, tuple):
            choices = [item for item in holder.content if isinstance(item, Choice)]
        else:
            choices = []
        found += [inner for choice in choices for option in choice.options for inner in _holders(option)]
    return found


def _each(value: StaticValue, change: Callable[[TensorType], TensorType]) -> StaticValue:
    """A value with its tensors changed; the same one if it holds none."""
    match value:
        case TensorType():
            return change(value)
        case Maybe(value=TensorType() as tensor):
            return Maybe(change(tensor))
        case tuple() if any(isinstance(item, TensorType) for item in value):
            return tuple(_each(item, change) for item in value)
        case ManyValue(element=TensorType() as element):
            return ManyValue(change(element), value.length)
    return value


def _parameters(module: Module) -> Iterator[tuple[dict[str, Any], str, TensorType | DType]]:
    """The slots of a library's module that hold parameters, or their dtype, its submodules' included."""
    slots = vars(module)
    for name, item in list(slots.items()):
        if isinstance(item, TensorType) or (isinstance(item, DType) and item.is_all(FLOATS)):
            yield slots, name, item
        for inner in item if isinstance(item, (tuple, list)) else (item,):
            if isinstance(inner, Module):
                yield from _parameters(inner)


def _moved(tensor: TensorType, asked: _Move) -> TensorType:
    dtype = asked.dtype if asked.dtype is not None and tensor.dtype.is_all(FLOATS) else tensor.dtype
    device = asked.device if asked.moves else tensor.device
    is_there = device == tensor.device and dtype.names == tensor.dtype.names
    return tensor if is_there else replace(tensor, dtype=dtype, device=device)


def _moved_or_not(tensor: TensorType, asked: _Move) -> TensorType:
    """A tensor that an object of the program holds: a parameter or buffer, or a plain tensor, which stays as it is."""
    moved = _moved(tensor, asked)
    device = moved.device if moved.device == tensor.device else None
    dtype = DType(moved.dtype.names | tensor.dtype.names)
    return moved if (dtype, device) == (moved.dtype, moved.device) else replace(moved, dtype=dtype, device=device)


def _tensors(value: StaticValue) -> Iterator[TensorType]:
    for holder in _holders(value):
        if isinstance(holder, Module):
            yield from (item for _, _, item in _parameters(holder) if isinstance(item, TensorType))
