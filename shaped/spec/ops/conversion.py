"""Dtype, device and Python values: what leaves the shape as it is, and what is asked of a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import DeviceError, Fault, ShapeError
from shaped.spec.broadcast import broadcast, is_joined, uncertain_if_joined
from shaped.spec.devices import are_two, device_name
from shaped.spec.dims import ONE, Dim
from shaped.spec.dtype_demands import require_differentiable
from shaped.spec.dtypes import ALIASES, ANY, ANY_DTYPE, BOOL, COMPLEX, FLOATS, INTEGERS, UNSIGNED, DType
from shaped.spec.op import op
from shaped.spec.pointwise import pointwise_op, require_fits
from shaped.spec.promotion import DTYPE_BITS, excluding, requested, result_type
from shaped.spec.values import UNKNOWN, Device, Ratio, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context


def _with_device(input: TensorType, device: str | None) -> TensorType:
    return TensorType(input.shape, input.dtype, device, input.joined)


def _declare_same(name: str, *torch: str, formula: str = "y = x", in_place: tuple[str, ...] = ()) -> None:
    @op(name, *torch, formula=formula, in_place=in_place)
    def rule(context: Context, input: TensorType, *args: Value, **options: Value) -> Value:
        return input


def _moved(input: TensorType, device: str | None) -> TensorType:
    """The tensor on another device.

    Raises:
        DeviceError: a tensor without data is to be copied to where data is.
    """
    if input.device == "meta" and are_two(input.device, device):
        raise DeviceError("to", "a tensor on meta has no data", f"{input} on meta to {device}", "torch.empty_like(x)?")
    return _with_device(input, device)


def require_data_on_cpu(operation: str, input: TensorType) -> None:
    """Demand that NumPy can read the tensor.

    Raises:
        DeviceError: it is on another device.
        DtypeError: NumPy has no such dtype.
    """
    if are_two(input.device, "cpu"):
        raise DeviceError(
            operation, f"NumPy reads no tensor on {input.device}", f"{input} on {input.device}", ".cpu()?"
        )
    excluding(operation, input.dtype, ["bfloat16"], "is no dtype of NumPy", ".float()?")


_declare_same("clone", "torch.clone", "Tensor.clone")
_declare_same("detach", "torch.detach", "Tensor.detach", "Tensor.data")
_declare_same("detach_", in_place=("torch.detach_", "Tensor.detach_"))
_declare_same("contiguous", "Tensor.contiguous")
_declare_same("share_memory_", in_place=("Tensor.share_memory_",))
_declare_same("pin_memory", "Tensor.pin_memory")
_declare_same("as_subclass", "Tensor.as_subclass")
_declare_same("coalesce", "Tensor.coalesce")
_declare_same("to_dense", "Tensor.to_dense", "Tensor.dequantize")
_declare_same("zero_", in_place=("torch.zero_", "Tensor.zero_"), formula="y = 0")
_declare_same("__deepcopy__", "Tensor.__deepcopy__")


def _declare_cast(method: str, dtype: DType) -> None:
    @op(method, f"Tensor.{method}", formula=f"y = x as {dtype}")
    def rule(context: Context, input: TensorType, memory_format: Value = None) -> Value:
        return input.with_dtype(dtype)


for _method in [
    *("float", "double", "half", "bfloat16", "bool", "byte", "char", "short", "int", "long"),
    *("cfloat", "cdouble", "chalf"),
]:
    _declare_cast(_method, DType.named({"byte": "uint8", "char": "int8"}.get(_method, _method)))


@op("requires_grad_", in_place=("Tensor.requires_grad_",), formula="y = x, whose gradient is kept")
def requires_grad_(context: Context, input: TensorType, requires_grad: Value = True) -> Value:
    if requires_grad is True:
        require_differentiable("requires_grad_", input)
    return input


@op("to", "Tensor.to", formula="y = x with another dtype or device")
def to(
    context: Context,
    input: TensorType,
    *args: Value,
    dtype: Value = None,
    device: Value = None,
    other: Value = None,
    non_blocking: Value = False,
    copy: Value = False,
    memory_format: Value = None,
) -> Value:
    result = input
    for arg in (*args, dtype, device, other):
        match arg:
            case DType():
                result = result.with_dtype(arg)
            case str() | Device():
                result = _moved(result, device_name(arg))
            case TensorType():
                result = _moved(result.with_dtype(arg.dtype), arg.device)
            case None | bool():
                pass
            case Dim():
                result = _with_device(result, None)
            case _ if arg is device and device is not None:
                result = _with_device(result, None)
            case _ if any(isinstance(given, DType) for given in (*args, dtype)):
                result = _with_device(result, None)
            case _:
                # A device, a dtype or a tensor: the dtype may become any.
                result = _with_device(result.with_dtype(ANY_DTYPE), None)
    return result


@op("cpu", "Tensor.cpu", formula="y = x on the CPU")
def cpu(context: Context, input: TensorType, memory_format: Value = None) -> Value:
    return _moved(input, "cpu")


@op("cuda", "Tensor.cuda", formula="y = x on a GPU")
def cuda(
    context: Context,
    input: TensorType,
    device: Value = None,
    non_blocking: Value = False,
    memory_format: Value = None,
) -> Value:
    if device is None:
        return _moved(input, "cuda")
    return _moved(
        input,
        f"cuda:{device.constant}" if isinstance(device, Dim) and device.constant is not None else device_name(device),
    )


@op("type", "Tensor.type", formula="y = x with another dtype")
def type_(context: Context, input: TensorType, dtype: Value = None, non_blocking: Value = False) -> Value:
    match dtype:
        case None:
            return UNKNOWN
        case str():
            name = dtype.rsplit(".", 1)[-1].removesuffix("Tensor").lower()
            name = ALIASES.get(name, {"byte": "uint8", "char": "int8"}.get(name, name))
            return input.with_dtype(DType.named(name) if name in ANY else ANY_DTYPE)
        case _:
            return input.with_dtype(requested(dtype, input.dtype))


@op("type_as", "Tensor.type_as", formula="y = x with the dtype of other")
def type_as(context: Context, input: TensorType, other: TensorType) -> Value:
    return _moved(input.with_dtype(other.dtype), other.device)


@op("result_type", "torch.result_type", formula="the dtype of x + y")
def result_type_(context: Context, tensor1: Value, tensor2: Value) -> Value:
    return result_type(tensor1, tensor2)


@pointwise_op("copy", formula="y = source", in_place=("Tensor.copy_",))
def copy(context: Context, input: TensorType, src: TensorType, non_blocking: Value = False) -> Value:
    _moved(src, input.device)
    shape = broadcast(context, "copy_", input, src, operands=f"{input}, source {src}")
    return TensorType(shape, input.dtype, input.device, is_joined(input, src))


def _only_element(
    context: Context, operation: str, input: TensorType, what: str, *, certain: bool, hint: str = ""
) -> None:
    count = input.shape.numel
    if count is None:
        return

    def fault() -> Fault:
        dims = tuple(dim for dim in input.shape.dims if dim != 1)
        return ShapeError(operation, f"{what}, not {count}", str(input), hint=hint, dims=dims)

    if context.is_never_equal(count, ONE):
        raise fault()
    if certain:
        with uncertain_if_joined(context, input):
            context.require_equal(count, ONE, fault)


def python_number(context: Context, dtype: DType) -> Value:
    """A Python number of which only the kind is known: a size, a quotient or UNKNOWN."""
    if dtype.is_all(INTEGERS):
        return context.fresh(low=0 if dtype.is_all(UNSIGNED) else None)
    if dtype.is_all(FLOATS):
        return Ratio(context.fresh(low=None), context.fresh(low=1))
    return UNKNOWN


@op("item", "Tensor.item", formula="the only element")
def item(context: Context, input: TensorType) -> Value:
    _only_element(context, "item", input, "exactly 1 element is needed", certain=False)
    return python_number(context, input.dtype)


@op("int_of", "Tensor.__int__", "Tensor.__index__", formula="the only element as an int")
def int_of(context: Context, input: TensorType) -> Value:
    _only_element(context, "int", input, "exactly 1 element is needed", certain=False)
    return context.fresh(low=None)


@op("float_of", "Tensor.__float__", formula="the only element as a float")
def float_of(context: Context, input: TensorType) -> Value:
    _only_element(context, "float", input, "exactly 1 element is needed", certain=False)
    return python_number(context, DType(FLOATS))


@op("bool_of", "Tensor.__bool__", formula="the only element is not 0")
def bool_of(context: Context, input: TensorType) -> Value:
    _only_element(context, "bool", input, "only 1 element has a truth value", certain=False, hint=".any() or .all()?")
    return UNKNOWN


@op("numpy", "Tensor.numpy", "Tensor.__array__", formula="an array of the elements")
def numpy(context: Context, input: TensorType, *args: Value, **options: Value) -> Value:
    require_data_on_cpu("numpy", input)
    # The methods of an array mean other things than those of a tensor: `max`, `repeat`, `transpose`, `size`.
    return UNKNOWN


@op("tolist", "Tensor.tolist", formula="nested lists of the elements")
def tolist(context: Context, input: TensorType) -> Value:
    _moved(input, "cpu")
    return UNKNOWN


@op("numel", "torch.numel", "Tensor.numel", "Tensor.nelement", formula="the number of elements")
def numel(context: Context, input: TensorType) -> Value:
    count = input.shape.numel
    return context.fresh() if count is None else count


@op("dim", "Tensor.dim", "Tensor.ndimension", "Tensor.ndim", formula="the number of axes")
def dim_(context: Context, input: TensorType) -> Value:
    rank = input.shape.rank
    return context.fresh(low=input.shape.least_rank) if rank is None else Dim.of(rank)


@op("size", "Tensor.size", formula="the shape, or the size of an axis")
def size(context: Context, input: TensorType, dim: Value = None) -> Value:
    if dim is None:
        return UNKNOWN if input.shape.rank is None else input.shape.dims
    if input.shape.rank == 0:
        raise ShapeError("size", "a tensor without axes has no sizes", str(input))
    axis = context.axis("size", input, dim)
    found = None if axis is None else input.shape.at(axis)
    return context.fresh() if found is None else found


@op("Tensor.shape", "Tensor.shape", formula="the sizes")
def shape(context: Context, input: TensorType) -> Value:
    return size(context, input)


@op("len", "Tensor.__len__", formula="the size of the first axis")
def len_(context: Context, input: TensorType) -> Value:
    if input.shape.rank == 0:
        raise ShapeError("len", "a tensor without axes has no length", str(input))
    found = input.shape.at(0)
    return context.fresh() if found is None else found


@op("dtype", "Tensor.dtype", formula="the dtype")
def dtype_(context: Context, input: TensorType) -> Value:
    return input.dtype


@op("device", "Tensor.device", formula="the device")
def device_(context: Context, input: TensorType) -> Value:
    return Device(input.device)


@op("element_size", "Tensor.element_size", "Tensor.itemsize", formula="the bytes of an element")
def element_size(context: Context, input: TensorType) -> Value:
    name = input.dtype.single
    return context.fresh(low=1) if name is None else Dim.of(max(DTYPE_BITS[name] // 8, 1))


def _declare_dtype_question(name: str, names: frozenset[str], *torch: str, formula: str) -> None:
    @op(name, *torch, formula=formula)
    def rule(context: Context, input: TensorType) -> Value:
        if input.dtype.is_all(names):
            return True
        return UNKNOWN if input.dtype.may_be(names) else False


for _name, _names, _formula in [
    ("is_floating_point", FLOATS, "the dtype is a float dtype"),
    ("is_complex", COMPLEX, "the dtype is complex"),
    ("is_signed", ANY - UNSIGNED - BOOL, "the dtype has negative numbers"),
]:
    _declare_dtype_question(_name, _names, f"torch.{_name}", f"Tensor.{_name}", formula=_formula)


@op("is_tensor", "torch.is_tensor", formula="x is a tensor")
def is_tensor(context: Context, obj: Value) -> Value:
    return UNKNOWN if obj is UNKNOWN else isinstance(obj, TensorType)


def _declare_layout_question(name: str, formula: str) -> None:
    @op(name, f"Tensor.{name}", formula=formula)
    def rule(context: Context, input: TensorType, *args: Value, **options: Value) -> Value:
        return UNKNOWN


for _name, _formula in [
    ("stride", "the distance in memory between neighbours along an axis"),
    ("is_contiguous", "elements lie in memory in their order"),
    ("data_ptr", "the address of the first element"),
    ("storage_offset", "the position of the first element in its storage"),
    ("get_device", "the number of the device"),
]:
    _declare_layout_question(_name, _formula)


@op("testing.assert_close", "torch.testing.assert_close", formula="every |x - y| is small")
def assert_close(context: Context, actual: Value, expected: Value, **options: Value) -> Value:
    return None


@op("is_same_size", "torch.is_same_size", "Tensor.is_same_size", formula="x and y have the same shape")
def is_same_size(context: Context, input: TensorType, other: TensorType) -> Value:
    return UNKNOWN


@op("backward", "Tensor.backward", formula="gradients of x")
def backward(
    context: Context,
    input: TensorType,
    gradient: Value = None,
    retain_graph: Value = None,
    create_graph: Value = False,
    inputs: Value = None,
) -> Value:
    if gradient is None:
        what = "only 1 element has an implicit gradient"
        _only_element(context, "backward", input, what, certain=True)
    elif isinstance(gradient, TensorType):
        require_fits(context, "backward", input, gradient)
    return None


@op("retain_grad", "Tensor.retain_grad", formula="keep the gradient of x")
def retain_grad(context: Context, input: TensorType) -> Value:
    return None
