"""Python's built-in functions, and those of math, functools and itertools that models use."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from shaped.spec.dims import Dim, ceildiv, maximum, minimum, product
from shaped.spec.op import find_op
from shaped.spec.values import UNKNOWN, Ratio, TensorType
from shaped.static import assignment, conditions, iteration, operators
from shaped.static.join import join_many
from shaped.static.operators import NOT_FOLLOWED
from shaped.static.values import (
    DictValue,
    External,
    Instance,
    ListValue,
    ManyValue,
    Opaque,
    Partial,
    RangeValue,
    ShapeValue,
    StaticValue,
    as_dim,
    present,
)

if TYPE_CHECKING:
    from shaped.static.calls import Arguments
    from shaped.static.interpreter import Interpreter

Builtin = Callable[["Interpreter", "Arguments", ast.AST], StaticValue]
_PYTHON_NAMES = frozenset(
    [
        "abs",
        "all",
        "any",
        "bool",
        "callable",
        "dict",
        "divmod",
        "enumerate",
        "filter",
        "float",
        "frozenset",
        "getattr",
        "hasattr",
        "id",
        "int",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "list",
        "map",
        "max",
        "min",
        "next",
        "object",
        "open",
        "print",
        "property",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "setattr",
        "slice",
        "sorted",
        "staticmethod",
        "classmethod",
        "str",
        "sum",
        "super",
        "tuple",
        "type",
        "zip",
        "vars",
        "pow",
        "delattr",
        "bytes",
        "complex",
        "format",
        "hash",
        "input",
        "memoryview",
        "NotImplemented",
        "NotImplementedError",
        "Exception",
        "ValueError",
        "RuntimeError",
        "TypeError",
        "KeyError",
        "IndexError",
        "AssertionError",
        "AttributeError",
        "StopIteration",
        "ImportError",
        "ModuleNotFoundError",
        "Warning",
    ]
)


def builtin(name: str) -> StaticValue:
    """A built-in name."""
    if name == "__name__":
        return UNKNOWN
    return External(f"builtins.{name}") if name in _PYTHON_NAMES else UNKNOWN


def call(interpreter: Interpreter, name: str, arguments: Arguments, node: ast.AST) -> StaticValue:
    """A call of a built-in function; UNKNOWN for those that say nothing about shapes."""
    function = FUNCTIONS.get(name)
    if function is None or not arguments.complete:
        from shaped.static.calls import forget_arguments

        if name not in ("builtins.print", "builtins.repr", "builtins.str", "builtins.id", "builtins.hash"):
            forget_arguments(interpreter, arguments)
        return UNKNOWN
    arguments.args = [present(value) for value in arguments.args]
    return function(interpreter, arguments, node)


def reveal(interpreter: Interpreter, node: ast.Call, args: list[StaticValue]) -> StaticValue:
    """`shaped.reveal_shape(x)`: a note with the shape as jaxtyping writes it."""
    value = present(args[0]) if args else UNKNOWN
    shape = value.shape.annotation() if isinstance(value, TensorType) else "..."
    interpreter.note(node, f'Revealed shape is "{shape}"')
    return args[0] if args else UNKNOWN


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


def _int(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    value = arguments.args[0] if arguments.args else Dim.of(0)
    match value:
        case float():
            return Dim.of(int(value)) if math.isfinite(value) else interpreter.context.fresh(low=None)
        case Ratio():
            return _truncate(interpreter, value)
    dim = as_dim(value)
    return dim if dim is not None else interpreter.context.fresh(low=None)


def _truncate(interpreter: Interpreter, value: Ratio) -> StaticValue:
    """int() rounds towards zero, which is the floor where the quotient is not negative."""
    context = interpreter.context
    if value.denominator == 1:
        return value.numerator
    if context.is_at_least(value.numerator, 0) and value.denominator.constant != 0:
        return value.numerator // value.denominator
    if context.is_at_least(-value.numerator, 0):
        return -((-value.numerator) // value.denominator)
    # A caller's int is a size where it is used as one.
    if not value.numerator.has_unknown and not value.denominator.has_unknown:
        return value.numerator // value.denominator
    return context.fresh(low=None)


def _float(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    value = arguments.args[0] if arguments.args else 0.0
    if isinstance(value, float):
        return value
    dim = as_dim(value)
    if dim is not None and dim.constant is not None:
        return float(dim.constant)
    if isinstance(value, str):
        return {"inf": math.inf, "-inf": -math.inf}.get(value, NOT_FOLLOWED)
    return NOT_FOLLOWED


def _bool(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    truth = conditions.truth_of(arguments.args[0]) if arguments.args else False
    return UNKNOWN if truth is None else truth


def _choose(combine: Callable[..., Dim], on_floats: Callable[..., float]) -> Builtin:
    def choose(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        values: tuple[StaticValue, ...] | None = tuple(arguments.args)
        if len(arguments.args) == 1:
            values = iteration.items(interpreter, arguments.args[0])
        if not values or arguments.kwargs:
            return UNKNOWN
        dims = [as_dim(value) for value in values]
        known = [dim for dim in dims if dim is not None]
        if len(known) == len(dims):
            return interpreter.context.facts.normalize(combine(*known))
        floats = [float(v.constant) if isinstance(v, Dim) and v.constant is not None else v for v in values]
        if all(isinstance(value, float) for value in floats):
            return NOT_FOLLOWED if any(value != value for value in floats) else float(on_floats(*floats))
        return interpreter.context.fresh(low=None) if all(_is_number(v) for v in values) else UNKNOWN

    return choose


def _is_number(value: StaticValue) -> bool:
    return isinstance(value, (float, Ratio)) or as_dim(value) is not None


def _sum(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    if not arguments.args:
        return UNKNOWN
    values = iteration.items(interpreter, arguments.args[0])
    total: StaticValue = arguments.args[1] if len(arguments.args) > 1 else Dim.of(0)
    if values is None:
        make, _ = iteration.element(interpreter, arguments.args[0])
        element = make()
        # A sum of tensors of one shape has that shape, if there is at least one.
        return element if isinstance(element, TensorType) else UNKNOWN
    for value in values:
        total = operators.binary(interpreter, ast.Add(), total, value)
    return total


def _abs(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    value = arguments.args[0] if arguments.args else UNKNOWN
    if isinstance(value, float):
        return abs(value)
    if isinstance(value, TensorType):
        op = find_op("Tensor.abs")
        result = op.apply(interpreter.context, (value,), {}) if op else UNKNOWN
        return result if isinstance(result, TensorType) else interpreter.context.unknown_tensor()
    dim = as_dim(value)
    if dim is None:
        return UNKNOWN
    if dim.constant is not None:
        return Dim.of(abs(dim.constant))
    return dim if interpreter.context.is_at_least(dim, 0) else interpreter.context.fresh()


def _round(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    value = arguments.args[0] if arguments.args else UNKNOWN
    if len(arguments.args) == 1:
        if isinstance(value, float) and math.isfinite(value):
            return Dim.of(round(value))
        if isinstance(value, (float, Ratio)):
            return interpreter.context.fresh(low=None)
        dim = as_dim(value)
        return dim if dim is not None else UNKNOWN
    return NOT_FOLLOWED if isinstance(value, (float, Ratio)) else UNKNOWN


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
    from shaped.static import calls

    if len(arguments.args) != 2:
        return UNKNOWN
    function, source = arguments.args

    def apply(item: StaticValue) -> StaticValue:
        step = calls.Arguments()
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
        source = arguments.args[0]
        complete = isinstance(source, DictValue) and source.complete
        items.update(source.items if isinstance(source, DictValue) else {})
    for key, value in arguments.kwargs.items():
        items[key] = value
    return DictValue(items, complete)


def _isinstance(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    if len(arguments.args) != 2:
        return UNKNOWN
    answer = conditions.is_instance(interpreter, *arguments.args)
    return UNKNOWN if answer is None else answer


def _hasattr(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    if len(arguments.args) == 2 and isinstance(arguments.args[0], Instance) and isinstance(arguments.args[1], str):
        return True if arguments.args[1] in arguments.args[0].attributes else UNKNOWN
    return UNKNOWN


def _getattr(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    from shaped.static.attributes import get_attribute

    if len(arguments.args) < 2 or not isinstance(arguments.args[1], str) or not isinstance(node, ast.expr):
        return UNKNOWN
    receiver, name = arguments.args[0], arguments.args[1]
    if len(arguments.args) == 3 and not (isinstance(receiver, Instance) and name in receiver.attributes):
        return UNKNOWN
    return get_attribute(interpreter, receiver, name, node)


def _setattr(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    from shaped.static.attributes import set_attribute

    if len(arguments.args) == 3:
        receiver, name, value = arguments.args
        if isinstance(name, str):
            set_attribute(interpreter, receiver, name, value)
        elif isinstance(receiver, Instance):
            for known in list(receiver.attributes):
                interpreter.journal.set(receiver.attributes, known, UNKNOWN)
    return None


def _next(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    make, _ = iteration.element(interpreter, arguments.args[0] if arguments.args else UNKNOWN)
    return make()


def _type(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    value = arguments.args[0] if len(arguments.args) == 1 else UNKNOWN
    return value.cls if isinstance(value, Instance) else UNKNOWN


def _all(stop: bool) -> Builtin:
    def check(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        values = iteration.items(interpreter, arguments.args[0]) if arguments.args else None
        if values is None:
            return UNKNOWN
        truths = [conditions.truth_of(value) for value in values]
        return stop if stop in truths else UNKNOWN if None in truths else not stop

    return check


def _divmod(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    if len(arguments.args) != 2:
        return UNKNOWN
    a, b = arguments.args
    return (operators.binary(interpreter, ast.FloorDiv(), a, b), operators.binary(interpreter, ast.Mod(), a, b))


def _slice(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    from shaped.static.values import SliceValue

    args = arguments.args
    if len(args) == 1:
        return SliceValue(None, args[0], None)
    return SliceValue(args[0], args[1], args[2] if len(args) > 2 else None) if args else UNKNOWN


def _partial(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    if not arguments.args:
        return UNKNOWN
    return Partial(arguments.args[0], tuple(arguments.args[1:]), tuple(arguments.kwargs.items()))


def _rounded(down: bool) -> Builtin:
    def rounded(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        value = arguments.args[0] if arguments.args else UNKNOWN
        if isinstance(value, float):
            if not math.isfinite(value):
                return interpreter.context.fresh(low=None)
            return Dim.of(math.floor(value) if down else math.ceil(value))
        if isinstance(value, Ratio):
            quotient = value.numerator // value.denominator if down else ceildiv(value.numerator, value.denominator)
            return interpreter.context.facts.normalize(quotient)
        dim = as_dim(value)
        return dim if dim is not None else interpreter.context.fresh(low=None)

    return rounded


def _product(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    values = iteration.items(interpreter, arguments.args[0]) if arguments.args else None
    if values is None or arguments.kwargs:
        return interpreter.context.fresh(low=None) if arguments.args else UNKNOWN
    dims = [as_dim(value) for value in values]
    known = [dim for dim in dims if dim is not None]
    return product(known) if len(known) == len(dims) else interpreter.context.fresh(low=None)


def _on_float(function: Callable[[float], float]) -> Builtin:
    def apply(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        value = arguments.args[0] if len(arguments.args) == 1 else UNKNOWN
        dim = as_dim(value)
        number = float(dim.constant) if dim is not None and dim.constant is not None else value
        if not isinstance(number, float):
            return NOT_FOLLOWED
        try:
            return function(number)
        except (ValueError, OverflowError):
            return NOT_FOLLOWED

    return apply


def _isqrt(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    dim = as_dim(arguments.args[0]) if arguments.args else None
    if dim is not None and dim.constant is not None and dim.constant >= 0:
        return Dim.of(math.isqrt(dim.constant))
    return interpreter.context.fresh()


def _identity(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    """`checkpoint(function, *args)` and others that call their first argument with the rest."""
    from shaped.static import calls

    if not arguments.args:
        return UNKNOWN
    step = calls.Arguments()
    step.args = arguments.args[1:]
    kept = {key: value for key, value in arguments.kwargs.items() if key not in ("use_reentrant", "preserve_rng_state")}
    step.kwargs = kept
    return calls.invoke(interpreter, arguments.args[0], step, node)


def _first(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    """Functions that give back what they are given: `torch.compile(model)`, `cast(T, x)` (its last argument)."""
    return arguments.args[0] if arguments.args else UNKNOWN


def _last(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    return arguments.args[-1] if arguments.args else UNKNOWN


def _check(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    """`torch._check(condition)`: what it demands holds behind it."""
    if isinstance(node, ast.Call) and node.args:
        conditions.refine(interpreter, node.args[0], True)
    return None


FUNCTIONS: dict[str, Builtin] = {
    "builtins.len": _len,
    "builtins.range": _range,
    "builtins.int": _int,
    "builtins.float": _float,
    "builtins.bool": _bool,
    "builtins.min": _choose(minimum, min),
    "builtins.max": _choose(maximum, max),
    "builtins.sum": _sum,
    "builtins.abs": _abs,
    "builtins.round": _round,
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
    "builtins.isinstance": _isinstance,
    "builtins.hasattr": _hasattr,
    "builtins.getattr": _getattr,
    "builtins.setattr": _setattr,
    "builtins.next": _next,
    "builtins.type": _type,
    "builtins.any": _all(True),
    "builtins.all": _all(False),
    "builtins.divmod": _divmod,
    "builtins.slice": _slice,
    "functools.partial": _partial,
    "math.ceil": _rounded(down=False),
    "math.floor": _rounded(down=True),
    "math.trunc": _int,
    "math.prod": _product,
    "math.sqrt": _on_float(math.sqrt),
    "math.log": _on_float(math.log),
    "math.log2": _on_float(math.log2),
    "math.log10": _on_float(math.log10),
    "math.exp": _on_float(math.exp),
    "math.sin": _on_float(math.sin),
    "math.cos": _on_float(math.cos),
    "math.isqrt": _isqrt,
    "numpy.sqrt": _on_float(math.sqrt),
    "torch.Size": _as_tuple,
    "torch.utils.checkpoint.checkpoint": _identity,
    "torch.compile": _first,
    "torch.jit.script": _first,
    "typing.cast": _last,
    "copy.copy": _first,
    "torch._check": _check,
    "torch._assert": _check,
}
