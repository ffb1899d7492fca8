"""Functions, classes and modules of the program: how they are defined, found and left."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaped.spec.dims import Dim
from shaped.spec.shape import Axis, Shape
from shaped.spec.values import UNKNOWN, TensorType
from shaped.static import alone, annotate, named_sizes, placement, settings
from shaped.static.changes import changes_behind, globals_changed
from shaped.static.join import join
from shaped.static.node_cache import kept_on_node
from shaped.static.values import (
    ClassValue,
    DictValue,
    Environment,
    External,
    FunctionValue,
    Imported,
    Instance,
    ListValue,
    SourceModule,
    StaticValue,
)
from shaped.static.walk import walk

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.facts import Facts
    from shaped.static.interpreter import Interpreter
    from shaped.static.journal import Changes

# Decorators that leave what a function takes and gives as it is.
TRANSPARENT = frozenset(
    [
        "no_grad",
        "enable_grad",
        "inference_mode",
        "jaxtyped",
        "typechecked",
        "beartype",
        "compile",
        "script",
        "script_if_tracing",
        "ignore",
        "unused",
        "export",
        "wraps",
        "lru_cache",
        "cache",
        "override",
        "final",
        "abstractmethod",
        "staticmethod",
        "classmethod",
        "property",
        "setter",
        "cached_property",
        "autocast",
        "custom_fwd",
        "custom_bwd",
        "disable",
        "allow_in_graph",
        "record_function",
        "checked",
        "custom_grad",
        "backward",  # `@swish.backward`, which takes the function as the gradient of an op, and gives it back
        "typecheck",
        "shaped",
        "add_start_docstrings",
        "add_start_docstrings_to_model_forward",
        "replace_return_docstrings",
        "auto_docstring",
        "can_return_tuple",
        "deprecate_kwarg",
        "merge_with_config_defaults",
        "capture_outputs",
    ]
)


def define(interpreter: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Bind a function's name."""
    interpreter.assign_name(node.name, make_function(interpreter, node))


def make_function(
    interpreter: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: ClassValue | None = None
) -> FunctionValue:
    """The function that a definition makes."""
    function = FunctionValue(
        node, interpreter.here.module, interpreter.here.environment, owner, tuple(_decorators(interpreter, node))
    )
    function.defaults = _defaults(interpreter, node.args)
    return function


def make_lambda(interpreter: Interpreter, node: ast.Lambda) -> FunctionValue:
    """The function that a lambda makes."""
    function = FunctionValue(node, interpreter.here.module, interpreter.here.environment)
    function.defaults = _defaults(interpreter, node.args)
    return function


def _decorators(interpreter: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[str]:
    names = []
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        names.append(annotate.resolve(interpreter, called) or ast.unparse(called))
    return names


def _defaults(interpreter: Interpreter, arguments: ast.arguments) -> dict[str, StaticValue]:
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(positional), reversed(arguments.defaults))]
    pairs += [(name, value) for name, value in zip(arguments.kwonlyargs, arguments.kw_defaults) if value is not None]
    return {parameter.arg: _default(interpreter, parameter.arg, value) for parameter, value in pairs}


def _default(interpreter: Interpreter, name: str, node: ast.expr) -> StaticValue:
    """A parameter's default. The sizes of a tensor that nobody gave are a choice that could be another, as ints are."""
    value = interpreter.evaluate(node)
    if not isinstance(value, TensorType):
        return value
    scope = str(interpreter.context.count())
    axes: list[Axis] = []
    for number, size in enumerate(value.shape.axes):
        if isinstance(size, Dim) and size.constant is not None:
            chosen = Dim.quantity(f"{name}.shape[{number}]", scope, low=0)
            interpreter.context.set_default(chosen, size)
            size = chosen.at(interpreter.origin(f"axis {number} of the default of {name}", node))
        axes.append(size)
    return value.with_shape(Shape(tuple(axes)))


