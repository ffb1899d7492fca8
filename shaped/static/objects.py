"""Objects of the program's classes: how they are made, and the one that stands for all of a class."""

from __future__ import annotations

import ast
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

from shaped.spec.dims import Dim, Kind, Symbol
from shaped.spec.values import UNKNOWN
from shaped.static import annotate, dataclass_fields, layers, placement, program
from shaped.static.arguments import Arguments
from shaped.static.changes import attributes_changed
from shaped.static.forms import IntForm, TypeForm
from shaped.static.node_cache import kept_on_node
from shaped.static.operators import NOT_FOLLOWED
from shaped.static.values import (
    ClassValue,
    DictValue,
    External,
    FunctionValue,
    Instance,
    ManyValue,
    Opaque,
    StaticValue,
)
from shaped.static.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shaped.spec.binding import Bindings
    from shaped.spec.facts import Facts
    from shaped.static.interpreter import Interpreter

_UNLIKE_OBJECTS = ("enum.", "typing.TypedDict", "typing.Protocol", "collections.")


def is_unlike_objects(cls: ClassValue) -> bool:
    """Whether calling a class does something else than running its constructor."""
    return any(
        isinstance(base, External) and base.name.startswith(_UNLIKE_OBJECTS)
        for ancestor in cls.ancestors()
        for base in ancestor.bases
    )


def construct(
    interpreter: Interpreter, cls: ClassValue, args: list[StaticValue], kwargs: dict[str, StaticValue], node: ast.AST
) -> StaticValue:
    """The object that `cls(*args, **kwargs)` makes."""
    if is_unlike_objects(cls):
        return UNKNOWN
    if cls.find("__new__") is not None:
        return UNKNOWN
    instance = Instance(cls)
    interpreter.journal.made(instance.attributes)
    initialize(interpreter, instance, args, kwargs, node)
    return instance


def initialize(
    interpreter: Interpreter,
    instance: Instance,
    args: list[StaticValue],
    kwargs: dict[str, StaticValue],
    node: ast.AST,
) -> None:
    """Run the constructor of an object."""
    constructor = instance.cls.find("__init__")
    if isinstance(constructor, FunctionValue):
        program.call_function(interpreter, constructor, [instance, *args], kwargs, node)
    elif instance.cls.is_dataclass:
        arguments = Arguments()
        arguments.args, arguments.kwargs = args, kwargs
        dataclass_fields.set_from_arguments(interpreter, instance, instance.cls, arguments)
        after = instance.cls.find("__post_init__")
        if isinstance(after, FunctionValue):
            program.call_function(interpreter, after, [instance], {}, node)


def generic(
    interpreter: Interpreter, cls: ClassValue, scope: str, ints: Kind = Kind.QUANTITY, *, quiet: bool = True
) -> StaticValue:
    """An object that stands for every object of a class: what its constructor is given is any value.

    `quiet`: what is wrong in the constructor is not reported here.
    """
    key = (id(cls), scope)
    if key not in interpreter.generic:
        interpreter.generic[key] = UNKNOWN  # an object that holds another of its class
        with interpreter.quietly() if quiet else nullcontext(), interpreter.journal.outside():
            interpreter.generic[key] = make_generic(interpreter, cls, scope, ints)
    return interpreter.generic[key]


def generic_later(interpreter: Interpreter, cls: ClassValue, scope: str, ints: Kind) -> StaticValue:
    """The object of `generic`, made when its attributes are asked for: most annotations name objects that are only
    passed on."""
    key = (id(cls), scope)
    if key not in interpreter.generic:
        facts = interpreter.context.facts
        make = partial(_make_later, interpreter, scope, ints, facts)
        interpreter.generic[key] = UNKNOWN if is_unlike_objects(cls) else Instance(cls, make=make)
    return interpreter.generic[key]


