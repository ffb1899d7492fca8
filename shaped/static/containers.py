"""`nn.Sequential`, `ModuleList`, `ModuleDict` and `ParameterList`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shaped.spec.values import UNKNOWN, TensorType
from shaped.static import calls
from shaped.static.arguments import Arguments
from shaped.static.join import covers, join
from shaped.static.values import Container, DictValue, ListValue, ManyValue, StaticValue

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter

KINDS = {
    "torch.nn.Sequential": "Sequential",
    "torch.nn.ModuleList": "ModuleList",
    "torch.nn.ModuleDict": "ModuleDict",
    "torch.nn.ParameterList": "ModuleList",
    "torch.nn.ParameterDict": "ModuleDict",
    "collections.OrderedDict": "",
}


def construct(interpreter: Interpreter, kind: str, arguments: Arguments) -> StaticValue:
    """A container of the modules that its constructor is given."""
    from shaped.static import iteration

    args = arguments.args
    if kind == "":
        return _ordered(interpreter, arguments)
    if kind == "Sequential" and not (len(args) == 1 and isinstance(args[0], (DictValue, Container))):
        if arguments.complete:
            return Container(kind, tuple(args))
        if arguments.many and not arguments.kwargs:
            return _with_many(arguments)
        return Container(kind, ManyValue(UNKNOWN, interpreter.context.fresh()))
    if not args:
        return Container(kind, (), () if kind == "ModuleDict" else None)
    source = args[0]
    if isinstance(source, DictValue):
        if not source.complete:
            return Container(kind, ManyValue(UNKNOWN, interpreter.context.fresh()))
        return Container(kind, tuple(source.items.values()), tuple(str(key) for key in source.items))
    if kind == "ModuleDict":
        return Container(kind, ManyValue(UNKNOWN, interpreter.context.fresh()))
    return Container(kind, iteration.content(interpreter, source))


def _with_many(arguments: Arguments) -> Container:
    """`Sequential(stem, *blocks, head)` where the blocks were not counted: they are one step of several modules."""
    if not arguments.args and len(arguments.many) == 1:
        return Container("Sequential", arguments.many[0][1])
    steps = list(arguments.args)
    for position, content in reversed(arguments.many):
        steps.insert(position, Container("Sequential", content))
    return Container("Sequential", tuple(steps), counted=False)


def _ordered(interpreter: Interpreter, arguments: Arguments) -> StaticValue:
    """`OrderedDict([("conv", ...), ("relu", ...)])`."""
    if not arguments.args:
        return DictValue({}, complete=arguments.complete)
    source = arguments.args[0]
    if isinstance(source, DictValue):
        return DictValue(dict(source.items), source.complete)
    pairs = source.content if isinstance(source, ListValue) else source
    if isinstance(pairs, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        return DictValue({pair[0]: pair[1] for pair in pairs if isinstance(pair, tuple) and isinstance(pair[0], str)})
    return DictValue({}, complete=False)


def call(interpreter: Interpreter, container: Container, arguments: Arguments, node: ast.AST) -> StaticValue:
    """`sequential(x)`: each module takes what the one before gave."""
    if container.kind != "Sequential" or not arguments.complete or len(arguments.args) != 1:
        return UNKNOWN
    value = arguments.args[0]
    if isinstance(container.content, ManyValue):
        return _repeated(interpreter, container.content.element, value, node)
    for module in container.content:
        value = _step(interpreter, module, value, node)
    return value


def _step(interpreter: Interpreter, module: StaticValue, value: StaticValue, node: ast.AST) -> StaticValue:
    step = Arguments()
    step.args = [value]
    return calls.invoke(interpreter, module, step, node)


def _repeated(interpreter: Interpreter, module: StaticValue, value: StaticValue, node: ast.AST) -> StaticValue:
    """A module applied any number of times: its result where that has the shape that it was given."""
    with interpreter.quietly():
        once = _step(interpreter, module, value, node)
    if once == value or covers(value, once, lambda symbol: False):
        return _step(interpreter, module, value, node)
    joined = join(interpreter.context, value, once)
    again = _step(interpreter, module, joined, node)
    return join(interpreter.context, joined, again) if isinstance(again, TensorType) else UNKNOWN
