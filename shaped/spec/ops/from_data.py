"""Tensors from data: nested lists, arrays, numbers, and the old constructors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import Dim
from shaped.spec.dtypes import ANY_DTYPE, FLOAT32, DType
from shaped.spec.number_range import require_range
from shaped.spec.op import op
from shaped.spec.ops.creation import created, size_shape
from shaped.spec.promotion import number_dtype, promote
from shaped.spec.shape import Shape
from shaped.spec.values import Many, Ratio, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context


def _declare_from_data(name: str) -> None:
    @op(name, f"torch.{name}", formula="y = data")
    def rule(
        context: Context,
        data: Value,
        dtype: Value = None,
        device: Value = None,
        *,
        copy: Value = None,
        requires_grad: Value = False,
        pin_memory: Value = False,
    ) -> Value:
        shape, own = data_type(context, data)
        if device is None and isinstance(data, TensorType):
            device = data.device
        if name == "from_numpy":
            device = "cpu"
        if isinstance(dtype, DType):
            require_range(name, data, dtype)
        return _as_joined(created(shape, dtype, own, device), data)


for _name in ("tensor", "as_tensor", "asarray", "from_numpy", "scalar_tensor"):
    _declare_from_data(_name)


@op("new_tensor", "Tensor.new_tensor", formula="y = data, with the dtype of x")
def new_tensor(
    context: Context,
    input: TensorType,
    data: Value,
    *,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    layout: Value = None,
    pin_memory: Value = False,
) -> Value:
    return created(data_type(context, data)[0], dtype, input.dtype, input.device if device is None else device)


def _as_joined(made: TensorType, data: Value) -> TensorType:
    """The tensor, of a joined shape if what it is made of has one."""
    return replace(made, joined=True) if isinstance(data, TensorType) and data.joined else made


def data_type(context: Context, data: Value, place: str = "data") -> tuple[Shape, DType]:
    """Shape and dtype of the tensor that nested lists of numbers, an array or a tensor make.

    Args:
        data: the lists.
        place: what they are part of, for messages: `data[1]`.

    Raises:
        ShapeError: lists of one level have different lengths: at which indices.
    """
    match data:
        case TensorType():
            return data.shape, data.dtype
        case bool() | Dim() | int() | float() | Ratio():
            return Shape(()), number_dtype(data) or ANY_DTYPE
        case Many(element, length):
            shape, dtype = data_type(context, element, f"{place}[0]")
            return Shape((length, *shape.axes)), dtype
        case tuple():
            if not data:
                return Shape.of(0), FLOAT32
            parts = [data_type(context, item, f"{place}[{number}]") for number, item in enumerate(data)]
            shapes = [shape for shape, _ in parts]
            dtype = parts[0][1]
            for _, other in parts[1:]:
                dtype = promote(dtype, other)
            if any(isinstance(item, TensorType) and item.shape.rank != 0 for item in data):
                # A list of arrays is stacked, of tensors it is not.
                return Shape.of(context.fresh_pack()), ANY_DTYPE
            return Shape((Dim.of(len(data)), *_common(context, shapes, place).axes)), dtype
        case _:
            return Shape.of(context.fresh_pack()), ANY_DTYPE


def _common(context: Context, shapes: list[Shape], place: str) -> Shape:
    """The shape that all of them have; unknown sizes where they are not known to agree."""
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return first
    if any(shape.rank is None for shape in shapes):
        return Shape.of(context.fresh_pack())
    for number, shape in enumerate(shapes):
        _require_equal_lengths(first, shape, place, number)
    return Shape(
        tuple(
            sizes[0] if all(size == sizes[0] for size in sizes) else context.fresh()
            for sizes in zip(*(shape.dims for shape in shapes), strict=True)
        )
    )


def _require_equal_lengths(first: Shape, other: Shape, place: str, number: int) -> None:
    """Refuse entries of a list that are not lists of one length, at any level: says at which indices."""
    for level in range(max(len(first.dims), len(other.dims))):
        lengths = [shape.dims[level] if level < len(shape.dims) else None for shape in (first, other)]
        known = [None if length is None else length.constant for length in lengths]
        is_number = [length is None for length in lengths]
        if is_number[0] is is_number[1] and (None in known or known[0] == known[1]):
            continue
        below = "[0]" * level
        expected, found = ("a number" if length is None else f"a list of {length}" for length in lengths)
        raise ShapeError("tensor", f"{place}[{number}]{below} is {found}, where {place}[0]{below} is {expected}")


def _declare_legacy(name: str, dtype: DType) -> None:
    @op(name, f"torch.{name}", formula="y = data, or y of the given sizes")
    def rule(context: Context, *args: Value, device: Value = None) -> Value:
        if not args:
            return created(Shape.of(0), None, dtype, device)
        if all(isinstance(arg, Dim) for arg in args):
            return created(size_shape(context, name, args), None, dtype, device)
        data = args[0]
        if isinstance(data, TensorType):
            return _as_joined(created(data.shape, None, dtype, device), data)
        # A list of ints is data, a torch.Size is not: they look the same here.
        ambiguous = isinstance(data, tuple) and data and all(isinstance(item, Dim) for item in data)
        if not isinstance(data, (tuple, Many)) or ambiguous or isinstance(data, Many):
            return TensorType(Shape.of(context.fresh_pack()), dtype)
        return created(data_type(context, data)[0], None, dtype, device)


for _name, _dtype in [
    ("Tensor", "float32"),
    ("FloatTensor", "float32"),
    ("DoubleTensor", "float64"),
    ("HalfTensor", "float16"),
    ("BFloat16Tensor", "bfloat16"),
    ("LongTensor", "int64"),
    ("IntTensor", "int32"),
    ("ShortTensor", "int16"),
    ("CharTensor", "int8"),
    ("ByteTensor", "uint8"),
    ("BoolTensor", "bool"),
]:
    _declare_legacy(_name, DType.named(_dtype))
