"""NumPy's new arrays: filled, ranges, from data, random. An array has the type of a tensor.

dtypes are followed only where they are given or kept: NumPy's promotion is its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import ONE, ZERO, Dim, ceildiv
from shaped.spec.dtypes import ANY_DTYPE, BOOLEAN, FLOATS, INTEGERS, DType
from shaped.spec.op import op
from shaped.spec.ops.arguments import listed
from shaped.spec.ops.creation import size_shape
from shaped.spec.ops.from_data import data_type
from shaped.spec.promotion import is_number
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, Many, Ratio, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context

FLOAT64 = DType.named("float64")
# Python's int is a C long, which has 32 bits on some systems.
INT = DType(frozenset(["int32", "int64"]))
FIFTY = Dim.of(50)


def free(array: TensorType) -> TensorType:
    """The array with any dtype: torch refuses some that NumPy takes."""
    return TensorType(array.shape, ANY_DTYPE, joined=array.joined)


def dtype_or(dtype: Value, default: DType) -> DType:
    """The dtype that a call asks for, `default` where it asks for none."""
    return default if dtype is None else dtype if isinstance(dtype, DType) else ANY_DTYPE


def arrays_of(values: Value) -> tuple[TensorType, ...] | Many | None:
    """The arrays of a list, of any dtype; None if it holds anything else."""
    if isinstance(values, Many) and isinstance(values.element, TensorType):
        return Many(free(values.element), values.length)
    items = listed(values)
    arrays = tuple(free(item) for item in items or () if isinstance(item, TensorType))
    return arrays if items and len(arrays) == len(items) else None


# New arrays


def _declare_filled(name: str, formula: str) -> None:
    @op(f"numpy.{name}", f"numpy.{name}", formula=formula)
    def rule(context: Context, shape: Value, dtype: Value = None, order: Value = None) -> Value:
        return TensorType(size_shape(context, name, (shape,)), dtype_or(dtype, FLOAT64))

    @op(f"numpy.{name}_like", f"numpy.{name}_like", formula=f"{formula}, of the shape of a")
    def like(
        context: Context,
        a: TensorType,
        dtype: Value = None,
        order: Value = None,
        subok: Value = True,
        shape: Value = None,
    ) -> Value:
        sizes = a.shape if shape is None else size_shape(context, name, (shape,))
        return TensorType(sizes, dtype_or(dtype, a.dtype), joined=a.joined)


for _name, _formula in [("zeros", "y = 0"), ("ones", "y = 1"), ("empty", "y is not set")]:
    _declare_filled(_name, _formula)


@op("numpy.full", "numpy.full", formula="y = value")
def full(context: Context, shape: Value, fill_value: Value, dtype: Value = None, order: Value = None) -> Value:
    return TensorType(size_shape(context, "full", (shape,)), dtype_or(dtype, ANY_DTYPE))


@op("numpy.full_like", "numpy.full_like", formula="y = value, of the shape of a")
def full_like(context: Context, a: TensorType, fill_value: Value, dtype: Value = None) -> Value:
    return TensorType(a.shape, dtype_or(dtype, a.dtype), joined=a.joined)


@op("numpy.eye", "numpy.eye", "numpy.identity", formula="y[i, j] = 1 if i = j else 0")
def eye(context: Context, N: Value, M: Value = None, k: Value = ZERO, dtype: Value = None) -> Value:
    columns = N if M is None else M
    return TensorType(size_shape(context, "eye", ((N, columns),)), dtype_or(dtype, FLOAT64))


@op("numpy.arange", "numpy.arange", formula="y[i] = start + i step")
def arange(context: Context, start: Value, stop: Value = None, step: Value = None, dtype: Value = None) -> Value:
    first, last = (ZERO, start) if stop is None else (start, stop)
    stride = ONE if step is None else step
    if not isinstance(first, Dim) or not isinstance(last, Dim) or not isinstance(stride, Dim):
        return TensorType(Shape.of(context.fresh()), dtype_or(dtype, ANY_DTYPE))
    length = context.fresh()
    if stride.constant is not None and stride.constant != 0:
        length = ceildiv(last - first, stride)
    if length.constant is not None:
        length = Dim.of(max(length.constant, 0))
    elif first != 0 and not context.is_at_least(length, 0):
        length = context.fresh()  # it is empty where the end lies before the start
    return TensorType(Shape.of(length), dtype_or(dtype, INT))


@op("numpy.linspace", "numpy.linspace", formula="y[i] = start + i (stop - start)/(num - 1)")
def linspace(
    context: Context,
    start: Value,
    stop: Value,
    num: Value = FIFTY,
    endpoint: Value = True,
    retstep: Value = False,
    dtype: Value = None,
    axis: Value = ZERO,
) -> Value:
    if retstep is not False:
        return UNKNOWN
    if not is_scalar(start) or not is_scalar(stop):
        return context.unknown_tensor(dtype_or(dtype, ANY_DTYPE))
    return TensorType(size_shape(context, "linspace", (num,)), dtype_or(dtype, FLOAT64))


def is_scalar(value: Value) -> bool:
    """Whether a value is a number without axes."""
    return isinstance(value, Ratio) or is_number(value)


def _declare_data(name: str) -> None:
    @op(f"numpy.{name}", f"numpy.{name}", formula="y = data, lists of arrays stacked")
    def rule(context: Context, a: Value, dtype: Value = None, *args: Value, **options: Value) -> Value:
        if options.get("ndmin") is not None or args:
            return context.unknown_tensor()
        try:
            shape, own = _data(context, a)
        except ShapeError:  # rows of different lengths: an array of objects, where it is one
            return context.unknown_tensor()
        is_nested = any(isinstance(row, (tuple, Many)) for row in listed(a) or ())
        if is_nested and dtype is not None and not isinstance(dtype, DType):
            return context.unknown_tensor()  # a row may be one element, a record
        return TensorType(shape, dtype_or(dtype, own), joined=isinstance(a, TensorType) and a.joined)


def _data(context: Context, data: Value) -> tuple[Shape, DType]:
    """Shape and dtype of the array that nested lists make, whose items may be arrays."""
    rows = listed(data)
    if rows and any(isinstance(row, TensorType) for row in rows):
        arrays = arrays_of(rows)
        if not isinstance(arrays, tuple) or any(array.shape != arrays[0].shape for array in arrays):
            return Shape.of(context.fresh_pack()), ANY_DTYPE
        return Shape((Dim.of(len(rows)), *arrays[0].shape.axes)), ANY_DTYPE
    if isinstance(data, Many) and isinstance(data.element, TensorType):
        return Shape((data.length, *data.element.shape.axes)), ANY_DTYPE
    if rows and any(isinstance(item, TensorType) for row in rows for item in listed(row) or ()):
        return Shape.of(context.fresh_pack()), ANY_DTYPE
    shape, dtype = data_type(context, data)
    if isinstance(data, TensorType) or rows == ():
        return shape, dtype if rows is None else FLOAT64
    if dtype.is_all(INTEGERS):
        return shape, INT
    return shape, FLOAT64 if dtype.is_all(FLOATS) else BOOLEAN if dtype == BOOLEAN else ANY_DTYPE


for _name in ("array", "asarray", "ascontiguousarray", "asanyarray"):
    _declare_data(_name)


# Random numbers


def _declare_random(name: str, distribution: str) -> None:
    @op(f"numpy.random.{name}", f"numpy.random.{name}", formula=distribution)
    def rule(context: Context, *sizes: Value) -> Value:
        return TensorType(size_shape(context, name, (sizes,)), FLOAT64) if sizes else UNKNOWN


_declare_random("rand", "y uniform in [0, 1)")
_declare_random("randn", "y standard normal")


def _declare_drawn(name: str, formula: str) -> None:
    @op(f"numpy.random.{name}", f"numpy.random.{name}", formula=formula)
    def rule(context: Context, first: Value = None, second: Value = None, size: Value = None) -> Value:
        return UNKNOWN if size is None else TensorType(size_shape(context, name, (size,)), FLOAT64)


_declare_drawn("uniform", "y uniform in [low, high)")
_declare_drawn("normal", "y normal")
_declare_drawn("beta", "y of a beta distribution")


@op("numpy.random.random", "numpy.random.random", "numpy.random.random_sample", formula="y uniform in [0, 1)")
def random(context: Context, size: Value = None) -> Value:
    return UNKNOWN if size is None else TensorType(size_shape(context, "random", (size,)), FLOAT64)


@op("numpy.random.randint", "numpy.random.randint", formula="y uniform among low, ..., high-1")
def randint(context: Context, low: Value, high: Value = None, size: Value = None, dtype: Value = None) -> Value:
    return UNKNOWN if size is None else TensorType(size_shape(context, "randint", (size,)), dtype_or(dtype, INT))


@op("numpy.random.choice", "numpy.random.choice", formula="elements of a, drawn")
def choice(context: Context, a: Value, size: Value = None, replace: Value = True, p: Value = None) -> Value:
    return UNKNOWN if size is None else TensorType(size_shape(context, "choice", (size,)), ANY_DTYPE)


@op("numpy.random.permutation", "numpy.random.permutation", formula="a in a random order along axis 0")
def permutation(context: Context, x: Value) -> Value:
    if isinstance(x, TensorType):
        # A scalar is a number of elements.
        return x if x.shape.least_rank > 0 else context.unknown_tensor()
    return TensorType(Shape.of(x), INT) if isinstance(x, Dim) else UNKNOWN
