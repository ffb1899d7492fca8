"""Functions and methods of NumPy's arrays over their elements: one by one, in pairs, all along an axis.

dtypes are followed only where they are given or kept: NumPy's promotion is its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.broadcast import broadcast, is_joined
from shaped.spec.dims import ZERO, Dim
from shaped.spec.dtypes import ANY_DTYPE, BOOLEAN, FLOATS, INTEGERS, DType
from shaped.spec.op import op
from shaped.spec.ops.array_axes import ravel
from shaped.spec.ops.arrays import FLOAT64, dtype_or, free, is_scalar
from shaped.spec.reduce import reduced
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shaped.spec.context import Context

LAST = Dim.of(-1)


# Elements


def _declare_elementwise(name: str, *methods: str) -> None:
    @op(f"numpy.{name}", f"numpy.{name}", *(f"ndarray.{each}" for each in methods), formula=f"{name} of each element")
    def rule(context: Context, x: TensorType, *args: Value, **options: Value) -> Value:
        out = options.get("out")
        if args or out is not None or "where" in options:
            return context.unknown_tensor()
        # A function of floats gives the same floats.
        return x if x.dtype.single in ("float32", "float64") and not name.startswith(("is", "logical")) else free(x)


for _name in [
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "square", "sin", "cos", "tan", "arcsin"),
    *("arccos", "arctan", "sinh", "cosh", "tanh", "abs", "absolute", "negative", "sign", "floor", "ceil", "rint"),
    *("isnan", "isfinite", "isinf", "deg2rad", "rad2deg", "radians", "degrees", "logical_not", "real", "imag"),
    *("reciprocal", "nan_to_num"),
]:
    _declare_elementwise(_name)
_declare_elementwise("conj", "conj", "conjugate")
_declare_elementwise("isreal")


@op("numpy.copy", "numpy.copy", "ndarray.copy", formula="y = a")
def copy(context: Context, a: TensorType, order: Value = None) -> Value:
    return a


@op("numpy.round", "numpy.round", "numpy.around", "ndarray.round", formula="y = a rounded to decimals")
def round_(context: Context, a: TensorType, decimals: Value = ZERO) -> Value:
    return a


@op("ndarray.astype", "ndarray.astype", formula="y = x as another dtype")
def astype(context: Context, x: TensorType, dtype: Value, *args: Value, **options: Value) -> Value:
    return TensorType(x.shape, dtype_or(dtype, ANY_DTYPE), joined=x.joined)


@op("numpy.clip", "numpy.clip", "ndarray.clip", formula="y = min(max(a, a_min), a_max)")
def clip(context: Context, a: TensorType, a_min: Value = None, a_max: Value = None, **options: Value) -> Value:
    if all(bound is None or is_scalar(bound) for bound in (a_min, a_max)) and not options:
        return free(a)
    return context.unknown_tensor()


def _declare_binary(name: str, symbol: str = ", ") -> None:
    @op(f"numpy.{name}", f"numpy.{name}", formula=f"{name} of each pair of elements")
    def rule(context: Context, x1: Value, x2: Value, **options: Value) -> Value:
        return _combined(context, name, (x1, x2), symbol) if not options.keys() - {"atol", "rtol"} else UNKNOWN


def _combined(context: Context, operation: str, operands: Sequence[Value], symbol: str = ", ") -> Value:
    """What arrays and numbers broadcast to; UNKNOWN with anything else, and without arrays."""
    arrays = [operand for operand in operands if isinstance(operand, TensorType)]
    if not arrays or not all(isinstance(each, TensorType) or is_scalar(each) for each in operands):
        return UNKNOWN
    shape = broadcast(context, operation, *arrays, symbol=symbol)
    dtype = _promoted(operation, arrays, operands)
    return TensorType(shape, dtype, joined=is_joined(*arrays))


def _promoted(operation: str, arrays: Sequence[TensorType], operands: Sequence[Value]) -> DType:
    """The dtype of arithmetic on arrays of one float dtype, and numbers, which do not change it; else any.

    A quotient of integers is of float64, but of the smallest ones.
    """
    if operation not in _ARITHMETIC:
        return ANY_DTYPE
    first = arrays[0].dtype
    if first.is_all(FLOATS) and all(array.dtype == first for array in arrays) and first.single:
        return first
    is_wide = all(array.dtype.is_all(_WIDE_INTEGERS) for array in arrays)
    return FLOAT64 if operation in ("divide", "true_divide") and is_wide else ANY_DTYPE


_ARITHMETIC = frozenset(
    ["add", "subtract", "multiply", "divide", "true_divide", "power", "maximum", "minimum", "fmax", "fmin", "arctan2"]
)
_WIDE_INTEGERS = frozenset(["int32", "int64"])


for _name, _symbol in [
    *(("add", " + "), ("subtract", " - "), ("multiply", " * "), ("divide", " / "), ("power", " ** ")),
    *((name, ", ") for name in ("maximum", "minimum", "fmax", "fmin", "arctan2", "hypot", "mod", "remainder")),
    *((name, ", ") for name in ("floor_divide", "true_divide", "logical_and", "logical_or", "logical_xor")),
    *((name, ", ") for name in ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "isclose")),
]:
    _declare_binary(_name, _symbol)


@op("numpy.where", "numpy.where", formula="y = x where the condition holds, else y")
def where(context: Context, condition: TensorType, x: Value = None, y: Value = None) -> Value:
    return UNKNOWN if x is None or y is None else _combined(context, "where", (condition, x, y))


def _declare_sorted(name: str, *names: str, dtype: Callable[[DType], DType]) -> None:
    @op(f"numpy.{name}", f"numpy.{name}", *names, formula=f"{name} along an axis")
    def rule(context: Context, a: TensorType, axis: Value = LAST, kind: Value = None, order: Value = None) -> Value:
        result = ravel(context, a) if axis is None else a
        return TensorType(result.shape, dtype(a.dtype), joined=a.joined)


_declare_sorted("sort", dtype=lambda dtype: dtype)
_declare_sorted("argsort", "ndarray.argsort", dtype=lambda dtype: DType(INTEGERS))


@op("numpy.isin", "numpy.isin", formula="whether each element is in a set")
def isin(context: Context, element: TensorType, test_elements: Value, **options: Value) -> Value:
    return TensorType(element.shape, BOOLEAN, joined=element.joined)


@op("numpy.interp", "numpy.interp", formula="a line through points, at each element")
def interp(context: Context, x: TensorType, xp: Value, fp: Value, **options: Value) -> Value:
    return free(x)


# Reductions


def _reduced(context: Context, name: str, a: TensorType, axis: Value, keepdims: Value, dtype: DType) -> TensorType:
    if axis == ():  # NumPy: along no axis, torch: along all
        return context.unknown_tensor(dtype)
    return TensorType(reduced(context, name, free(a), axis, keepdims), dtype, joined=a.joined)


def _declare_sum(name: str, formula: str) -> None:
    @op(f"numpy.{name}", f"numpy.{name}", f"ndarray.{name}", formula=formula)
    def rule(
        context: Context,
        a: TensorType,
        axis: Value = None,
        dtype: Value = None,
        out: Value = None,
        keepdims: Value = False,
        **options: Value,
    ) -> Value:
        return _reduced(context, name, a, axis, keepdims, dtype_or(dtype, ANY_DTYPE))


for _name, _formula in [("sum", "y = sum a"), ("prod", "y = prod a"), ("mean", "y = mean a")]:
    _declare_sum(_name, _formula)


def _declare_spread(name: str, formula: str) -> None:
    @op(f"numpy.{name}", f"numpy.{name}", f"ndarray.{name}", formula=formula)
    def rule(
        context: Context,
        a: TensorType,
        axis: Value = None,
        dtype: Value = None,
        out: Value = None,
        ddof: Value = ZERO,
        keepdims: Value = False,
        **options: Value,
    ) -> Value:
        return _reduced(context, name, a, axis, keepdims, ANY_DTYPE)


_declare_spread("std", "the standard deviation of a")
_declare_spread("var", "the variance of a")


def _declare_extreme(name: str, formula: str, dtype: Callable[[DType], DType], *others: str) -> None:
    @op(f"numpy.{name}", f"numpy.{name}", *others, f"ndarray.{name}", formula=formula)
    def rule(
        context: Context,
        a: TensorType,
        axis: Value = None,
        out: Value = None,
        keepdims: Value = False,
        **options: Value,
    ) -> Value:
        return _reduced(context, name, a, axis, keepdims, dtype(a.dtype))


_declare_extreme("max", "y = max a", lambda dtype: dtype, "numpy.amax")
_declare_extreme("min", "y = min a", lambda dtype: dtype, "numpy.amin")
_declare_extreme("argmax", "the index of max a", lambda dtype: DType(INTEGERS))
_declare_extreme("argmin", "the index of min a", lambda dtype: DType(INTEGERS))
_declare_extreme("all", "y = whether all elements are true", lambda dtype: BOOLEAN)
_declare_extreme("any", "y = whether an element is true", lambda dtype: BOOLEAN)


@op("numpy.linalg.norm", "numpy.linalg.norm", formula="y = |x|")
def norm(context: Context, x: TensorType, ord: Value = None, axis: Value = None, keepdims: Value = False) -> Value:
    return _reduced(context, "norm", x, axis, keepdims, ANY_DTYPE)


@op("numpy.cumsum", "numpy.cumsum", "ndarray.cumsum", formula="y[i] = sum over j <= i of a[j]")
def cumsum(context: Context, a: TensorType, axis: Value = None, dtype: Value = None, out: Value = None) -> Value:
    result = ravel(context, a) if axis is None else a
    context.axis("cumsum", a, axis)
    return TensorType(result.shape, dtype_or(dtype, ANY_DTYPE), joined=a.joined)
