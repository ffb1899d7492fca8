"""Sizes that were not followed, under the names that an annotation gives them.

`pixels: Float[Tensor, "n 64"] = rows_of(file)` says that there are `n` rows, however many that are: from there on they
are called so, where other tensors have as many too.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from shaped.spec.annotation import AnnotatedAxis, Named
from shaped.spec.dims import Dim
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import TensorType
from shaped.static import annotate, forms
from shaped.static.values import StaticValue

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter


def met(
    interpreter: Interpreter,
    node: ast.AST,
    source: ast.expr | None,
    form: forms.TypeForm,
    value: StaticValue,
    what: str,
    function: str = "",
) -> StaticValue:
    """`annotate.met` for what an annotation is the first to name: a local variable, or what a function returns.

    The expression that gave the value, `source`, is shown and counted with the shape that the annotation says it has.
    """
    before = frozenset(interpreter.here.bindings.dims)
    known = annotate.met(interpreter, node, form, value, what, function)
    known = _named(interpreter, form, known, before)
    _show(interpreter, source, known)
    return known


def _named(interpreter: Interpreter, form: forms.TypeForm, value: StaticValue, before: frozenset[str]) -> StaticValue:
    """The value, its sizes that were not followed under the names that were not bound `before`."""
    match form, value:
        case forms.TensorForm(annotation=annotation), TensorType(shape=shape):
            if shape.pack is not None or len(shape.axes) != len(annotation.axes):
                return value
            axes = tuple(
                size if isinstance(size, Pack) else _named_size(interpreter, axis, size, before)
                for axis, size in zip(annotation.axes, shape.axes)
            )
            return value if axes == shape.axes else replace(value, shape=Shape(axes))
        case forms.TupleForm(elements=elements), tuple() if len(elements) == len(value):
            return tuple(_named(interpreter, element, item, before) for element, item in zip(elements, value))
    return value


def _named_size(interpreter: Interpreter, axis: AnnotatedAxis, size: Dim, before: frozenset[str]) -> Dim:
    if not isinstance(axis, Named) or axis.by_leaf or axis.broadcastable or axis.name in before or not _is_open(size):
        return size
    dims = interpreter.here.bindings.dims
    if axis.name not in dims or _is_open(dims[axis.name]):
        dims[axis.name] = interpreter.context.fresh(name=axis.name)
    return dims[axis.name]


def _is_open(size: Dim) -> bool:
    """Whether nothing is known of a size: it is made of sizes that were not followed."""
    symbols = list(size.symbols())
    return bool(symbols) and all(symbol.is_fresh for symbol in symbols)


def _show(interpreter: Interpreter, node: ast.expr | None, value: StaticValue) -> None:
    """Show and count an expression, or those of a tuple, with the shapes that an annotation says they have."""
    match node, value:
        case ast.expr(), TensorType():
            interpreter.show_again(node, value)
        case ast.Tuple(elts), tuple() if len(elts) == len(value):
            for element, item in zip(elts, value):
                _show(interpreter, element, item)
