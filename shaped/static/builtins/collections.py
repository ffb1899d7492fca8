"""Functions that make or go through collections: `len`, `range`, `zip`, `sorted`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shaped.spec.dims import Dim
from shaped.spec.values import UNKNOWN
from shaped.static import assignment, calls, comparisons, iteration
from shaped.static.arguments import Arguments
from shaped.static.join import join_many
from shaped.static.values import (
    DictValue,
    Instance,
    ListValue,
    ManyValue,
    Opaque,
    RangeValue,
    ShapeValue,
    StaticValue,
    as_dim,
)

if TYPE_CHECKING:
    from shaped.static.builtins.kind import Builtin
    from shaped.static.interpreter import Interpreter


def _len(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    if len(arguments.args) != 1:
        return UNKNOWN
    value = arguments.args[0]
    if isinstance(value, Instance):
        return interpreter.call_method(value, "__len__", [], node)
    length = iteration.length(interpreter, value)
    return length if length is not None else interpreter.context.fresh()


def _range(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    dims = [as_dim(value) for value in arguments.args]
    known = [dim if dim is not None else interpreter.context.fresh(low=None) for dim in dims]
    match known:
        case [stop]:
            return RangeValue(Dim.of(0), stop, Dim.of(1))
        case [start, stop]:
            return RangeValue(start, stop, Dim.of(1))
        case [start, stop, step]:
            return RangeValue(start, stop, step)
    return UNKNOWN


def _enumerate(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    if not arguments.args:
        return UNKNOWN
    start_value = arguments.args[1] if len(arguments.args) > 1 else arguments.kwargs.get("start", Dim.of(0))
    start = as_dim(start_value)
    counted = iteration.items(interpreter, arguments.args[0])
    if counted is not None:
        return tuple(((start + i) if start is not None else UNKNOWN, item) for i, item in enumerate(counted))
    many = iteration.content(interpreter, arguments.args[0])
    assert isinstance(many, ManyValue)
    return ManyValue((interpreter.context.fresh(), many.element), many.length)


def _zip(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    counted = [iteration.items(interpreter, value) for value in arguments.args]
    known = [items for items in counted if items is not None]
    if len(known) == len(counted):
        return tuple(zip(*known))
    pairs = [iteration.element(interpreter, value) for value in arguments.args]
    lengths = [count for _, count in pairs if count is not None]
    same = len(lengths) == len(pairs) and all(length == lengths[0] for length in lengths)
    elements: list[StaticValue] = [make() for make, _ in pairs]
    if known and any(len(items) <= iteration.MOST_ITEMS for items in known):
        # As many rounds as the shortest that is counted, when the others are as long: code zips what belongs together.
        shortest = min(len(items) for items in known)
        rows = [
            tuple(items[i] if items is not None else element for items, element in zip(counted, elements))
            for i in range(shortest)
        ]
        return tuple(rows)
    return ManyValue(tuple(elements), lengths[0] if same else interpreter.context.fresh())


def _map(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:

    if len(arguments.args) != 2:
        return UNKNOWN
    function, source = arguments.args

    def apply(item: StaticValue) -> StaticValue:
        step = Arguments()
        step.args = [item]
        return calls.invoke(interpreter, function, step, node)

    content = iteration.content(interpreter, source)
    if isinstance(content, ManyValue):
        return ManyValue(apply(content.element), content.length)
    return tuple(apply(item) for item in content)


def _as_tuple(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    if not arguments.args:
        return ()
    value = arguments.args[0]
    if isinstance(value, (ShapeValue, Opaque)):
        return value
    return iteration.content(interpreter, value)


def _as_list(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    content = _as_tuple(interpreter, arguments, node)
    return ListValue(content) if isinstance(content, (tuple, ManyValue)) else content


def _reversed(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    source = arguments.args[0] if len(arguments.args) == 1 else UNKNOWN
    if isinstance(source, RangeValue) and source.step == 1 and iteration.items(interpreter, source) is None:
        return RangeValue(source.stop - 1, source.start - 1, Dim.of(-1))
    content = _as_tuple(interpreter, arguments, node)
    return tuple(reversed(content)) if isinstance(content, tuple) else content


def _set(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    return distinct(interpreter, iteration.content(interpreter, arguments.args[0]) if arguments.args else ())


def distinct(interpreter: Interpreter, content: tuple[StaticValue, ...] | ManyValue) -> ListValue:
    """The items of a set: counted only where it is known which are equal."""
    keys = [assignment.constant_key(item) for item in content] if isinstance(content, tuple) else [None]
    if isinstance(content, tuple) and None not in keys:
        return ListValue(tuple(dict(zip(keys, content)).values()))
    return ListValue(ManyValue(join_many(interpreter.context, content, ()).element, interpreter.context.fresh()))


def _sorted(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    content = iteration.content(interpreter, arguments.args[0]) if arguments.args else ()
    if isinstance(content, ManyValue):
        return ListValue(content)
    numbers = [item.constant for item in content if isinstance(item, Dim) and item.constant is not None]
    texts = [item for item in content if isinstance(item, str)]
    if not arguments.kwargs and len(numbers) == len(content):
        return ListValue(tuple(Dim.of(number) for number in sorted(numbers)))
    if not arguments.kwargs and len(texts) == len(content):
        return ListValue(tuple(sorted(texts)))
    return ListValue(ManyValue(join_many(interpreter.context, content, ()).element, Dim.of(len(content))))


def _dict(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    items: dict[object, StaticValue] = {}
    complete = True
    if arguments.args:
        source = _as_dictionary(interpreter, arguments.args[0])
        complete = isinstance(source, DictValue) and source.complete
        items.update(source.items if isinstance(source, DictValue) else {})
    for key, value in arguments.kwargs.items():
        items[key] = value
    return DictValue(items, complete)


def _as_dictionary(interpreter: Interpreter, source: StaticValue) -> StaticValue:
    """The dictionary of counted pairs of known keys: `dict(zip(names, sizes))`."""
    pairs = None if isinstance(source, DictValue) else iteration.items(interpreter, source)
    if pairs is None:
        return source
    found: dict[object, StaticValue] = {}
    for pair in pairs:
        key = assignment.constant_key(pair[0]) if isinstance(pair, tuple) and len(pair) == 2 else None
        if key is None or not isinstance(pair, tuple):
            return UNKNOWN
        found[key] = pair[1]
    return DictValue(found)


def _next(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    make, _ = iteration.element(interpreter, arguments.args[0] if arguments.args else UNKNOWN)
    return make()


def _all(stop: bool) -> Builtin:
    def check(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        values = iteration.items(interpreter, arguments.args[0]) if arguments.args else None
        if values is None:
            return UNKNOWN
        truths = [comparisons.truth_of(value) for value in values]
        return stop if stop in truths else UNKNOWN if None in truths else not stop

    return check


def _slice(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    from shaped.static.values import SliceValue

    args = arguments.args
    if len(args) == 1:
        return SliceValue(None, args[0], None)
    return SliceValue(args[0], args[1], args[2] if len(args) > 2 else None) if args else UNKNOWN


def _ntuple(count: int) -> Builtin:
    """torch's `_pair` and its kin: what can be gone through as a tuple, anything else `count` times."""

    def repeat(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        value = arguments.args[0] if len(arguments.args) == 1 else UNKNOWN
        if isinstance(value, (tuple, ManyValue, ListValue)):
            return iteration.content(interpreter, value)
        return (value,) * count if isinstance(value, (Dim, float)) else UNKNOWN

    return repeat


FUNCTIONS: dict[str, Builtin] = {
    **{f"torch.nn._{name}": _ntuple(i) for i, name in enumerate(("single", "pair", "triple", "quadruple"), 1)},
    "builtins.len": _len,
    "builtins.range": _range,
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
    "builtins.map": _map,
    "builtins.tuple": _as_tuple,
    "builtins.list": _as_list,
    "builtins.iter": _as_tuple,
    "builtins.reversed": _reversed,
    "builtins.sorted": _sorted,
    "builtins.set": _set,
    "builtins.frozenset": _set,
    "builtins.dict": _dict,
    "builtins.next": _next,
    "builtins.any": _all(True),
    "builtins.all": _all(False),
    "builtins.slice": _slice,
    "torch.Size": _as_tuple,
}
