"""Calls of the program's functions: what their annotations say, and what their bodies do."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shaped.errors import Fault
from shaped.spec import ops as _all_ops  # noqa: F401  # declares the operations
from shaped.spec.dims import Kind
from shaped.spec.values import UNKNOWN, TensorType
from shaped.static import alone, annotate, memory, objects, placement
from shaped.static.join import join
from shaped.static.journal import Changes
from shaped.static.values import (
    DictValue,
    FunctionValue,
    ManyValue,
    Maybe,
    StaticValue,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter


def run_alone(
    interpreter: Interpreter,
    function: FunctionValue,
    receiver: StaticValue = None,
    scope: str = "",
    ints: Kind = Kind.QUANTITY,
) -> StaticValue:
    """The result of a function for all that a caller may give; its ints are of the kind `ints`.

    The ranks that its body gives to its parameters on every path to an end they have from the start: it is run again.
    """
    facts, certain, guarded = interpreter.context.facts, interpreter.context.certain, interpreter.guarded
    repeats, interpreter.context.repeats = interpreter.context.repeats, False
    ranks: dict[str, int] = {}
    while True:
        frame = interpreter.new_frame(function.module, function.environment, scope or _scope(function), function)
        frame.receiver, frame.ints = receiver, ints
        steps, all_steps = interpreter.steps, interpreter.all_steps
        with interpreter.in_frame(frame):
            # What a constructor asserts of its ints holds in the methods.
            interpreter.context.facts = interpreter.facts_of.get(id(receiver), facts)
            # Where no annotation says what sizes stand for, callers' ints may have to be equal for reasons not seen
            # here.
            interpreter.context.certain = _speaks_of_shapes(interpreter, function)
            interpreter.guarded = False
            objects.bind_generic(interpreter, function, receiver)
            given = _tensors(frame.environment.names)
            for name, rank in ranks.items():
                interpreter.context.ranked(given[name].shape, rank)
            result, changes = interpreter.journal.on_path(lambda: _run(interpreter, function))
            seen = {name: interpreter.context.facts.seen(tensor.shape).rank for name, tensor in given.items()}
        found = {name: rank for name, rank in seen.items() if rank is not None and given[name].shape.rank is None}
        if ranks or not found or frame.yielded or not interpreter.counting:
            break
        ranks = found
        interpreter.restore(facts, certain)
        interpreter.steps, interpreter.all_steps = steps, all_steps
    interpreter.journal.apply(changes)
    if function.name.endswith((".__init__", ".__post_init__")):
        interpreter.facts_of[id(receiver)] = objects.chosen_by_caller(interpreter.context.facts, frame.bindings)
    interpreter.restore(facts, certain)
    interpreter.guarded, interpreter.context.repeats = guarded, repeats
    return result


def _tensors(names: dict[str, StaticValue]) -> dict[str, TensorType]:
    """The parameters that are tensors, optional ones too."""
    values = {name: value.value if isinstance(value, Maybe) else value for name, value in names.items()}
    return {name: value for name, value in values.items() if isinstance(value, TensorType)}


def _speaks_of_shapes(interpreter: Interpreter, function: FunctionValue) -> bool:
    """Whether a function, or for a constructor another method of its class, has a jaxtyping annotation."""
    functions = [function]
    if function.owner is not None and function.name.endswith(".__init__"):
        functions = [member for member in function.owner.names.values() if isinstance(member, FunctionValue)]
    annotations = [
        annotation
        for one in functions
        if not isinstance(one.node, ast.Lambda)
        for annotation in (one.node.returns, *(parameter.annotation for parameter in parameters_of(one)))
    ]
    return any(annotate.has_tensors(annotate.form_of(interpreter, annotation)) for annotation in annotations)


def _scope(function: FunctionValue) -> str:
    return f"{function.module.name}.{function.name}"


def call_function(
    interpreter: Interpreter,
    function: FunctionValue,
    args: list[StaticValue],
    kwargs: dict[str, StaticValue],
    node: ast.AST,
) -> StaticValue:
    """The result of a call of a function of the program: what its annotations say, and what its body does."""
    bound = bind(interpreter, function, args, kwargs)
    if bound is None:
        return UNKNOWN
    key = memory.key(interpreter, function, bound)
    remembered = interpreter.memory.recall(key, quiet=interpreter.muted > 0)
    if remembered is not None:
        result, interpreter.context.facts = remembered
        return result
    epoch = interpreter.journal.epoch
    result = _call_bound(interpreter, function, bound, args, kwargs, node)
    if interpreter.journal.epoch == epoch:
        interpreter.memory.keep(key, (result, interpreter.context.facts), quiet=interpreter.muted > 0)
    return result


def _call_bound(
    interpreter: Interpreter,
    function: FunctionValue,
    bound: dict[str, StaticValue],
    args: list[StaticValue],
    kwargs: dict[str, StaticValue],
    node: ast.AST,
) -> StaticValue:
    caller = interpreter.here
    frame = interpreter.new_frame(function.module, function.environment, "", function)
    frame.caller, frame.call = caller, node
    frame.receiver = args[0] if function.owner is not None and args else None
    names = frame.environment.names
    names.update(bound)
    facts, certain = interpreter.context.facts, interpreter.context.certain
    parameters = parameters_of(function)
    forms = {}
    faults: list[tuple[str, Fault]] = []
    with interpreter.in_frame(frame):
        for parameter in parameters:
            forms[parameter.arg] = annotate.form_of(interpreter, parameter.annotation)
        for parameter in sorted(parameters, key=lambda one: annotate.has_tensors(forms[one.arg])):
            name = parameter.arg
            if name not in names or parameter.annotation is None or (name not in kwargs and names[name] is None):
                continue
            try:
                names[name] = annotate.checked(interpreter, forms[name], names[name], f"argument {name}", function.name)
            except Fault as fault:
                faults.append((name, fault))
    for name, found in faults:
        interpreter.fault(_argument_node(node, name), found)
    if not faults:
        crossed = annotate.crossed(forms, args, parameters, frame.bindings, function.name)
        caller.suspicions += [(node, suspicion) for suspicion in crossed]
    annotated = any(annotate.has_tensors(form) for form in forms.values())
    with interpreter.in_frame(frame):
        result = _result(interpreter, function, annotated=annotated, wrong=bool(faults))
    if faults or (interpreter.context.facts is not facts and annotated):
        interpreter.context.facts = facts if faults else interpreter.context.facts
    interpreter.context.certain = certain
    return result


def _argument_node(node: ast.AST, name: str) -> ast.AST:
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg == name:
                return keyword.value
    return node


def parameters_of(function: FunctionValue) -> list[ast.arg]:
    """The named parameters of a function, in order."""
    arguments = function.node.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def bind(
    interpreter: Interpreter, function: FunctionValue, args: list[StaticValue], kwargs: dict[str, StaticValue]
) -> dict[str, StaticValue] | None:
    """The parameters' values for a call, None if the arguments do not fit them."""
    arguments = function.node.args
    positional = [parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args)]
    values: dict[str, StaticValue] = dict(zip(positional, args))
    rest = tuple(args[len(positional) :])
    if rest and arguments.vararg is None:
        return None
    if arguments.vararg is not None:
        values[arguments.vararg.arg] = rest
    allowed = {parameter.arg for parameter in (*arguments.args, *arguments.kwonlyargs)}
    extra: dict[object, StaticValue] = {}
    for name, value in kwargs.items():
        if name in allowed and name not in values:
            values[name] = value
        else:
            extra[name] = value
    if extra and arguments.kwarg is None:
        return None
    if arguments.kwarg is not None:
        values[arguments.kwarg.arg] = DictValue(extra)
    for name in (parameter.arg for parameter in parameters_of(function)):
        if name not in values:
            if name not in function.defaults:
                return None
            values[name] = function.defaults[name]
    return values


