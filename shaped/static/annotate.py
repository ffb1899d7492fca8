"""Annotations at work: the values that they promise, and whether a value is what they say."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from shaped.errors import AnnotationError, Fault, Origin, ShapeError
from shaped.spec.annotation import Named
from shaped.spec.binding import Bindings, instantiate
from shaped.spec.dims import Dim, Kind, Symbol
from shaped.spec.matching import fits, match
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType
from shaped.static import annotations as forms
from shaped.static import functions, layers, objects, tlists
from shaped.static.annotations import TypeForm
from shaped.static.operators import NOT_FOLLOWED
from shaped.static.report import Diagnostic
from shaped.static.run_annotations import RunAnnotations
from shaped.static.values import (
    ArrayValue,
    ClassValue,
    DictValue,
    External,
    Imported,
    Instance,
    ListValue,
    ManyValue,
    Maybe,
    Opaque,
    SourceModule,
    StaticValue,
    TypeValue,
    ValueMethod,
    as_dim,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter


def form_of(interpreter: Interpreter, node: ast.expr | None) -> TypeForm:
    """The form of an annotation. A malformed one is reported."""
    if node is None:
        return forms.UNKNOWN_FORM
    known = interpreter.forms.get(id(node))
    if known is None:
        problems: forms.Problems = []
        known = forms.read(
            node, partial(resolve, interpreter), interpreter.aliases.get, problems, RunAnnotations(interpreter)
        )
        interpreter.forms[id(node)] = known
        if interpreter.here.module.path == interpreter.path:
            from shaped.static.interpreter import span_of

            for at, problem in problems:
                text = str(problem)
                interpreter.add(
                    Diagnostic(str(interpreter.path), span_of(at), "annotation", text, "error", (), problem.hint)
                )
    return known


def resolve(interpreter: Interpreter, node: ast.expr) -> str | None:
    """The qualified name of a dotted name in an annotation."""
    value = named(interpreter, node)
    match value:
        case External():
            return value.name
        case ClassValue():
            name = f"{value.module.name}.{value.name}"
            interpreter.classes[name] = value
            return name
        case TypeValue():
            name = f"alias {id(value)}"
            interpreter.aliases[name] = value.form
            return name
    if value is None and isinstance(node, ast.Name):
        return f"builtins.{node.id}"
    return None


def named(interpreter: Interpreter, node: ast.expr) -> StaticValue:
    """What a dotted name in an annotation stands for; None for a name that no scope has."""
    if isinstance(node, ast.Name):
        scope = interpreter.here.environment.find(node.id)
        if scope is None:
            return None
        value = scope.names[node.id]
        return functions.resolve(interpreter, value) if isinstance(value, Imported) else value
    if isinstance(node, ast.Attribute):
        owner = named(interpreter, node.value)
        if isinstance(owner, External):
            return External(f"{owner.name}.{node.attr}")
        if isinstance(owner, SourceModule):
            return functions.member(interpreter, owner, node.attr)
        if isinstance(owner, ClassValue):
            return owner.find(node.attr) or UNKNOWN
        if isinstance(owner, Instance):
            return owner.attributes.get(node.attr, UNKNOWN)
    return UNKNOWN


def declare_alias(interpreter: Interpreter, node: ast.stmt) -> bool:
    """Keep `Image = Float[Tensor, "3 h w"]` as a type; False if the statement declares none."""
    target: ast.expr | None = None
    value: ast.expr | None = None
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, value = node.targets[0], node.value
        if not isinstance(value, (ast.Subscript, ast.BinOp)) or not _is_type(interpreter, value):
            return False
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        target, value = node.target, node.value
        if resolve(interpreter, node.annotation) not in ("typing.TypeAlias", "typing_extensions.TypeAlias"):
            return False
    elif type(node).__name__ == "TypeAlias":
        target, value = getattr(node, "name", None), getattr(node, "value", None)
    if not isinstance(target, ast.Name) or value is None:
        return False
    interpreter.assign_name(target.id, TypeValue(form_of(interpreter, value)))
    return True


def _is_type(interpreter: Interpreter, node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitOr) and (
            _is_type(interpreter, node.left) or _is_type(interpreter, node.right)
        )
    if isinstance(node, ast.Subscript):
        name = resolve(interpreter, node.value)
        prefixes = ("jaxtyping.", "typing.Optional", "typing.Union", "alias ")
        if name is None:
            return _is_array_of_object(interpreter, node)
        return name.startswith(prefixes) or name in forms.TLISTS
    return isinstance(node, (ast.Name, ast.Attribute)) and (resolve(interpreter, node) or "").startswith("alias ")


def _is_array_of_object(interpreter: Interpreter, node: ast.Subscript) -> bool:
    try:
        return isinstance(RunAnnotations(interpreter).subscripted(node), forms.TensorForm)
    except AnnotationError:
        return True  # of axes that are malformed: they are reported where the form is read


_ARRAY = "ndarray"  # NumPy's array in an annotation: `Float[np.ndarray, "h w"]`


def field_size(interpreter: Interpreter, text: str) -> Dim | None:
    """The size that the field `{self.d}` of an annotation gives in the frame under way."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None
    with interpreter.quietly():
        return as_dim(interpreter.evaluate(node))