def _make_later(interpreter: Interpreter, scope: str, ints: Kind, facts: Facts, instance: Instance) -> None:
    """Make an object as if that had been done where it was named, not where it is looked at."""
    context = interpreter.context
    now, certain, guarded, in_trial = context.facts, context.certain, interpreter.guarded, interpreter.in_trial
    epoch = interpreter.journal.epoch
    context.facts, interpreter.in_trial = facts, 0
    try:
        with interpreter.quietly(), interpreter.journal.outside():
            _fill(interpreter, instance, scope, ints)
    finally:
        interpreter.restore(now, certain)
        interpreter.guarded, interpreter.in_trial = guarded, in_trial
        interpreter.journal.epoch = epoch


def make_generic(interpreter: Interpreter, cls: ClassValue, scope: str, ints: Kind) -> StaticValue:
    """The object of `generic`, its constructor run anew."""
    if is_unlike_objects(cls):
        return UNKNOWN
    instance = Instance(cls)
    _fill(interpreter, instance, scope, ints)
    if ints is Kind.QUANTITY:
        interpreter.sizes_of[id(instance)] = _named_sizes(interpreter, instance, scope)
    return instance


def _fill(interpreter: Interpreter, instance: Instance, scope: str, ints: Kind) -> None:
    cls = instance.cls
    constructor = cls.find("__init__")
    if isinstance(constructor, FunctionValue):
        program.run_alone(interpreter, constructor, instance, scope, ints)
    elif cls.is_dataclass:
        bindings = dataclass_fields.set_as_declared(interpreter, instance, scope, ints)
        interpreter.facts_of[id(instance)] = chosen_by_caller(interpreter.context.facts, bindings)
        after = cls.find("__post_init__")
        if isinstance(after, FunctionValue):
            program.run_alone(interpreter, after, instance, f"{scope}.__post_init__", ints)
    changed = changed_elsewhere(cls)
    for name in changed:
        if name in instance.attributes or _is_set_in_class(cls, name):
            instance.attributes[name] = UNKNOWN
    interpreter.journal.changed.add(id(instance.attributes))
    placement.forget_for_all(interpreter, instance)


def _is_set_in_class(cls: ClassValue, name: str) -> bool:
    """Whether objects have the attribute from their class as long as they are not given one: not a property."""
    found = cls.find(name)
    return found is not None and not isinstance(found, FunctionValue)


def of_unknown(interpreter: Interpreter, cls: ClassValue) -> StaticValue:
    """The object that a class makes of arguments that were not followed."""
    if is_unlike_objects(cls) or cls.find("__new__") is not None:
        return UNKNOWN
    scope = f"{cls.module.name}.{cls.name} {interpreter.context.count()}"
    return Instance(cls, make=partial(_make_later, interpreter, scope, Kind.UNKNOWN, interpreter.context.facts))


def chosen_by_caller(facts: Facts, bindings: Bindings) -> Facts:
    """The facts behind a constructor: for methods, a size that a name of its annotations stands for is one that the
    object's maker chose, as the constructor's ints are. A name of the method's own may turn out to be equal to it."""
    for size in bindings.dims.values():
        symbol = size.symbol
        if symbol is not None and symbol.kind is Kind.NAME and symbol.scope == bindings.scope:
            facts = facts.with_equal(size, Dim.atom(Symbol(symbol.name, Kind.QUANTITY, symbol.scope, symbol.low)))
    return facts


_SHORTEST_NAME = 3  # `h` may be the heads of a constructor and the height of an annotation


def _named_sizes(interpreter: Interpreter, instance: Instance, scope: str) -> dict[str, Dim]:
    """The ints that the constructor is given, by name: a dim of that name in an annotation of a method is that int."""
    constructor = instance.cls.find("__init__")
    sizes: dict[str, Dim] = {}
    if isinstance(constructor, FunctionValue):
        frame = interpreter.new_frame(constructor.module, constructor.environment, scope, constructor)
        with interpreter.in_frame(frame):
            for parameter in program.parameters_of(constructor):
                form = annotate.form_of(interpreter, parameter.annotation)
                if isinstance(form, IntForm):
                    origin = interpreter.origin(f"argument of {constructor.name}", parameter)
                    sizes[parameter.arg] = annotate.any_int(interpreter, parameter.arg).at(origin)
    return {name: size for name, size in sizes.items() if len(name) >= _SHORTEST_NAME}


