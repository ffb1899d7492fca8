"""Functions of ints and floats: `int`, `min`, `round`, `math.ceil`."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from shaped.spec.dims import ONE, Dim, ceildiv, maximum, minimum, product
from shaped.spec.op import find_op
from shaped.spec.values import UNKNOWN, Ratio, TensorType
from shaped.static import comparisons, iteration, one_element, operators
from shaped.static.operators import NOT_FOLLOWED
from shaped.static.values import (
    StaticValue,
    as_dim,
)

if TYPE_CHECKING:
    from shaped.static.arguments import Arguments
    from shaped.static.builtins.kind import Builtin
    from shaped.static.interpreter import Interpreter


def _int(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    value = arguments.args[0] if arguments.args else Dim.of(0)
    one_element.require_number(interpreter, value, "__int__")
    match value:
        case float():
            return Dim.of(int(value)) if math.isfinite(value) else interpreter.context.fresh(low=None)
        case Ratio():
            return _truncate(interpreter, value)
        case str() if len(arguments.args) == 1:
            return _parsed(interpreter, value)
    dim = as_dim(value)
    return dim if dim is not None else interpreter.context.fresh(low=None)


def _parsed(interpreter: Interpreter, text: str) -> StaticValue:
    try:
        return Dim.of(int(text))
    except ValueError:
        return interpreter.context.fresh(low=None)


def _truncate(interpreter: Interpreter, value: Ratio) -> StaticValue:
    """int() rounds towards zero, which is the floor where the quotient is not negative."""
    context = interpreter.context
    if value.denominator == 1:
        return value.numerator
    if context.is_at_least(value.numerator, 0) and value.denominator.constant != 0:
        return value.numerator // value.denominator
    if context.is_at_least(-value.numerator, 0):
        return -((-value.numerator) // value.denominator)
    # A caller's int is a size where it is used as one.
    if not value.numerator.has_unknown and not value.denominator.has_unknown:
        return value.numerator // value.denominator
    return context.fresh(low=None)


def _float(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    value = arguments.args[0] if arguments.args else 0.0
    one_element.require_number(interpreter, value, "__float__")
    if isinstance(value, float):
        return value
    dim = as_dim(value)
    if dim is not None and dim.constant is not None:
        return float(dim.constant)
    if isinstance(value, str):
        return {"inf": math.inf, "-inf": -math.inf}.get(value, NOT_FOLLOWED)
    return NOT_FOLLOWED


def _bool(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    value = arguments.args[0] if arguments.args else False
    one_element.require_number(interpreter, value, "__bool__")
    truth = comparisons.truth_of(value)
    return UNKNOWN if truth is None else truth


def _choose(combine: Callable[..., Dim], on_floats: Callable[..., float]) -> Builtin:
    def choose(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        values: tuple[StaticValue, ...] | None = tuple(arguments.args)
        if len(arguments.args) == 1:
            values = iteration.items(interpreter, arguments.args[0])
        if values == () and arguments.kwargs.keys() == {"default"}:
            return arguments.kwargs["default"]
        if not values or arguments.kwargs.keys() - {"default"}:
            return UNKNOWN
        dims = [as_dim(value) for value in values]
        known = [dim for dim in dims if dim is not None]
        if len(known) == len(dims):
            return interpreter.context.facts.normalize(combine(*known))
        floats = [float(v.constant) if isinstance(v, Dim) and v.constant is not None else v for v in values]
        if all(isinstance(value, float) for value in floats):
            return NOT_FOLLOWED if any(value != value for value in floats) else float(on_floats(*floats))
        return interpreter.context.fresh(low=None) if all(_is_number(v) for v in values) else UNKNOWN

    return choose


def _is_number(value: StaticValue) -> bool:
    return isinstance(value, (float, Ratio)) or as_dim(value) is not None


def _sum(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    if not arguments.args:
        return UNKNOWN
    values = iteration.items(interpreter, arguments.args[0])
    total: StaticValue = arguments.args[1] if len(arguments.args) > 1 else Dim.of(0)
    if values is None:
        make, _ = iteration.element(interpreter, arguments.args[0])
        element = make()
        # A sum of tensors of one shape has that shape, if there is at least one.
        return element if isinstance(element, TensorType) else UNKNOWN
    for value in values:
        total = operators.binary(interpreter, ast.Add(), total, value)
    return total


def _abs(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    value = arguments.args[0] if arguments.args else UNKNOWN
    if isinstance(value, float):
        return abs(value)
    if isinstance(value, TensorType):
        op = find_op("Tensor.abs")
        result = op.apply(interpreter.context, (value,), {}) if op else UNKNOWN
        return result if isinstance(result, TensorType) else interpreter.context.unknown_tensor()
    dim = as_dim(value)
    if dim is None:
        return UNKNOWN
    if dim.constant is not None:
        return Dim.of(abs(dim.constant))
    return dim if interpreter.context.is_at_least(dim, 0) else interpreter.context.fresh()


def _round(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    value = arguments.args[0] if arguments.args else UNKNOWN
    if len(arguments.args) == 1:
        if isinstance(value, float) and math.isfinite(value):
            return Dim.of(round(value))
        if isinstance(value, (float, Ratio)):
            return interpreter.context.fresh(low=None)
        dim = as_dim(value)
        return dim if dim is not None else UNKNOWN
    return NOT_FOLLOWED if isinstance(value, (float, Ratio)) else UNKNOWN


def _divmod(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    if len(arguments.args) != 2:
        return UNKNOWN
    a, b = arguments.args
    return (operators.binary(interpreter, ast.FloorDiv(), a, b), operators.binary(interpreter, ast.Mod(), a, b))


def _rounded(down: bool) -> Builtin:
    def rounded(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        value = arguments.args[0] if arguments.args else UNKNOWN
        if isinstance(value, float):
            if not math.isfinite(value):
                return interpreter.context.fresh(low=None)
            return Dim.of(math.floor(value) if down else math.ceil(value))
        if isinstance(value, Ratio):
            quotient = value.numerator // value.denominator if down else ceildiv(value.numerator, value.denominator)
            return interpreter.context.facts.normalize(quotient)
        dim = as_dim(value)
        return dim if dim is not None else interpreter.context.fresh(low=None)

    return rounded


def _of_numpy(function: Builtin) -> Builtin:
    """NumPy's function of a number, which gives a float; of what may be an array nothing is known."""

    def apply(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        if len(arguments.args) != 1 or arguments.kwargs or not _is_number(arguments.args[0]):
            return UNKNOWN
        value = function(interpreter, arguments, node)
        return Ratio(value, ONE) if isinstance(value, Dim) else value

    return apply


def _product(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    values = iteration.items(interpreter, arguments.args[0]) if arguments.args else None
    if values is None or arguments.kwargs:
        return interpreter.context.fresh(low=None) if arguments.args else UNKNOWN
    dims = [as_dim(value) for value in values]
    known = [dim for dim in dims if dim is not None]
    return product(known) if len(known) == len(dims) else interpreter.context.fresh(low=None)


def _on_float(function: Callable[[float], float]) -> Builtin:
    def apply(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        value = arguments.args[0] if len(arguments.args) == 1 else UNKNOWN
        dim = as_dim(value)
        number = float(dim.constant) if dim is not None and dim.constant is not None else value
        if not isinstance(number, float):
            return NOT_FOLLOWED
        try:
            return function(number)
        except (ValueError, OverflowError):
            return NOT_FOLLOWED

    return apply


def _isqrt(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    dim = as_dim(arguments.args[0]) if arguments.args else None
    if dim is not None and dim.constant is not None and dim.constant >= 0:
        return Dim.of(math.isqrt(dim.constant))
    return interpreter.context.fresh()


FUNCTIONS: dict[str, Builtin] = {
    "builtins.int": _int,
    "builtins.float": _float,
    "builtins.bool": _bool,
    "builtins.min": _choose(minimum, min),
    "builtins.max": _choose(maximum, max),
    "builtins.sum": _sum,
    "builtins.abs": _abs,
    "builtins.round": _round,
    "builtins.divmod": _divmod,
    "math.ceil": _rounded(down=False),
    "math.floor": _rounded(down=True),
    "math.trunc": _int,
    "math.prod": _product,
    "math.sqrt": _on_float(math.sqrt),
    "math.log": _on_float(math.log),
    "math.log2": _on_float(math.log2),
    "math.log10": _on_float(math.log10),
    "math.exp": _on_float(math.exp),
    "math.sin": _on_float(math.sin),
    "math.cos": _on_float(math.cos),
    "math.isqrt": _isqrt,
    "numpy.sqrt": _of_numpy(_on_float(math.sqrt)),
    "numpy.log2": _of_numpy(_on_float(math.log2)),
    "numpy.ceil": _of_numpy(_rounded(down=False)),
    "numpy.floor": _of_numpy(_rounded(down=True)),
}