def promised(
    interpreter: Interpreter, form: TypeForm, name: str, *, origin: Origin | None = None, unbound: Kind = Kind.NAME
) -> StaticValue:
    """The value that an annotation promises: a parameter in a body, or what a call gives back."""
    context, is_looked_at = interpreter.context, interpreter.here.ints is Kind.UNKNOWN

    def inner(part: TypeForm, index: int | None = None) -> StaticValue:
        if index is None:
            return promised(interpreter, part, name, origin=origin, unbound=unbound)
        source = None if origin is None else replace(origin, text=f"{origin.text}[{index}]")
        return promised(interpreter, part, f"{name}[{index}]", origin=source, unbound=unbound)

    def any_of(element: TypeForm) -> ManyValue:
        # The ints of a list are not one int.
        is_int = isinstance(element, forms.IntForm)
        return ManyValue(UNKNOWN if is_int else inner(element), context.fresh())

    match form:
        case forms.TensorForm(annotation=annotation):
            tensor = instantiate(
                annotation,
                interpreter.here.bindings,
                context,
                origin=origin,
                evaluate=lambda text: field_size(interpreter, text),
                # The names of an object that is only looked at are its own affair, as its ints are.
                unbound=Kind.UNKNOWN if is_looked_at else unbound,
                least=int(is_looked_at),
            )
            return ArrayValue(tensor) if annotation.array == _ARRAY else tensor
        case forms.PlainTensorForm():
            return context.unknown_tensor()
        case forms.UnionForm(options=options):
            rest = [option for option in options if not isinstance(option, forms.NoneForm)]
            if len(rest) == 1:
                return Maybe(inner(rest[0])) if len(rest) < len(options) else inner(rest[0])
            if all(isinstance(option, (forms.TensorForm, forms.PlainTensorForm)) for option in rest):
                unknown = context.unknown_tensor()
                return Maybe(unknown) if len(rest) < len(options) else unknown
            return UNKNOWN
        case forms.TupleForm(elements=elements):
            return tuple(inner(element, i) for i, element in enumerate(elements))
        case forms.VariadicTupleForm(element=element):
            return any_of(element)
        case forms.ListForm(element=element):
            return ListValue(any_of(element))
        case forms.DictForm():
            return DictValue({}, complete=False)
        case forms.ClassForm(qualified_name=qualified):
            cls = interpreter.classes.get(qualified)
            return _object(interpreter, cls, name) if cls is not None else layers.any_layer(context, qualified)
        case forms.IntForm():
            return any_int(interpreter, name) if unbound is Kind.NAME else context.fresh(low=None)
        case forms.FloatForm():
            return NOT_FOLLOWED
        case forms.StrForm() if unbound is Kind.NAME:
            return Opaque(name, interpreter.scope)
        case forms.NoneForm():
            return None
        case forms.LiteralForm(values=(bool() | str() | None as value,)):
            return value
        case forms.LiteralForm(values=(int() as value,)):
            return Dim.of(value)
    return UNKNOWN


