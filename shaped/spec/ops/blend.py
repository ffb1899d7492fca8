"""Functions of three elements: clamping, interpolation, products that are added, and filling under a mask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import DtypeError, ShapeError
from shaped.spec.broadcast import broadcast, is_joined
from shaped.spec.dims import Dim
from shaped.spec.dtype_demands import FLOATING, require_allowed
from shaped.spec.dtypes import BOOL, COMPLEX, INTEGERS, DType
from shaped.spec.number_range import fits_input, fits_result
from shaped.spec.op import op
from shaped.spec.ops.arguments import require_expands
from shaped.spec.ops.creation import size_shape
from shaped.spec.pointwise import as_tensor, pointwise, pointwise_op
from shaped.spec.promotion import as_float, as_real, as_sum, excluding, is_number, result_type
from shaped.spec.shape import Shape
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.dtype_demands import Call

_WHOLE = INTEGERS | BOOL


def _clamp(context: Context, operation: str, input: TensorType, *bounds: Value) -> Value:
    def dtype(promoted: DType) -> DType:
        return excluding(operation, promoted, COMPLEX, "tensors have no order")

    return pointwise(context, operation, input, *(bound for bound in bounds if bound is not None), dtype=dtype)


def _declare_clamp(name: str) -> None:
    @pointwise_op(
        name,
        f"torch.{name}",
        f"Tensor.{name}",
        formula="y = min(max(x, min), max)",
        in_place=(f"Tensor.{name}_", f"torch.{name}_"),
        dtypes=fits_result("min", "max"),  # a float bound of integers makes them float32
    )
    def rule(context: Context, input: TensorType, min: Value = None, max: Value = None, *, out: Value = None) -> Value:
        return _clamp(context, name, input, min, max)


_declare_clamp("clamp")
_declare_clamp("clip")


@pointwise_op(
    "clamp_min",
    "torch.clamp_min",
    "Tensor.clamp_min",
    formula="y = max(x, min)",
    in_place=("Tensor.clamp_min_", "torch.clamp_min_"),
    dtypes=fits_result("min"),
)
def clamp_min(context: Context, input: TensorType, min: Value, *, out: Value = None) -> Value:
    return _clamp(context, "clamp_min", input, min)


@pointwise_op(
    "clamp_max",
    "torch.clamp_max",
    "Tensor.clamp_max",
    formula="y = min(x, max)",
    in_place=("Tensor.clamp_max_", "torch.clamp_max_"),
    dtypes=fits_result("max"),
)
def clamp_max(context: Context, input: TensorType, max: Value, *, out: Value = None) -> Value:
    return _clamp(context, "clamp_max", input, max)


def _weighs_floats(call: Call) -> None:
    if not isinstance(call.arguments.get("weight"), TensorType):  # a tensor as weight makes a float of any input
        require_allowed(call.name, "input", call.arguments.get("input"), FLOATING)


@pointwise_op(
    "lerp",
    "torch.lerp",
    "Tensor.lerp",
    formula="y = x + w (end - x)",
    in_place=("Tensor.lerp_",),
    dtypes=(_weighs_floats,),
)
def lerp(context: Context, input: TensorType, end: TensorType, weight: Value, *, out: Value = None) -> Value:
    # The dtypes have to be the same; a Python number as weight has none.
    tensors = (input, end, *((weight,) if isinstance(weight, TensorType) else ()))
    for tensor in tensors[1:]:
        if not input.dtype.names & tensor.dtype.names and tensor.shape.least_rank and input.shape.least_rank:
            raise DtypeError("lerp", f"dtypes {input.dtype} and {tensor.dtype} differ")
    return pointwise(context, "lerp", input, end, weight)


@pointwise_op("addcmul", "torch.addcmul", "Tensor.addcmul", formula="y = x + value a b", in_place=("Tensor.addcmul_",))
def addcmul(
    context: Context,
    input: TensorType,
    tensor1: Value,
    tensor2: Value,
    *,
    value: Value = None,
    out: Value = None,
) -> Value:
    return pointwise(context, "addcmul", input, tensor1, tensor2)


@pointwise_op("addcdiv", "torch.addcdiv", "Tensor.addcdiv", formula="y = x + value a/b", in_place=("Tensor.addcdiv_",))
def addcdiv(
    context: Context,
    input: TensorType,
    tensor1: Value,
    tensor2: Value,
    *,
    value: Value = None,
    out: Value = None,
) -> Value:
    parts = [part.dtype for part in (tensor1, tensor2) if isinstance(part, TensorType)]
    if len(parts) == 2 and all(dtype.is_all(_WHOLE) for dtype in parts):
        raise DtypeError("addcdiv", "integers are not divided here", hint="convert one to a float dtype")
    return pointwise(context, "addcdiv", input, tensor1, tensor2)


@pointwise_op(
    "masked_fill",
    "torch.masked_fill",
    "Tensor.masked_fill",
    formula="y = value where the mask holds, else x",
    in_place=("Tensor.masked_fill_",),
    dtypes=fits_input("value"),
)
def masked_fill(context: Context, input: TensorType, mask: TensorType, value: Value) -> Value:
    excluding("masked_fill", mask.dtype, mask.dtype.names - BOOL, "mask, a bool mask is needed", ".bool()?")
    if isinstance(value, TensorType) and value.shape.least_rank:
        raise ShapeError("masked_fill", f"the value has no axes, not {value.shape}", f"{input}, mask {mask}")
    shape = broadcast(context, "masked_fill", input, mask, operands=f"{input}, mask {mask}")
    dtype = input.dtype if is_number(value) else result_type(input, as_tensor(context, value))
    return TensorType(shape, DType(dtype.names | input.dtype.names), input.device, is_joined(input, mask))


@pointwise_op(
    "fill", "torch.fill", formula="y = value", in_place=("Tensor.fill_", "torch.fill_"), dtypes=fits_input("value")
)
def fill(context: Context, input: TensorType, value: Value) -> Value:
    if isinstance(value, TensorType) and value.shape.least_rank:
        raise ShapeError("fill", f"the value has no axes, not {value.shape}", str(input))
    return input


@op("dist", "torch.dist", "Tensor.dist", formula="y = |x - other|")
def dist(context: Context, input: TensorType, other: TensorType, p: Value = None) -> Value:
    difference = pointwise(context, "dist", input, other, symbol=" - ")
    if not isinstance(difference, TensorType):
        return difference
    return difference.with_shape(Shape(())).with_dtype(as_real(as_float(difference.dtype)))


@op("sum_to_size", "Tensor.sum_to_size", formula="y = x summed to a shape that broadcasts to it")
def sum_to_size(context: Context, input: TensorType, *size: Value) -> Value:
    # Where nothing is summed the dtype stays, also for integers.
    dtype = DType(input.dtype.names | as_sum(input.dtype).names)
    shape = size_shape(context, "sum_to_size", size)
    operands = f"{input} to {shape}"
    if shape.rank is not None and input.shape.rank is not None and shape.rank > input.shape.rank:
        raise ShapeError("sum_to_size", f"the input has {input.shape.rank} axes, the result {shape.rank}", operands)

    def fault(own: Dim, wanted: Dim) -> ShapeError:
        return ShapeError("sum_to_size", f"sizes {own} and {wanted} differ", operands, dims=(own, wanted))

    require_expands(context, shape, input.shape, fault)
    return input.with_shape(shape).with_dtype(dtype)