def define_class(interpreter: Interpreter, node: ast.ClassDef) -> None:
    """Bind a class's name. Its body is run in a scope of its own, which methods do not see."""
    bases = tuple(interpreter.evaluate(base) for base in node.bases)
    cls = ClassValue(node.name, node, interpreter.here.module, bases)
    cls.is_dataclass = any(
        name.rsplit(".", 1)[-1] in ("dataclass", "define", "frozen") for name in _decorators(interpreter, node)
    )
    cls.is_dataclass = cls.is_dataclass or any(
        base.is_dataclass if isinstance(base, ClassValue) else base == External("typing.NamedTuple") for base in bases
    )
    frame = interpreter.here
    outer = frame.environment
    frame.environment = Environment(cls.names, outer)
    try:
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                frame.environment = outer
                function = make_function(interpreter, statement, cls)
                frame.environment = Environment(cls.names, outer)
                previous = cls.names.get(statement.name)
                if function.is_decorated("setter"):
                    cls.names[setter_name(statement.name)] = function
                if not function.is_decorated("setter", "deleter", "overload") or previous is None:
                    cls.names[statement.name] = function
            else:
                interpreter.execute([statement])
    finally:
        frame.environment = outer
    interpreter.assign_name(node.name, cls)


def setter_name(name: str) -> str:
    """Where a class keeps the setter of a property: no name of the program is like it."""
    return f"{name}.setter"


def define_all(interpreter: Interpreter, module: SourceModule) -> None:
    """Bind what a module defines, without running what it does."""
    defining = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign)
    frame = interpreter.new_frame(module, module.environment, module.name)
    frame.environment = module.environment
    with interpreter.in_frame(frame):
        for node in module.tree.body:
            if isinstance(node, (*defining, ast.AnnAssign, ast.Try)) or (
                isinstance(node, ast.If) and not _is_script(node)
            ):
                interpreter.execute([node])
    _forget_changed(interpreter, module)


def execute_module(interpreter: Interpreter, module: SourceModule) -> None:
    """Run a module's top level once; what it defines is then in its scope."""
    if module.executed:
        return
    module.executed = True
    interpreter.context.settings = settings.joined(interpreter.context.settings, module.settings)
    frame = interpreter.new_frame(module, module.environment, module.name)
    frame.environment, frame.changed_behind = module.environment, changes_behind(module.tree)
    facts, certain = interpreter.context.facts, interpreter.context.certain
    with interpreter.in_frame(frame), interpreter.journal.outside():
        if module.path == interpreter.path:
            interpreter.execute(module.tree.body)
        else:
            # What it costs is not on the account of the function that happens to look at it first.
            with interpreter.quietly(), interpreter.steps_apart():
                interpreter.execute([node for node in module.tree.body if not _is_script(node)])
    interpreter.context.facts, interpreter.context.certain = facts, certain
    _forget_changed(interpreter, module)


def _forget_changed(interpreter: Interpreter, module: SourceModule) -> None:
    """What functions change in the module's scope is not known between calls."""
    names = module.environment.names
    defined = (FunctionValue, ClassValue, SourceModule, External, Imported)
    values = [name for name, value in names.items() if not isinstance(value, defined)]
    for name in globals_changed(module.tree).intersection(values) if values else ():
        names[name] = UNKNOWN
    placement.forget_scope(interpreter, names)
    interpreter.journal.changed.add(id(names))