def _object(interpreter: Interpreter, cls: ClassValue, name: str) -> StaticValue:
    """Any object of a class. What an object's sizes are is its own affair, but a constructor's configuration is chosen
    by its caller like the constructor's ints."""
    function = interpreter.here.function
    is_constructor = function is not None and function.name.endswith(".__init__")
    kind = interpreter.here.ints if is_constructor and cls.is_dataclass else Kind.UNKNOWN
    return objects.generic_later(interpreter, cls, f"{interpreter.scope}.{name}", kind)


def any_int(interpreter: Interpreter, name: str) -> Dim:
    """An int that the caller of the frame under way chose."""
    return Dim.atom(Symbol(name, interpreter.here.ints, interpreter.scope, None))


def met(
    interpreter: Interpreter, node: ast.AST, form: TypeForm, value: StaticValue, what: str, operation: str = ""
) -> StaticValue:
    """The value as its annotation shows it. A value that the annotation excludes is reported at `node`."""
    try:
        known = checked(interpreter, form, value, what, operation)
        interpreter.report_found(node)
        return known
    except Fault as fault:
        interpreter.fault(node, fault)
        with interpreter.quietly():
            return promised(interpreter, form, what, unbound=Kind.UNKNOWN)


def checked(
    interpreter: Interpreter, form: TypeForm, value: StaticValue, what: str, operation: str = ""
) -> StaticValue:
    """The value as its annotation shows it.

    Raises:
        Fault: the annotation excludes it.
    """
    match form:
        case forms.TensorForm(annotation=annotation):
            if isinstance(value, Maybe):
                return Maybe(checked(interpreter, form, value.value, what, operation))
            if isinstance(value, ArrayValue) and annotation.array == _ARRAY:
                known = checked(interpreter, form, value.tensor, what, operation)
                return ArrayValue(known) if isinstance(known, TensorType) else value
            if isinstance(value, TensorType):
                return match(
                    annotation,
                    value,
                    interpreter.here.bindings,
                    interpreter.context,
                    evaluate=lambda text: field_size(interpreter, text),
                    operation=operation,
                    what=what,
                )
            # `output.last_hidden_state` of a value that was not followed.
            is_method = isinstance(value, ValueMethod) and value.receiver is UNKNOWN
            if value is UNKNOWN or isinstance(value, Opaque) or is_method:
                return promised(interpreter, form, what, unbound=Kind.UNKNOWN)
            return value
        case forms.UnionForm(options=options):
            return _union(interpreter, options, value, what, operation)
        case forms.TupleForm(elements=elements, is_tlist=is_tlist):
            if isinstance(value, tuple) and len(value) != len(elements) and is_tlist:
                subject = f"{what} of {operation}" if operation else what
                raise ShapeError(subject, tlists.wrong_count(len(value), len(elements)))
            if isinstance(value, tuple) and len(value) == len(elements):
                return tuple(
                    checked(interpreter, element, item, f"{what}[{i}]", operation)
                    for i, (element, item) in enumerate(zip(elements, value))
                )
        case forms.ListForm(element=element) | forms.VariadicTupleForm(element=element):
            return _collection(interpreter, element, value, what, operation)
    if value is UNKNOWN:
        return promised(interpreter, form, what, unbound=Kind.UNKNOWN)
    return value


def _collection(
    interpreter: Interpreter, element: TypeForm, value: StaticValue, what: str, operation: str
) -> StaticValue:
    content = value.content if isinstance(value, ListValue) else value
    if isinstance(content, tuple):
        new: tuple[StaticValue, ...] | ManyValue = tuple(
            _item(interpreter, element, item, f"{what}[{i}]", operation) for i, item in enumerate(content)
        )
    elif isinstance(content, ManyValue):
        new = ManyValue(checked(interpreter, element, content.element, f"{what}[0]", operation), content.length)
    else:
        return value
    return value if isinstance(value, ListValue) else new