def _result(interpreter: Interpreter, function: FunctionValue, *, annotated: bool, wrong: bool) -> StaticValue:
    """The result of the call under way, its parameters bound."""
    from shaped.static.functions import TRANSPARENT

    node = function.node
    form = annotate.form_of(interpreter, None if isinstance(node, ast.Lambda) else node.returns)
    opaque = any(name.rsplit(".", 1)[-1] not in TRANSPARENT for name in function.decorators)
    returns_tensors = annotate.has_tensors(form)
    if wrong or opaque or not interpreter.may_follow_calls or _is_recursive(interpreter, function):
        placement.forget(interpreter, *interpreter.here.environment.names.values())
        return annotate.promised(interpreter, form, "return", unbound=Kind.UNKNOWN)
    if isinstance(node, ast.AsyncFunctionDef):
        return annotate.promised(interpreter, form, "return", unbound=Kind.UNKNOWN)
    if id(node) in interpreter.faulty:
        # What is wrong in it by itself is said there.
        with interpreter.quietly():
            before = interpreter.here.bindings.copy()
            result = _run(interpreter, function)
            interpreter.here.bindings = before  # without what it returns wrongly
            if alone.contradicts_itself(interpreter, function):
                return UNKNOWN
            return annotate.met(interpreter, node, form, UNKNOWN if returns_tensors else result, "return")
    if not annotated:
        return _run(interpreter, function)
    if returns_tensors:
        before = interpreter.here.bindings.copy()
        said = annotate.promised(interpreter, form, "return", unbound=Kind.UNKNOWN)
        if annotate.is_known(said):
            _run(interpreter, function)
            return UNKNOWN if alone.contradicts_itself(interpreter, function) else said
        interpreter.here.bindings = before
    return _run(interpreter, function)


def _is_recursive(interpreter: Interpreter, function: FunctionValue) -> bool:
    frame, count = interpreter.here.caller, 0
    while frame is not None:
        if frame.function is not None and frame.function.node is function.node:
            count += 1
        frame = frame.caller
    return count > 1


def _run(interpreter: Interpreter, function: FunctionValue) -> StaticValue:
    """Run the body of the frame under way: what its paths return, joined."""
    from shaped.static.functions import Returned, joined

    frame, context = interpreter.here, interpreter.context
    if isinstance(function.node, ast.Lambda):
        return interpreter.evaluate(function.node.body)
    certain, guarded = context.certain, interpreter.guarded
    body = function.node.body
    frame.depth = interpreter.journal.depth()
    goes_on, changes = interpreter.journal.on_path(lambda: interpreter.execute(body))
    context.certain, interpreter.guarded = certain, guarded
    ends = [*frame.returned, *([Returned(None, None, context.facts, changes)] if goes_on else [])]
    paths = [end.changes.beyond_the_call() for end in ends]
    if frame.yielded:
        interpreter.join_paths([*paths, Changes()])  # its body may not have been run yet
        element = frame.yielded[0]
        for value in frame.yielded[1:]:
            element = join(context, element, value)
        return ManyValue(element, context.fresh())
    interpreter.join_paths(paths)
    if not ends:
        return UNKNOWN
    context.facts = ends[0].facts
    for end in ends[1:]:
        context.facts = context.facts.join(end.facts)
    return joined(context, ends)