def _is_script(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def resolve(interpreter: Interpreter, value: Imported) -> StaticValue:
    """What `from module import name` names."""
    found = interpreter.imports.load(value.module, interpreter.here.module)
    if found is None:
        return External(f"{value.module}.{value.name}" if value.module else value.name)
    return member(interpreter, found, value.name)


def member(interpreter: Interpreter, module: SourceModule, name: str) -> StaticValue:
    """The attribute `name` of a module of the project, a submodule included."""
    execute_module(interpreter, module)
    value = module.environment.names.get(name)
    if isinstance(value, Imported):
        with interpreter.in_frame(interpreter.new_frame(module, module.environment, module.name)):
            module.environment.names[name] = UNKNOWN  # names that import each other in a circle
            value = module.environment.names[name] = resolve(interpreter, value)
            interpreter.journal.changed.add(id(module.environment.names))
    if value is not None or name in module.environment.names:
        return value
    submodule = interpreter.imports.load(f"{module.name}.{name}", module) if module.is_package else None
    return submodule if submodule is not None else UNKNOWN


def import_all(interpreter: Interpreter, name: str) -> None:
    """`from name import *`."""
    if interpreter.here.module.path != interpreter.path and not interpreter.imports.may_take_all():
        return
    found = interpreter.imports.load(name, interpreter.here.module)
    if found is None:
        return
    execute_module(interpreter, found)
    for key, value in found.environment.names.items():
        if not key.startswith("_"):
            interpreter.assign_name(key, value)


@dataclass
class Returned:
    """What a path of a function gives back: the value, its content then, and what the path knew and changed."""

    value: StaticValue
    content: StaticValue
    facts: Facts
    changes: Changes


def leave(interpreter: Interpreter, node: ast.Return, value: StaticValue) -> None:
    """A path of the function under way returns `value`, which has to be what its annotation says."""
    frame = interpreter.here
    function = frame.function
    if function is not None and not isinstance(function.node, ast.Lambda) and not _is_generator(function.node):
        form = annotate.form_of(interpreter, function.node.returns)
        value = named_sizes.met(interpreter, node, node.value, form, value, "return", function.name)
        if alone.contradicts_itself(interpreter, function):
            value = UNKNOWN
    # What this path changes is undone when others are run: the content that it gives back is kept beside the value.
    changes = interpreter.journal.since(frame.depth)
    frame.returned.append(Returned(value, _settled(value), interpreter.context.facts, changes))


def joined(context: Context, returned: list[Returned]) -> StaticValue:
    """What a function gives back that ends on one of several paths."""
    return _joined(context, [(end.value, end.content) for end in returned])


def _joined(context: Context, ends: list[tuple[StaticValue, StaticValue]]) -> StaticValue:
    first, result = ends[0]
    if all(value is first for value, _ in ends):
        return first
    if isinstance(first, tuple) and all(isinstance(value, tuple) and len(value) == len(first) for value, _ in ends):
        rows = [zip(value, then) for value, then in ends if isinstance(value, tuple) and isinstance(then, tuple)]
        return tuple(_joined(context, list(column)) for column in zip(*rows))
    for _, content in ends[1:]:
        result = join(context, result, content)
    return result


def _settled(value: StaticValue) -> StaticValue:
    match value:
        case ListValue():
            return ListValue(value.content)
        case DictValue():
            return DictValue(dict(value.items), value.complete)
        case tuple():
            return tuple(_settled(item) for item in value)
    return value


@kept_on_node
def _is_generator(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in walk(node))


_SWALLOWING = ("suppress", "raises", "assertRaises", "assertRaisesRegex")


def swallows(value: StaticValue, node: ast.expr) -> bool:
    """Whether the body of `with value` may end early, its exception swallowed."""
    if isinstance(value, Instance):
        leaving = value.cls.find("__exit__") or value.cls.find("__aexit__")
        return isinstance(leaving, FunctionValue) and any(
            isinstance(inner, ast.Return) and inner.value is not None for inner in walk(leaving.node)
        )
    called = node.func if isinstance(node, ast.Call) else node
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name in _SWALLOWING


def entered(interpreter: Interpreter, value: StaticValue) -> StaticValue:
    """What `with value as name` binds."""
    if isinstance(value, Instance):
        return value if value.cls.find("__enter__") is None else UNKNOWN
    return UNKNOWN
