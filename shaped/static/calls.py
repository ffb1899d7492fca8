"""Calls: of the program's functions and classes, of modules, of the library's operations."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING

from shaped.errors import Fault, Origin
from shaped.spec import ops as _all_ops  # noqa: F401  # declares the operations
from shaped.spec.dims import Dim, Kind
from shaped.spec.op import Module, Op, find_module, find_op
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import UNKNOWN, TensorType, Value
from shaped.static import annotate, builtins, containers, memory, methods, objects
from shaped.static.join import join
from shaped.static.journal import Changes
from shaped.static.lowering import lift
from shaped.static.names import canonical
from shaped.static.values import (
    BoundMethod,
    Choice,
    ClassValue,
    Container,
    DictValue,
    External,
    FunctionValue,
    Instance,
    ListValue,
    ManyValue,
    Opaque,
    Partial,
    ShapeValue,
    StaticValue,
    Super,
    ValueMethod,
    present,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter

# Operations whose size arguments are the result's axes, so that axes that were not counted can stand among them.
_SIZED = frozenset(
    ["Tensor.view", "Tensor.reshape", "Tensor.new_zeros", "Tensor.new_ones", "Tensor.new_empty"]
    + [f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn")]
)
# Operations that make a tensor of what they are given, which need not be an int where a caller's value is not known.
_OF_DATA = frozenset(["torch.tensor", "torch.as_tensor", "torch.asarray", "torch.from_numpy", "torch.Tensor"])


class Arguments:
    """The arguments of a call. `complete` is False when a `*` or `**` hides some."""

    def __init__(self) -> None:
        self.args: list[StaticValue] = []
        self.kwargs: dict[str, StaticValue] = {}
        self.nodes: dict[int | str, ast.expr] = {}
        self.complete = True
        self.many: list[tuple[int, tuple[StaticValue, ...] | ManyValue]] = []  # where a `*` of items not counted stood
        self.axes: Shape | None = None  # the sizes, when an argument `*x.shape[:-1]` is a shape of unknown rank


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


def evaluate_arguments(interpreter: Interpreter, node: ast.Call) -> Arguments:
    """The arguments of a call, in order."""
    from shaped.static import iteration

    found = Arguments()
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = interpreter.evaluate_present(argument.value)
            counted = iteration.items(interpreter, value)
            if counted is not None:
                found.args.extend(counted)
            elif isinstance(value, ShapeValue) and found.axes is None:
                found.axes = value.shape
                found.args.append(value)
            else:
                found.many.append((len(found.args), iteration.content(interpreter, value)))
                found.complete = False
        else:
            found.nodes[len(found.args)] = argument
            found.args.append(interpreter.evaluate(argument))
    for keyword in node.keywords:
        value = interpreter.evaluate(keyword.value)
        if keyword.arg is not None:
            found.kwargs[keyword.arg] = value
            found.nodes[keyword.arg] = keyword.value
        elif isinstance(value, DictValue):
            found.kwargs.update({key: item for key, item in value.items.items() if isinstance(key, str)})
            found.complete = found.complete and value.complete
        else:
            found.complete = False
    return found


def invoke(interpreter: Interpreter, function: StaticValue, arguments: Arguments, node: ast.AST) -> StaticValue:
    """The value of `function(arguments)`."""
    match function:
        case External():
            return call_external(interpreter, canonical(function.name), arguments, node)
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
            return call_module(interpreter, function, arguments)
    if not arguments.complete:
        forget_arguments(interpreter, arguments)
        return _unfollowed(interpreter, function)
    match function:
        case ClassValue():
            return objects.construct(interpreter, function, arguments.args, arguments.kwargs, node)
        case FunctionValue():
            return call_function(interpreter, function, arguments.args, arguments.kwargs, node)
        case BoundMethod():
            args = [function.receiver, *arguments.args]
            return call_function(interpreter, function.function, args, arguments.kwargs, node)
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
    if isinstance(target, ClassValue):
        return Instance(target)
    return UNKNOWN


def forget_arguments(interpreter: Interpreter, arguments: Arguments) -> None:
    """A function that is not followed may change the lists that it is given."""
    for value in (*arguments.args, *arguments.kwargs.values()):
        if isinstance(value, ListValue):
            interpreter.journal.set(value.__dict__, "content", ManyValue(UNKNOWN, interpreter.context.fresh()))
        elif isinstance(value, DictValue):
            for known in list(value.items):
                interpreter.journal.set(value.items, known, UNKNOWN)
            interpreter.journal.set(value.__dict__, "complete", False)


def call_instance(interpreter: Interpreter, instance: Instance, arguments: Arguments, node: ast.AST) -> StaticValue:
    """`model(x)`."""
    name = "__call__" if instance.cls.find("__call__") is not None else "forward"
    method = instance.attributes.get(name, instance.cls.find(name))
    if isinstance(method, FunctionValue):
        if method.is_decorated("staticmethod"):
            return call_function(interpreter, method, arguments.args, arguments.kwargs, node)
        return call_function(interpreter, method, [instance, *arguments.args], arguments.kwargs, node)
    for ancestor in instance.cls.ancestors():
        for base in ancestor.bases:
            if isinstance(base, Module):
                return call_module(interpreter, base, arguments)
    return UNKNOWN


# Library


def call_external(interpreter: Interpreter, name: str, arguments: Arguments, node: ast.AST) -> StaticValue:
    """A call of a library's function or class by its qualified name."""
    if name.startswith("builtins.") or name in builtins.FUNCTIONS:
        return builtins.call(interpreter, name, arguments, node)
    if name in containers.KINDS:
        return containers.construct(interpreter, containers.KINDS[name], arguments)
    module = find_module(name)
    if module is not None:
        return construct_module(interpreter, module, arguments, node)
    op = find_op(name)
    if op is not None:
        return apply(interpreter, op, name, arguments)
    if name.startswith(("torch.", "einops.")):
        interpreter.without_rule(name)
    forget_arguments(interpreter, arguments)
    return UNKNOWN


