"""Comparisons and logic: results of dtype bool, and the choice between two tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.broadcast import broadcast, is_joined
from shaped.spec.dtype_demands import CONDITION, require_allowed, takes
from shaped.spec.dtypes import BOOLEAN, INT64, DType
from shaped.spec.op import op
from shaped.spec.pointwise import as_tensor, pointwise, pointwise_op
from shaped.spec.promotion import common_device, is_number, result_type
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, Many, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.dtype_demands import Call


def _boolean(dtype: DType) -> DType:
    return BOOLEAN


# (name, operator, symbol, formula)
_COMPARISONS = [
    ("eq", "eq", "==", "z = x == y"),
    ("ne", "ne", "!=", "z = x != y"),
    ("lt", "lt", "<", "z = x < y"),
    ("le", "le", "<=", "z = x <= y"),
    ("gt", "gt", ">", "z = x > y"),
    ("ge", "ge", ">=", "z = x >= y"),
    ("not_equal", "", "!=", "z = x != y"),
    ("less", "", "<", "z = x < y"),
    ("less_equal", "", "<=", "z = x <= y"),
    ("greater", "", ">", "z = x > y"),
    ("greater_equal", "", ">=", "z = x >= y"),
    ("logical_and", "", "and", "z = x and y"),
    ("logical_or", "", "or", "z = x or y"),
    ("logical_xor", "", "xor", "z = x xor y"),
]


def _declare(name: str, operator: str, symbol: str, formula: str) -> None:
    operators = (f"Tensor.__{operator}__",) if operator else ()

    @pointwise_op(name, f"torch.{name}", f"Tensor.{name}", *operators, formula=formula, in_place=(f"Tensor.{name}_",))
    def rule(context: Context, input: Value, other: Value, *, out: Value = None) -> Value:
        return pointwise(context, name, input, other, dtype=_boolean, symbol=f" {symbol} ")


for _row in _COMPARISONS:
    _declare(*_row)


@op("isclose", "torch.isclose", "Tensor.isclose", formula="z = |x - y| <= atol + rtol |y|")
def isclose(
    context: Context,
    input: TensorType,
    other: TensorType,
    rtol: Value = None,
    atol: Value = None,
    equal_nan: Value = False,
) -> Value:
    return pointwise(context, "isclose", input, other, dtype=_boolean)


@op("allclose", "torch.allclose", "Tensor.allclose", formula="all |x - y| <= atol + rtol |y|")
def allclose(
    context: Context,
    input: TensorType,
    other: TensorType,
    rtol: Value = None,
    atol: Value = None,
    equal_nan: Value = False,
) -> Value:
    broadcast(context, "allclose", input, other)
    return UNKNOWN


@op("equal", "torch.equal", "Tensor.equal", formula="same shape and elements")
def equal(context: Context, input: TensorType, other: TensorType) -> Value:
    return UNKNOWN


def _condition_of_choice(call: Call) -> None:
    if "input" in call.arguments:  # a condition alone may be of any dtype
        require_allowed(call.name, "condition", call.arguments.get("condition"), CONDITION)


@op("where", "torch.where", formula="z = x where the condition holds, else y", dtypes=(_condition_of_choice,))
def where(
    context: Context, condition: TensorType, input: Value = None, other: Value = None, *, out: Value = None
) -> Value:
    if input is None and other is None:
        return found(context, condition)
    tensors = [condition, *(as_tensor(context, operand) for operand in (input, other) if not is_number(operand))]
    shape = broadcast(context, "where", *tensors)
    return TensorType(shape, result_type(input, other), common_device(tensors), is_joined(*tensors))


@op(
    "Tensor.where", "Tensor.where", formula="z = x where the condition holds, else y", dtypes=takes(condition=CONDITION)
)
def where_method(context: Context, input: TensorType, condition: TensorType, other: Value) -> Value:
    return where(context, condition, input, other)


def found(context: Context, condition: TensorType) -> Value:
    """The indices of true elements, one tensor for each axis: `nonzero(as_tuple=True)`."""
    indices = TensorType(Shape.of(context.fresh()), INT64, condition.device)
    rank = condition.shape.rank
    if rank is None:
        return Many(indices, context.fresh())
    return (indices,) * max(rank, 1)


@op("is_nonzero", "torch.is_nonzero", "Tensor.is_nonzero", formula="the only element is not 0")
def is_nonzero(context: Context, input: TensorType) -> Value:
    return UNKNOWN