def changed_elsewhere(cls: ClassValue) -> frozenset[str]:
    """The attributes of `self` that methods beside the constructor change: their value is not the constructor's."""
    return frozenset().union(*(attributes_changed(ancestor.node) for ancestor in cls.ancestors()))


def bind_generic(interpreter: Interpreter, function: FunctionValue, receiver: StaticValue = None) -> None:
    """Bind every parameter of the function of the frame under way to a value that stands for all a caller may give."""
    arguments = function.node.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = interpreter.here.environment.names
    if receiver is not None and parameters:
        names[parameters.pop(0).arg] = receiver
    if isinstance(receiver, Instance) and not function.name.endswith(".__init__"):
        interpreter.here.bindings.dims.update(interpreter.sizes_of.get(id(receiver), {}))
    forms = {parameter.arg: annotate.form_of(interpreter, parameter.annotation) for parameter in parameters}
    # Sizes first: the fields of a tensor's annotation may name them.
    for parameter in sorted(parameters, key=lambda one: annotate.has_tensors(forms[one.arg])):
        names[parameter.arg] = _generic_argument(interpreter, function, parameter, forms[parameter.arg])
    if arguments.vararg is not None:
        names[arguments.vararg.arg] = _rest(interpreter, arguments.vararg)
    if arguments.kwarg is not None:
        names[arguments.kwarg.arg] = DictValue({}, complete=False)


def _rest(interpreter: Interpreter, parameter: ast.arg) -> StaticValue:
    form = annotate.form_of(interpreter, parameter.annotation)
    return ManyValue(annotate.promised(interpreter, form, parameter.arg), interpreter.context.fresh())


def _generic_argument(
    interpreter: Interpreter,
    function: FunctionValue,
    parameter: ast.arg,
    form: TypeForm,
) -> StaticValue:
    is_constructor = isinstance(function.node, ast.FunctionDef) and function.node.name == "__init__"
    default = function.defaults.get(parameter.arg, UNKNOWN)
    if layers.makes_kept_shapes(parameter.arg, default):
        return layers.KEEPS_SHAPES
    origin = interpreter.origin(parameter.arg, parameter)
    if parameter.annotation is None:
        if isinstance(default, Dim):
            value: StaticValue = annotate.any_int(interpreter, parameter.arg)
        elif isinstance(default, float):
            value = NOT_FOLLOWED
        elif default is UNKNOWN and (is_constructor or parameter.arg in _numbers(function.node)):
            value = Opaque(parameter.arg, interpreter.scope)
        else:
            value = UNKNOWN
    else:
        value = annotate.promised(interpreter, form, parameter.arg, origin=origin, unbound=Kind.NAME)
        if value is UNKNOWN and is_constructor and default is UNKNOWN:
            value = Opaque(parameter.arg, interpreter.scope)
    if isinstance(value, Dim) and isinstance(default, float):
        value = NOT_FOLLOWED  # `momentum: int = 0.1`: the annotation is wrong
    if isinstance(value, Dim):
        value = value.at(interpreter.origin(f"argument of {function.name}", parameter))
        if isinstance(default, Dim):
            interpreter.context.set_default(value, default)
    return value


@kept_on_node
def _numbers(root: ast.AST) -> frozenset[str]:
    """The parameters that a function counts to: `range(n)`, `torch.arange(dim // 4)` take numbers only."""
    counted: set[str] = set()
    bound: list[str] = []
    for node in walk(root):
        if isinstance(node, ast.Call) and _called(node) in ("range", "arange"):
            counted.update(name for argument in node.args for name in _operands(argument))
        elif isinstance(node, ast.arg):
            bound.append(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.append(node.id)
    return frozenset(name for name in counted if bound.count(name) == 1)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _operands(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Name(id=name):
            yield name
        case ast.BinOp(left=left, right=right):
            yield from _operands(left)
            yield from _operands(right)
