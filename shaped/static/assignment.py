"""Assignments: names, attributes, items, unpacking, in-place operators."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.dims import Dim, Kind
from shaped.spec.dtypes import ANY_DTYPE
from shaped.spec.ops.indexing import setitem
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType
from shaped.static import annotate, attributes, indexing, iteration, named_sizes, operators, unpacking
from shaped.static.join import join_many
from shaped.static.values import (
    Container,
    DictValue,
    Instance,
    ListValue,
    ManyValue,
    Maybe,
    ShapeValue,
    StaticValue,
    as_dim,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter


def execute_assign(interpreter: Interpreter, node: ast.Assign) -> bool:
    """`a = b = value`."""
    if annotate.declare_alias(interpreter, node):
        return True
    frame = interpreter.here
    outer, frame.target = frame.target, interpreter.name_of(node.targets[0])
    _count_spread_shape(interpreter, node)
    value = interpreter.evaluate(node.value)
    frame.target = outer
    unpacking.check_count(interpreter, node, value)
    if isinstance(node.value, ast.GeneratorExp) and isinstance(value, ListValue):
        # Under a name it may be gone through more than once, and is used up then.
        value = ListValue(
            ManyValue(join_many(interpreter.context, value.content, ()).element, interpreter.context.fresh())
        )
    value = _unpacked_shape(interpreter, node, value)
    for target in node.targets:
        assign(interpreter, target, value)
    return True


def execute_annotated(interpreter: Interpreter, node: ast.AnnAssign) -> bool:
    """`a: annotation = value`."""
    if annotate.declare_alias(interpreter, node):
        return True
    form = annotate.form_of(interpreter, node.annotation)
    if node.value is None:
        if isinstance(node.target, ast.Name) and interpreter.here.function is not None:
            interpreter.assign_name(node.target.id, UNKNOWN)
            interpreter.here.local_forms[node.target.id] = form
        return True
    frame = interpreter.here
    outer, frame.target = frame.target, interpreter.name_of(node.target)
    value = interpreter.evaluate(node.value)
    frame.target = outer
    what = f"{interpreter.name_of(node.target) or 'value'}"
    value = named_sizes.met(interpreter, node.value, node.value, form, value, what)
    assign(interpreter, node.target, value)
    return True


def execute_augmented(interpreter: Interpreter, node: ast.AugAssign) -> bool:
    """`a += value`."""
    load = _as_load(node.target)
    left, right = interpreter.evaluate(load), interpreter.evaluate(node.value)
    try:
        value = operators.augmented(interpreter, node, left, right)
    except Fault as fault:
        interpreter.fault(node, fault)
        value = interpreter.context.unknown_tensor() if isinstance(left, TensorType) else left
    assign(interpreter, node.target, value)
    return True


def _as_load(target: ast.Name | ast.Attribute | ast.Subscript) -> ast.expr:
    match target:
        case ast.Name():
            load: ast.expr = ast.Name(target.id, ast.Load())
        case ast.Attribute():
            load = ast.Attribute(target.value, target.attr, ast.Load())
        case ast.Subscript():
            load = ast.Subscript(target.value, target.slice, ast.Load())
    return ast.copy_location(load, target)


def _unpacked_shape(interpreter: Interpreter, node: ast.Assign, value: StaticValue) -> StaticValue:
    """`b, t, d = x.shape` says how many axes x has."""
    target = node.targets[0]
    if not isinstance(value, (ShapeValue, tuple)) or not isinstance(target, (ast.Tuple, ast.List)):
        return value
    tensor = shape_owner(node.value)
    if tensor is None or any(isinstance(element, ast.Starred) for element in target.elts):
        return value
    if isinstance(value, ShapeValue):
        return _counted_shape(interpreter, tensor, value.shape, len(target.elts))
    sizes = tuple(size for size in value if isinstance(size, Dim))
    if len(sizes) == len(value) != len(target.elts):
        count = "1 axis" if len(sizes) == 1 else f"{len(sizes)} axes"
        names = "1 name" if len(target.elts) == 1 else f"{len(target.elts)} names"
        interpreter.fault(node, ShapeError("unpack", f"{count} into {names}", f"shape {Shape(sizes)}"))
    return value


def _count_spread_shape(interpreter: Interpreter, node: ast.Assign) -> None:
    """`b, t, d, h = *x.shape, self.heads` says how many axes x has."""
    target, display = node.targets[0], node.value
    if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(display, ast.Tuple):
        return
    spread = [element.value for element in display.elts if isinstance(element, ast.Starred)]
    tensor = shape_owner(spread[0]) if len(spread) == 1 else None
    if isinstance(tensor, ast.Name) and not any(isinstance(element, ast.Starred) for element in target.elts):
        shape = interpreter.evaluate(spread[0])
        if isinstance(shape, ShapeValue):
            _counted_shape(interpreter, tensor, shape.shape, len(target.elts) - len(display.elts) + 1)


def _counted_shape(interpreter: Interpreter, tensor: ast.expr, shape: Shape, rank: int) -> StaticValue:
    """`refine_rank` where any other rank would raise: the tensor is known to have it at this place already."""
    dims = refine_rank(interpreter, tensor, shape, rank)
    if isinstance(tensor, ast.Name):
        interpreter.evaluate(tensor)
    return dims


def shape_owner(node: ast.expr) -> ast.expr | None:
    """The tensor of `x.shape` or `x.size()`."""
    match node:
        case ast.Attribute(value=owner, attr="shape"):
            return owner
        case ast.Call(func=ast.Attribute(value=owner, attr="size"), args=[]):
            return owner
    return None


def refine_rank(interpreter: Interpreter, tensor: ast.expr, shape: Shape, rank: int) -> StaticValue:
    """The sizes of a shape now known to have `rank` axes; the tensor that has it is known so from here on."""
    shape = interpreter.context.facts.seen(shape)
    missing = rank - shape.least_rank
    if shape.pack is None or missing < 0:
        return UNKNOWN
    dims = interpreter.context.ranked(shape, rank).dims
    hidden = dims[len(shape.head) : len(dims) - len(shape.tail)]
    packs = interpreter.here.bindings.packs
    for name, axes in list(packs.items()):
        if axes == (shape.pack,):
            packs[name] = hidden  # `*name` is these axes from here on
    if isinstance(tensor, (ast.Name, ast.Attribute)):
        with interpreter.quietly():
            value = interpreter.evaluate(tensor)
        value = value.value if isinstance(value, Maybe) else value
        if value is UNKNOWN:
            assign(interpreter, tensor, TensorType(Shape(dims), ANY_DTYPE))
        elif isinstance(value, TensorType) and shape.pack.kind is not Kind.UNKNOWN:
            assign(interpreter, tensor, value.with_shape(Shape(dims)))
    return dims


def assign(interpreter: Interpreter, target: ast.expr, value: StaticValue) -> None:
    """Bind a target, which may be nested, to a value."""
    match target:
        case ast.Name():
            form = interpreter.here.local_forms.get(target.id)
            if form is not None and value is UNKNOWN:
                value = annotate.met(interpreter, target, form, value, target.id)
            interpreter.assign_name(target.id, value)
        case ast.Starred():
            assign(interpreter, target.value, value)
        case ast.Tuple(elts) | ast.List(elts):
            for element, item in zip(elts, iteration.unpack(interpreter, target, elts, value)):
                assign(interpreter, element, item)
        case ast.Attribute():
            receiver = interpreter.evaluate_present(target.value)
            if isinstance(receiver, TensorType) and target.attr == "data":
                if isinstance(target.value, (ast.Name, ast.Attribute)):
                    known = isinstance(value, TensorType)
                    assign(interpreter, target.value, value if known else interpreter.context.unknown_tensor())
                return
            attributes.set_attribute(interpreter, receiver, target.attr, value)
        case ast.Subscript():
            _set_item(interpreter, target, value)


def _set_item(interpreter: Interpreter, target: ast.Subscript, value: StaticValue) -> None:
    receiver = interpreter.evaluate_present(target.value)
    match receiver:
        case TensorType():
            items = indexing.items_of(interpreter, target.slice)
            setitem(interpreter.context, receiver, items, interpreter.lower(value))
            if receiver.extent is not None and isinstance(target.value, (ast.Name, ast.Attribute)):
                assign(interpreter, target.value, replace(receiver, extent=None))
        case DictValue():
            key = constant_key(interpreter.evaluate(target.slice))
            if key is None:
                forget(interpreter, target.value)
            else:
                interpreter.journal.set(receiver.items, key, value)
        case ListValue():
            index = as_dim(interpreter.evaluate(target.slice))
            position = index.constant if index is not None else None
            content = receiver.content
            if isinstance(content, tuple) and position is not None and -len(content) <= position < len(content):
                position %= len(content)
                new: tuple[StaticValue, ...] | ManyValue = (*content[:position], value, *content[position + 1 :])
            else:
                new = ManyValue(UNKNOWN, interpreter.context.fresh())
            interpreter.journal.set(receiver.__dict__, "content", new)
        case Container() | Instance():
            forget(interpreter, target.value)


def constant_key(value: StaticValue) -> object | None:
    """A dictionary's key that is the same on every run, None if it is not known."""
    if isinstance(value, (str, bool)):
        return value
    return value.constant if isinstance(value, Dim) else None


def forget(interpreter: Interpreter, node: ast.expr) -> None:
    """What an object holds is no longer known."""
    value = interpreter.evaluate_present(node)
    match value:
        case ListValue() | Container():
            interpreter.journal.set(value.__dict__, "content", ManyValue(UNKNOWN, interpreter.context.fresh()))
        case DictValue():
            for key in list(value.items):
                interpreter.journal.set(value.items, key, UNKNOWN)
            interpreter.journal.set(value.__dict__, "complete", False)
        case Instance():
            for name in list(value.attributes):
                interpreter.journal.set(value.attributes, name, UNKNOWN)
