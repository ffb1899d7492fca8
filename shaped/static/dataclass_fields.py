"""The fields of dataclasses: set by the constructor that the class is given, by `replace`, or as they are declared."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shaped.spec.dims import Dim, Kind
from shaped.spec.values import UNKNOWN, TensorType
from shaped.static import annotate
from shaped.static.values import ClassValue, FunctionValue, Instance, Maybe, Opaque

if TYPE_CHECKING:
    from shaped.spec.binding import Bindings
    from shaped.static.arguments import Arguments
    from shaped.static.interpreter import Interpreter


def fields(cls: ClassValue) -> list[ast.AnnAssign]:
    """The fields of a dataclass, those of its bases first."""
    found: dict[str, ast.AnnAssign] = {}
    for ancestor in reversed(list(cls.ancestors())):
        for statement in ancestor.node.body:
            if (
                isinstance(statement, ast.AnnAssign)
                and isinstance(statement.target, ast.Name)
                and "ClassVar" not in ast.unparse(statement.annotation)
            ):
                found[statement.target.id] = statement
    return list(found.values())


def set_from_arguments(interpreter: Interpreter, instance: Instance, cls: ClassValue, arguments: Arguments) -> None:
    """What the constructor made for `cls`, which may be a base of the object's class, does with its arguments."""
    names = [field.target.id for field in fields(cls) if isinstance(field.target, ast.Name)]
    given = {**dict(zip(names, arguments.args)), **arguments.kwargs}
    for name in names:
        if name in given:
            value = given[name]
        else:
            default = cls.find(name) if arguments.complete else None
            value = UNKNOWN if default is None or isinstance(default, FunctionValue) else default
        interpreter.journal.set(instance.attributes, name, value)


def initialize_base(interpreter: Interpreter, instance: Instance, base: ClassValue, arguments: Arguments) -> None:
    """Run the constructor that is made for the dataclass `base` on an object of a class that inherits from it."""
    set_from_arguments(interpreter, instance, base, arguments)
    if base.find("__post_init__") is not None:
        interpreter.call_method(instance, "__post_init__", [], base.node)


def set_as_declared(interpreter: Interpreter, instance: Instance, scope: str, ints: Kind) -> Bindings:
    """Give each field a value that stands for all that its annotation allows; `ints` says how free the sizes are.

    Returns:
        What the names of the annotations stand for.
    """
    cls = instance.cls
    frame = interpreter.new_frame(cls.module, cls.module.environment, scope)
    frame.ints = ints
    with interpreter.in_frame(frame):
        for field in fields(cls):
            assert isinstance(field.target, ast.Name)
            name = field.target.id
            value = annotate.promised(interpreter, annotate.form_of(interpreter, field.annotation), name)
            if value is UNKNOWN and not _is_subscripted(field.annotation):
                value = Opaque(name, interpreter.scope)
            default = cls.find(name)
            if isinstance(value, Dim):
                value = value.at(interpreter.origin(f"field of {cls.name}", field))
                if isinstance(default, Dim):
                    interpreter.context.set_default(value, default)
            if isinstance(value, TensorType) and default is None and _has_default(cls, name):
                value = Maybe(value)  # `bias: Tensor = None`
            interpreter.journal.set(instance.attributes, name, value)
    return frame.bindings


def _is_subscripted(annotation: ast.expr) -> bool:
    """Whether an annotation is written `Name[...]`: what it says is no plain int, though it was not understood."""
    if isinstance(annotation, ast.Constant):
        return isinstance(annotation.value, str) and "[" in annotation.value
    return isinstance(annotation, ast.Subscript)


def _has_default(cls: ClassValue, name: str) -> bool:
    return any(name in ancestor.names for ancestor in cls.ancestors())


def is_field(cls: ClassValue, name: str) -> bool:
    """Whether a class itself declares `name` as a field: objects hold it, whatever its default in the class is."""
    return cls.is_dataclass and any(
        isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.target.id == name
        for statement in cls.node.body
    )


def forget(interpreter: Interpreter, instance: Instance) -> None:
    """What any attribute holds was changed: of a field, what is declared is known."""
    cls = instance.cls
    for name in list(instance.attributes):
        interpreter.journal.set(instance.attributes, name, UNKNOWN)
    if not cls.is_dataclass:
        return
    frame = interpreter.here
    while frame.caller is not None:
        frame = frame.caller
    if frame.receiver is instance:  # the constructor of an object that stands for all
        set_as_declared(interpreter, instance, f"{cls.module.name}.{cls.name}", frame.ints)
    else:
        set_as_declared(interpreter, instance, f"{cls.name} {interpreter.context.count()}", Kind.UNKNOWN)


def replaced(interpreter: Interpreter, instance: Instance, arguments: Arguments) -> Instance:
    """`dataclasses.replace(instance, **changes)`."""
    new = Instance(instance.cls, dict(instance.attributes))
    if not arguments.complete:
        forget(interpreter, new)
    for name, value in arguments.kwargs.items():
        interpreter.journal.set(new.attributes, name, value)
    return new