def apply(interpreter: Interpreter, op: Op, name: str, arguments: Arguments) -> StaticValue:
    """The result of an operation of the table."""
    if not arguments.complete:
        return UNKNOWN
    context = interpreter.context
    if arguments.axes is not None or any(isinstance(value, ShapeValue) for value in arguments.args):
        return _apply_sized(interpreter, op, name, arguments)
    args = [interpreter.lower(value) for value in arguments.args]
    if name in _OF_DATA and arguments.args and isinstance(arguments.args[0], Opaque):
        args[0] = UNKNOWN
    kwargs = {key: interpreter.lower(value) for key, value in arguments.kwargs.items()}
    return lift(op.apply(context, args, kwargs))


def _apply_sized(interpreter: Interpreter, op: Op, name: str, arguments: Arguments) -> StaticValue:
    """An operation with sizes among which axes were not counted: `x.view(*x.shape[:-1], heads, -1)`."""
    context = interpreter.context
    values = list(arguments.args)
    tensor = values.pop(0) if name.startswith("Tensor.") else None
    axes: list[Dim | Pack] = []
    sizes = values[0] if len(values) == 1 and isinstance(values[0], tuple) else tuple(values)
    for value in sizes:
        if isinstance(value, ShapeValue):
            # A sum of sizes may end in one that is to be found: `x.shape[:-1] + (heads, -1)`.
            axes.extend(context.fresh() if axis == -1 else axis for axis in value.shape.axes)
            continue
        lowered = interpreter.lower(value)
        size = lowered if isinstance(lowered, Dim) and lowered != -1 else context.fresh()
        axes.append(size)
    if (
        name in ("Tensor.expand", "torch.broadcast_to")
        or name not in _SIZED
        or sum(isinstance(a, Pack) for a in axes) != 1
    ):
        return context.unknown_tensor(tensor.dtype) if isinstance(tensor, TensorType) else UNKNOWN
    shape = Shape(tuple(axes))
    return tensor.with_shape(shape) if isinstance(tensor, TensorType) else TensorType(shape)


