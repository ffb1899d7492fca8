"""New tensors: filled, ranges, identity, windows, and from data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.devices import device_name
from shaped.spec.dims import ONE, ZERO, Dim, ceildiv
from shaped.spec.dtype_demands import FLOATING, has_elements, require_allowed
from shaped.spec.dtypes import ANY_DTYPE, FLOAT32, FLOATS, DType
from shaped.spec.facts import Status
from shaped.spec.number_range import fits_result
from shaped.spec.op import op
from shaped.spec.ops.arguments import spread
from shaped.spec.promotion import category, is_number, number_dtype, promote, requested
from shaped.spec.shape import Shape
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.dtype_demands import Call, Demands


def size_shape(context: Context, operation: str, sizes: tuple[Value, ...], size: Value = None) -> Shape:
    """The shape that `f(2, 3)`, `f((2, 3))` or `f(size=(2, 3))` asks for.

    Raises:
        ShapeError: a size is negative.
    """
    values = spread(sizes if size is None else (size,))
    if values is None:
        return Shape.of(context.fresh_pack())
    dims = tuple(value if isinstance(value, Dim) else context.fresh() for value in values)
    for dim in dims:
        # What is subtracted may be too much; a sum of sizes is no negative size.
        is_difference = any(coefficient < 0 for _, coefficient in dim.terms)
        if is_difference and context.facts.at_least(dim, 0).status is Status.NEVER:
            raise ShapeError(operation, f"size {dim} is negative", str(Shape(dims)), dims=(dim,))
    return Shape(dims)


def created(shape: Shape, dtype: Value, default: DType, device: Value) -> TensorType:
    """A new tensor with the dtype and device that a call asks for."""
    return TensorType(shape, requested(dtype, default), device_name(device))


def _draws_floats(call: Call) -> None:
    if has_elements(call.result):
        require_allowed(call.name, "the result", call.result, FLOATING)


def _declare_filled(name: str, formula: str, dtypes: Demands = ()) -> None:
    @op(name, f"torch.{name}", formula=formula, dtypes=dtypes)
    def rule(
        context: Context,
        *sizes: Value,
        size: Value = None,
        generator: Value = None,
        out: Value = None,
        dtype: Value = None,
        layout: Value = None,
        device: Value = None,
        requires_grad: Value = False,
        pin_memory: Value = False,
        memory_format: Value = None,
        names: Value = None,
    ) -> Value:
        return created(size_shape(context, name, sizes, size), dtype, FLOAT32, device)

    @op(f"{name}_like", f"torch.{name}_like", formula=f"{formula}, of the shape of x", dtypes=dtypes)
    def like(
        context: Context,
        input: TensorType,
        *,
        generator: Value = None,
        dtype: Value = None,
        layout: Value = None,
        device: Value = None,
        requires_grad: Value = False,
        memory_format: Value = None,
        pin_memory: Value = False,
    ) -> Value:
        return like_input(input, dtype, device)


def like_input(input: TensorType, dtype: Value, device: Value) -> TensorType:
    """A new tensor of the shape of `input`, and of its dtype and device unless the call asks for others."""
    like = created(input.shape, dtype, input.dtype, input.device if device is None else device)
    return TensorType(like.shape, like.dtype, like.device, input.joined)


def _declare_new(name: str, formula: str) -> None:
    @op(f"new_{name}", f"Tensor.new_{name}", formula=formula)
    def rule(
        context: Context,
        input: TensorType,
        *sizes: Value,
        size: Value = None,
        dtype: Value = None,
        device: Value = None,
        layout: Value = None,
        pin_memory: Value = False,
        requires_grad: Value = False,
    ) -> Value:
        shape = size_shape(context, f"new_{name}", sizes, size)
        return created(shape, dtype, input.dtype, input.device if device is None else device)


_declare_filled("zeros", "y = 0")
_declare_filled("ones", "y = 1")
_declare_filled("empty", "y is not set")
_declare_filled("rand", "y uniform in [0, 1)", (_draws_floats,))
_declare_filled("randn", "y standard normal", (_draws_floats,))
for _name, _formula in [("zeros", "y = 0"), ("ones", "y = 1"), ("empty", "y is not set")]:
    _declare_new(_name, f"{_formula}, with the dtype of x")


@op("new_full", "Tensor.new_full", formula="y = value, with the dtype of x", dtypes=fits_result("fill_value"))
def new_full(
    context: Context,
    input: TensorType,
    size: Value,
    fill_value: Value,
    *,
    dtype: Value = None,
    device: Value = None,
    layout: Value = None,
    pin_memory: Value = False,
    requires_grad: Value = False,
) -> Value:
    shape = size_shape(context, "new_full", (size,))
    return created(shape, dtype, input.dtype, input.device if device is None else device)


@op("full", "torch.full", formula="y = value", dtypes=fits_result("fill_value"))
def full(
    context: Context,
    size: Value,
    fill_value: Value,
    *,
    out: Value = None,
    dtype: Value = None,
    layout: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    pin_memory: Value = False,
    names: Value = None,
) -> Value:
    default = fill_value.dtype if isinstance(fill_value, TensorType) else number_dtype(fill_value) or ANY_DTYPE
    return created(size_shape(context, "full", (size,)), dtype, default, device)


@op("full_like", "torch.full_like", formula="y = value, of the shape of x", dtypes=fits_result("fill_value"))
def full_like(
    context: Context,
    input: TensorType,
    fill_value: Value,
    *,
    dtype: Value = None,
    layout: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    memory_format: Value = None,
    pin_memory: Value = False,
) -> Value:
    return like_input(input, dtype, device)


@op("empty_strided", "torch.empty_strided", formula="y is not set")
def empty_strided(
    context: Context,
    size: Value,
    stride: Value,
    *,
    dtype: Value = None,
    layout: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    pin_memory: Value = False,
) -> Value:
    return created(size_shape(context, "empty_strided", (size,)), dtype, FLOAT32, device)


@op("new_empty_strided", "Tensor.new_empty_strided", formula="y is not set, with the dtype of x")
def new_empty_strided(
    context: Context,
    input: TensorType,
    size: Value,
    stride: Value,
    *,
    dtype: Value = None,
    device: Value = None,
    layout: Value = None,
    requires_grad: Value = False,
    pin_memory: Value = False,
) -> Value:
    shape = size_shape(context, "new_empty_strided", (size,))
    return created(shape, dtype, input.dtype, input.device if device is None else device)


@op("arange", "torch.arange", formula="y[i] = start + i step")
def arange(
    context: Context,
    *bounds: Value,
    start: Value = None,
    end: Value = None,
    step: Value = None,
    out: Value = None,
    dtype: Value = None,
    layout: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    pin_memory: Value = False,
) -> Value:
    given = list(bounds)
    if len(given) == 1 and end is None:
        end = given.pop()
    else:
        for value in given:
            if start is None:
                start = value
            elif end is None:
                end = value
            else:
                step = value
    start = ZERO if start is None else start
    step = ONE if step is None else step
    result = created(Shape(()), dtype, _range_dtype(start, end, step), device)
    whole = all(isinstance(bound, Dim) for bound in (start, end, step))
    # In an integer dtype torch truncates fractions before it counts.
    counted = whole or result.dtype.is_all(FLOATS)
    return result.with_shape(Shape.of(_range_length(context, start, end, step) if counted else context.fresh()))


def _range_dtype(*bounds: Value) -> DType:
    dtype: DType | None = None
    for bound in bounds:
        own = bound.dtype if isinstance(bound, TensorType) else number_dtype(bound) or ANY_DTYPE
        dtype = own if dtype is None else promote(dtype, own)
    assert dtype is not None
    return DType(frozenset("int64" if category(name) < 2 else "float32" for name in dtype.names))


def _range_length(context: Context, start: Value, end: Value, step: Value) -> Dim:
    if isinstance(start, Dim) and isinstance(end, Dim) and isinstance(step, Dim):
        sign = step.constant
        if sign == 0:
            raise ShapeError("arange", "step is 0")
        span = end - start
        if sign is not None and span.constant is not None and span.constant * sign < 0:
            raise ShapeError("arange", f"from {start} there is no way to {end} in steps of {step}")
        return ceildiv(span, step)
    numbers = [bound.constant if isinstance(bound, Dim) else bound for bound in (start, end, step)]
    first, last, stride = (float(n) if isinstance(n, (int, float)) else None for n in numbers)
    if first is None or last is None or not stride:
        return context.fresh()
    length = (last - first) / stride
    if length < 0:
        raise ShapeError("arange", f"from {first} there is no way to {last} in steps of {stride}")
    return Dim.of(math.ceil(length)) if math.isfinite(length) else context.fresh()


def _declare_spaced(name: str, formula: str) -> None:
    @op(name, f"torch.{name}", formula=formula)
    def rule(
        context: Context,
        start: Value,
        end: Value,
        steps: Value,
        base: Value = None,
        *,
        out: Value = None,
        dtype: Value = None,
        layout: Value = None,
        device: Value = None,
        requires_grad: Value = False,
        pin_memory: Value = False,
    ) -> Value:
        if any(isinstance(end_, TensorType) and end_.shape.least_rank for end_ in (start, end)):
            raise ShapeError(name, "start and end have no axes")
        shape = size_shape(context, name, (steps if isinstance(steps, Dim) else context.fresh(),))
        return created(shape, dtype, _spaced_dtype(start, end), device)


def _spaced_dtype(start: Value, end: Value) -> DType:
    numbers = all(is_number(bound) for bound in (start, end))
    return FLOAT32 if numbers else DType(frozenset(["float32", "float64", "complex64", "complex128"]))


_declare_spaced("linspace", "y[i] = start + i (end - start)/(steps - 1)")
_declare_spaced("logspace", "y[i] = base^linspace")


@op("eye", "torch.eye", formula="y[i, j] = 1 if i = j else 0")
def eye(
    context: Context,
    n: Value,
    m: Value = None,
    *,
    out: Value = None,
    dtype: Value = None,
    layout: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    pin_memory: Value = False,
) -> Value:
    rows = n if isinstance(n, Dim) else context.fresh()
    columns = rows if m is None else m if isinstance(m, Dim) else context.fresh()
    return created(size_shape(context, "eye", (rows, columns)), dtype, FLOAT32, device)


def _declare_window(name: str, formula: str) -> None:
    @op(name, f"torch.{name}", formula=formula)
    def rule(
        context: Context,
        window_length: Value,
        periodic: Value = True,
        alpha: Value = None,
        beta: Value = None,
        *,
        dtype: Value = None,
        layout: Value = None,
        device: Value = None,
        requires_grad: Value = False,
        pin_memory: Value = False,
    ) -> Value:
        length = window_length if isinstance(window_length, Dim) else context.fresh()
        return created(size_shape(context, name, (length,)), dtype, FLOAT32, device)


for _name in ("hann", "hamming", "bartlett", "blackman", "kaiser"):
    _declare_window(f"{_name}_window", f"the {_name.capitalize()} window")