def _item(interpreter: Interpreter, form: TypeForm, value: StaticValue, what: str, operation: str) -> StaticValue:
    """An item of a collection, whose names need not mean the same in the next one: run-time checks look at one item."""
    bindings = interpreter.here.bindings
    interpreter.here.bindings = bindings.copy()
    try:
        return checked(interpreter, form, value, what, operation)
    finally:
        interpreter.here.bindings = bindings


def _union(
    interpreter: Interpreter, options: tuple[TypeForm, ...], value: StaticValue, what: str, operation: str
) -> StaticValue:
    optional = any(isinstance(option, forms.NoneForm) for option in options)
    rest = [option for option in options if not isinstance(option, forms.NoneForm)]
    if value is None:
        return None
    if len(rest) == 1:
        if isinstance(value, Maybe):
            return Maybe(checked(interpreter, rest[0], value.value, what, operation))
        known = checked(interpreter, rest[0], value, what, operation)
        return Maybe(known) if optional and value is UNKNOWN and known is not UNKNOWN else known
    tensors = [option for option in rest if isinstance(option, forms.TensorForm)]
    if not isinstance(value, TensorType) or len(tensors) < len(rest):
        return value
    possible = [
        option
        for option in tensors
        if fits(
            option.annotation,
            value,
            interpreter.here.bindings,
            interpreter.context,
            evaluate=lambda text: field_size(interpreter, text),
        )
        is not False
    ]
    if not possible:
        subject = f"{what} of {operation}" if operation else what
        texts = " nor ".join(f'"{option.annotation.text}"' for option in tensors)
        raise ShapeError(subject, f"{value} matches neither {texts}", dims=value.shape.dims if value.shape.rank else ())
    return checked(interpreter, possible[0], value, what, operation) if len(possible) == 1 else value


def crossed(
    parameter_forms: dict[str, TypeForm],
    args: list[StaticValue],
    parameters: list[ast.arg],
    bindings: Bindings,
    operation: str,
) -> list[Fault]:
    """Arguments whose named axes stand in another order than the parameter's: right as such, and the likely cause of a
    fault further on."""
    found: list[Fault] = []
    for parameter, value in zip(parameters, args):
        form = parameter_forms[parameter.arg]
        if not isinstance(form, forms.TensorForm) or not isinstance(value, TensorType) or value.shape.rank is None:
            continue
        named = {axis.name: i for i, axis in enumerate(form.annotation.axes) if isinstance(axis, Named)}
        for i, dim in enumerate(value.shape.dims):
            symbol = dim.symbol
            if symbol is None or symbol.kind is not Kind.NAME or named.get(symbol.name, i) == i:
                continue
            if bindings.dims.get(symbol.name) != dim:
                reason = (
                    f'{value} is passed for "{form.annotation.text}": '
                    f"{symbol.name} is axis {i} here and axis {named[symbol.name]} there"
                )
                subject = f"argument {parameter.arg} of {operation}"
                found.append(ShapeError(subject, reason, dims=(dim,), code="shape-axes"))
                break
    return found


def has_tensors(form: TypeForm) -> bool:
    """Whether an annotation says something about a tensor's axes."""
    match form:
        case forms.TensorForm():
            return True
        case forms.UnionForm(options=parts) | forms.TupleForm(elements=parts):
            return any(has_tensors(part) for part in parts)
        case forms.ListForm(element=element) | forms.VariadicTupleForm(element=element):
            return has_tensors(element)
    return False


def is_known(value: StaticValue) -> bool:
    """Whether nothing about a value is left open."""
    match value:
        case TensorType(shape=Shape() as shape):
            return shape.is_known
        case tuple():
            return all(is_known(item) for item in value)
        case Maybe():
            return False
    return value is not UNKNOWN and not (isinstance(value, Dim) and value.has_unknown)