def construct_module(
    interpreter: Interpreter, module: type[Module], arguments: Arguments, node: ast.AST
) -> StaticValue:
    """An instance of a `torch.nn` module. The sizes that it is given are said to come from here."""
    if not arguments.complete:
        return UNKNOWN
    signature = _signature(module.__init__)
    parameters = list(signature.parameters)[2:]
    line, target = getattr(node, "lineno", 0), interpreter.here.target

    def with_origin(name: str, value: StaticValue) -> Value:
        lowered = interpreter.lower(value)
        if isinstance(lowered, Dim):
            text = f"{name} of {target}" if target else f"{name} of nn.{module.__name__}"
            path = "" if interpreter.here.module.path == interpreter.path else interpreter.here.module.path.name
            return lowered.at(Origin(text, line, path))
        return lowered

    names = [*parameters, *[""] * len(arguments.args)]
    args = [with_origin(name, value) for name, value in zip(names, arguments.args)]
    kwargs = {name: with_origin(name, value) for name, value in arguments.kwargs.items()}
    try:
        signature.bind(None, interpreter.context, *args, **kwargs)
    except TypeError:
        return UNKNOWN
    make: Callable[..., Module] = module  # every module takes the context first, then torch's own parameters
    return make(interpreter.context, *args, **kwargs)


@functools.cache
def _signature(function: Callable[..., object]) -> inspect.Signature:
    return inspect.signature(function, eval_str=False)


def call_module(interpreter: Interpreter, module: Module, arguments: Arguments) -> StaticValue:
    """`module(x)` of a `torch.nn` module."""
    if not arguments.complete:
        return UNKNOWN
    args = [interpreter.lower(value) for value in arguments.args]
    kwargs = {name: interpreter.lower(value) for name, value in arguments.kwargs.items()}
    return lift(module.apply(interpreter.context, args, kwargs))


# Functions of the program


def run_alone(
    interpreter: Interpreter,
    function: FunctionValue,
    receiver: StaticValue = None,
    scope: str = "",
    ints: Kind = Kind.QUANTITY,
) -> StaticValue:
    """The result of a function for all that a caller may give; its ints are of the kind `ints`."""
    frame = interpreter.new_frame(function.module, function.environment, scope or _scope(function), function)
    frame.receiver, frame.ints = receiver, ints
    facts, certain, guarded = interpreter.context.facts, interpreter.context.certain, interpreter.guarded
    with interpreter.in_frame(frame):
        # What a constructor asserts of its ints holds in the methods.
        interpreter.context.facts = interpreter.facts_of.get(id(receiver), facts)
        # Where no annotation says what sizes stand for, callers' ints may have to be equal for reasons not seen here.
        interpreter.context.certain = _speaks_of_shapes(interpreter, function)
        interpreter.guarded = False
        objects.bind_generic(interpreter, function, receiver)
        result = _run(interpreter, function)
    if function.name.endswith(".__init__"):
        interpreter.facts_of[id(receiver)] = interpreter.context.facts
    interpreter.restore(facts, certain)
    interpreter.guarded = guarded
    return result


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
        return annotate.promised(interpreter, form, "return", unbound=Kind.UNKNOWN)
    if isinstance(node, ast.AsyncFunctionDef):
        return annotate.promised(interpreter, form, "return", unbound=Kind.UNKNOWN)
    if id(node) in interpreter.faulty:
        # What is wrong in it by itself is said there.
        with interpreter.quietly():
            before = interpreter.here.bindings.copy()
            result = _run(interpreter, function)
            interpreter.here.bindings = before  # without what it returns wrongly
            return annotate.met(interpreter, node, form, UNKNOWN if returns_tensors else result, "return")
    if not annotated:
        return _run(interpreter, function)
    if returns_tensors:
        before = interpreter.here.bindings.copy()
        said = annotate.promised(interpreter, form, "return", unbound=Kind.UNKNOWN)
        if annotate.is_known(said):
            _run(interpreter, function)
            return said
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


__all__ = ["Arguments", "Opaque", "call", "call_function", "invoke", "present", "run_alone"]
