"""Calls: what is called, and how its result is found."""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from shaped.errors import Fault
from shaped.spec import ops as _all_ops  # noqa: F401  # declares the operations
from shaped.spec.dims import Kind
from shaped.spec.op import Module
from shaped.spec.values import UNKNOWN
from shaped.static import (
    annotate,
    builtins,
    containers,
    dataclass_fields,
    library,
    methods,
    objects,
    program,
    tlists,
)
from shaped.static.arguments import Arguments, evaluate_arguments, forget_arguments
from shaped.static.forms import TupleForm
from shaped.static.join import join
from shaped.static.names import canonical
from shaped.static.values import (
    BoundMethod,
    Choice,
    ClassValue,
    Container,
    External,
    FunctionValue,
    Instance,
    Partial,
    StaticValue,
    Super,
    TypeValue,
    ValueMethod,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter


def call(interpreter: Interpreter, node: ast.Call) -> StaticValue:
    """The value of a call."""
    if isinstance(node.func, ast.Name) and node.func.id == "super" and interpreter.here.function is not None:
        return _super(interpreter, node)
    function = interpreter.evaluate_present(node.func)
    frame = interpreter.here
    outer, frame.target = frame.target, ""  # a layer among the arguments is not what is assigned
    arguments = evaluate_arguments(interpreter, node)
    frame.target = outer
    if isinstance(function, External) and canonical(function.name) == "shaped.reveal_shape":
        return builtins.reveal(interpreter, node, arguments.args)
    return invoke(interpreter, function, arguments, node)


def _super(interpreter: Interpreter, node: ast.Call) -> StaticValue:
    frame = interpreter.here
    if frame.function is None or frame.function.owner is None or frame.receiver is None:
        return UNKNOWN
    return Super(frame.function.owner, frame.receiver)


def invoke(interpreter: Interpreter, function: StaticValue, arguments: Arguments, node: ast.AST) -> StaticValue:
    """The value of `function(arguments)`."""
    match function:
        case External():
            return library.call_external(interpreter, canonical(function.name), arguments, node)
        case ValueMethod():
            return methods.call_method(interpreter, function, arguments, node)
        case Partial():
            combined = Arguments()
            combined.args = [*function.args, *arguments.args]
            combined.kwargs = {**dict(function.kwargs), **arguments.kwargs}
            combined.complete = arguments.complete
            return invoke(interpreter, function.function, combined, node)
        case Choice():
            return _call_each(interpreter, function, arguments, node)
        case Container():
            return containers.call(interpreter, function, arguments, node)
        case Module():
            return library.call_module(interpreter, function, arguments)
        case Super(cls=cls, receiver=Instance() as instance):
            # `super().__init__(...)` where a dataclass comes next: no class of the program writes it out.
            dataclass_fields.initialize_base(interpreter, instance, cls, arguments)
            return None
        case TypeValue(form=TupleForm(is_tlist=True) as form):
            return tlists.construct(interpreter, form, arguments, node)
    if not arguments.complete:
        forget_arguments(interpreter, arguments)
        return _unfollowed(interpreter, function)
    match function:
        case ClassValue():
            return objects.construct(interpreter, function, arguments.args, arguments.kwargs, node)
        case FunctionValue():
            return program.call_function(interpreter, function, arguments.args, arguments.kwargs, node)
        case BoundMethod():
            args = [function.receiver, *arguments.args]
            return program.call_function(interpreter, function.function, args, arguments.kwargs, node)
        case Instance():
            return call_instance(interpreter, function, arguments, node)
    forget_arguments(interpreter, arguments)
    return UNKNOWN


def _call_each(interpreter: Interpreter, choice: Choice, arguments: Arguments, node: ast.AST) -> StaticValue:
    """The joined results of a call of one of several things; which one is called is not known."""
    context = interpreter.context
    facts, certain, guarded = context.facts, context.certain, interpreter.guarded
    context.certain, interpreter.guarded = False, True
    results: list[StaticValue] = []
    paths = []
    for option in choice.options:
        try:
            result, changes = interpreter.journal.on_path(
                functools.partial(invoke, interpreter, option, arguments, node)
            )
        except Fault:  # not the one that is called with these arguments, for all that is known
            continue
        finally:
            interpreter.restore(facts, False)
        results.append(result)
        paths.append(changes)
    context.certain, interpreter.guarded = certain, guarded
    interpreter.join_paths(paths)
    joined = results[0] if results else UNKNOWN
    for result in results[1:]:
        joined = join(context, joined, result)
    return joined


def _unfollowed(interpreter: Interpreter, function: StaticValue) -> StaticValue:
    """The result of a call whose arguments are not all known: what the annotation says."""
    target: StaticValue = function
    if isinstance(target, Instance):
        target = target.cls.find("forward") or target.cls.find("__call__") or UNKNOWN
    if isinstance(target, BoundMethod):
        target = target.function
    if isinstance(target, FunctionValue) and not isinstance(target.node, ast.Lambda):
        frame = interpreter.new_frame(target.module, target.environment, "", target)
        with interpreter.in_frame(frame), interpreter.quietly():
            form = annotate.form_of(interpreter, target.node.returns)
            return annotate.promised(interpreter, form, "return", unbound=Kind.UNKNOWN)
    return objects.of_unknown(interpreter, target) if isinstance(target, ClassValue) else UNKNOWN


def call_instance(interpreter: Interpreter, instance: Instance, arguments: Arguments, node: ast.AST) -> StaticValue:
    """`model(x)`."""
    name = "__call__" if instance.cls.find("__call__") is not None else "forward"
    method = instance.attributes.get(name, instance.cls.find(name))
    if isinstance(method, FunctionValue):
        if method.is_decorated("staticmethod"):
            return program.call_function(interpreter, method, arguments.args, arguments.kwargs, node)
        return program.call_function(interpreter, method, [instance, *arguments.args], arguments.kwargs, node)
    for ancestor in instance.cls.ancestors():
        for base in ancestor.bases:
            if isinstance(base, Module):
                return library.call_module(interpreter, base, arguments)
    return UNKNOWN
