"""Operations that act on elements one by one: how they are declared and what they give."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, ParamSpec, cast

from shaped.errors import DtypeError, Fault, ShapeError
from shaped.spec.broadcast import broadcast, is_joined, uncertain_if_joined
from shaped.spec.op import op
from shaped.spec.promotion import category, common_device, is_number, result_type
from shaped.spec.provenance import carried
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shaped.spec.context import Context
    from shaped.spec.dtype_demands import Demands
    from shaped.spec.dtypes import DType

P = ParamSpec("P")


def keep(dtype: DType) -> DType:
    """The dtype as it is."""
    return dtype


def pointwise(
    context: Context,
    operation: str,
    *operands: Value,
    dtype: Callable[[DType], DType] = keep,
    symbol: str = ", ",
) -> Value:
    """The result of an operation on tensors and Python numbers, element by element.

    Args:
        context: the path.
        operation: its name in the message.
        operands: tensors, Python numbers, and what was not followed (which may be either).
        dtype: the dtype of the result for the promoted dtype of the operands.
        symbol: what stands between the operands in the message.

    Raises:
        Fault: the shapes do not broadcast.
    """
    tensors = [as_tensor(context, operand) for operand in operands if not is_number(operand)]
    if not tensors or not all(
        isinstance(operand, TensorType) or operand is UNKNOWN or is_number(operand) for operand in operands
    ):
        return UNKNOWN
    shape = tensors[0].shape if len(tensors) == 1 else broadcast(context, operation, *tensors, symbol=symbol)
    made = carried(operation, tensors)
    return TensorType(shape, dtype(result_type(*operands)), common_device(tensors), is_joined(*tensors), made=made)


def as_tensor(context: Context, value: Value) -> TensorType:
    """`value` as a tensor: of unknown axes where it was not followed."""
    if isinstance(value, TensorType):
        return value
    return TensorType.of() if is_number(value) else context.unknown_tensor()


def pointwise_op(
    name: str, *torch: str, formula: str = "", in_place: Sequence[str] = (), dtypes: Demands = ()
) -> Callable[[Callable[P, Value]], Callable[P, Value]]:
    """Declare an operation as `op` does, and its in-place form, whose result has the shape of the tensor it writes.

    The in-place form is the operation `name_`, of which torch demands the same dtypes.
    """

    def declare(rule: Callable[P, Value]) -> Callable[P, Value]:
        op(name, *torch, formula=formula, dtypes=dtypes)(rule)
        if in_place:
            written = written_in_place(f"{name}_", rule)
            op(f"{name}_", formula=formula, in_place=in_place, dtypes=dtypes)(written)
        return rule

    return declare


def written_in_place(operation: str, rule: Callable[P, Value]) -> Callable[P, Value]:
    """The rule of an in-place form: the result is written into the first operand, which keeps its shape and dtype."""

    @functools.wraps(rule)
    def in_place(*args: P.args, **kwargs: P.kwargs) -> Value:
        context, target = cast("tuple[Context, Value]", args[:2])
        result = rule(*args, **kwargs)
        if isinstance(target, TensorType) and isinstance(result, TensorType):
            require_fits(context, operation, target, result)
        return target

    return in_place


def require_fits(context: Context, operation: str, target: TensorType, result: TensorType) -> None:
    """Demand that a result can be written into `target` without enlarging it.

    Raises:
        ShapeError: the result has more axes or other sizes.
        DtypeError: the result is of a higher category (float into an integer tensor).
    """

    def fault() -> Fault:
        return ShapeError(operation, f"the result {result} does not fit into {target}")

    if target.shape.rank is not None:
        if result.shape.least_rank > target.shape.rank:
            raise fault()
        if result.shape.rank is not None:
            with uncertain_if_joined(context, target, result):
                for own, new in zip(reversed(target.shape.dims), reversed(result.shape.dims)):
                    if own != new:
                        context.require_equal(own, new, fault)
    least = min(map(category, result.dtype.names))
    if least > max(map(category, target.dtype.names)):
        raise DtypeError(
            operation, f"a result of dtype {result.dtype} cannot be written into a tensor of {target.dtype}"
        )
