"""`shaped.TList`: a tuple of tensors with a few methods of its own. What makes one, and what it gives."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.binding import Bindings
from shaped.spec.dims import Kind
from shaped.spec.values import UNKNOWN
from shaped.static.arguments import Arguments
from shaped.static.values import ManyValue, StaticValue, ValueMethod

if TYPE_CHECKING:
    from collections.abc import Callable

    from shaped.static.forms import TupleForm
    from shaped.static.interpreter import Interpreter

METHODS = frozenset(["map", "zip", "detach", "clone", "to", "zeros_like"])  # none that other tuples have


def construct(interpreter: Interpreter, form: TupleForm, arguments: Arguments, node: ast.AST) -> StaticValue:
    """`Params(weight, bias)`: the items are what the annotations of `Params` say, each name of them one size."""
    from shaped.static import annotate

    frame = interpreter.here
    bindings = frame.bindings
    frame.bindings = Bindings(f"{bindings.scope} TList")  # the names are not those of the function under way
    try:
        if not arguments.complete:
            return annotate.promised(interpreter, form, "TList", unbound=Kind.UNKNOWN)
        if len(arguments.args) != len(form.elements):
            raise ShapeError("TList", wrong_count(len(arguments.args), len(form.elements)))
        return tuple(
            annotate.checked(interpreter, element, item, f"TList item {position}")
            for position, (element, item) in enumerate(zip(form.elements, arguments.args))
        )
    except Fault as fault:
        interpreter.fault(node, fault)
        frame.bindings = Bindings(frame.bindings.scope)
        return annotate.promised(interpreter, form, "TList", unbound=Kind.UNKNOWN)
    finally:
        frame.bindings = bindings


def wrong_count(found: int, wanted: int) -> str:
    """What is wrong with a list of another number of items."""
    return f"it has {'1 item' if found == 1 else f'{found} items'}, not {wanted}"


def call_method(
    interpreter: Interpreter, items: tuple[StaticValue, ...] | ManyValue, name: str, arguments: Arguments, node: ast.AST
) -> StaticValue:
    """The value of `params.name(arguments)`.

    Raises:
        ShapeError: the lists of `zip` have different lengths.
    """
    from shaped.static import calls, library, methods

    if not arguments.complete:
        return UNKNOWN
    match name, arguments.args:
        case "map", [function]:
            return _of_each(items, lambda item: calls.invoke(interpreter, function, _arguments(item), node))
        case "zip", [other]:
            return _zip(interpreter, items, other)
        case "zeros_like", []:
            return _of_each(
                items, lambda item: library.call_external(interpreter, "torch.zeros_like", _arguments(item), node)
            )
        case (("detach" | "clone" | "to"), _):
            return _of_each(
                items, lambda item: methods.call_method(interpreter, ValueMethod(item, name), arguments, node)
            )
    return UNKNOWN


def _of_each(
    items: tuple[StaticValue, ...] | ManyValue, result: Callable[[StaticValue], StaticValue]
) -> tuple[StaticValue, ...] | ManyValue:
    if isinstance(items, ManyValue):
        return ManyValue(result(items.element), items.length)
    return tuple(map(result, items))


def _arguments(item: StaticValue) -> Arguments:
    arguments = Arguments()
    arguments.args = [item]
    return arguments


def _zip(interpreter: Interpreter, items: tuple[StaticValue, ...] | ManyValue, other: StaticValue) -> StaticValue:
    from shaped.static import iteration

    others = iteration.content(interpreter, other)
    if isinstance(items, tuple) and isinstance(others, tuple):
        if len(items) != len(others):
            counts = " and ".join("1 item" if len(each) == 1 else f"{len(each)} items" for each in (items, others))
            raise ShapeError("TList.zip", f"{counts} are no pairs")
        return tuple(zip(items, others))
    if isinstance(items, ManyValue) and isinstance(others, ManyValue):
        return ManyValue((items.element, others.element), items.length)
    # As long as the one that was counted.
    if isinstance(items, tuple) and isinstance(others, ManyValue):
        return tuple((item, others.element) for item in items)
    return UNKNOWN
