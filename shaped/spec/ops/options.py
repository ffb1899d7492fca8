"""Reading what configures a network's operation: sizes for each axis, flags, numbers, optional tensors, dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.broadcast import uncertain_if_joined
from shaped.spec.dims import Dim, DimLike
from shaped.spec.dtypes import FLOAT, DType
from shaped.spec.facts import Status
from shaped.spec.ops.arguments import listed
from shaped.spec.values import UNKNOWN, Ratio, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from shaped.errors import Fault
    from shaped.spec.context import Context


def option_size(context: Context, value: Value, low: int | None = 0) -> Dim:
    """The int `value`, which may be a rule's own default, as a size; a fresh one, at least `low`, if not followed."""
    if isinstance(value, Dim):
        return value
    return Dim.of(int(value)) if isinstance(value, int) else context.fresh(low)


def option_sizes(
    context: Context, value: Value, count: int, operation: str = "", argument: str = "", low: int | None = 0
) -> tuple[Dim, ...]:
    """`value` as `count` sizes: one int stands for all of them.

    Raises:
        ShapeError: it is a tuple of another length.
    """
    values = listed(value)
    if values is not None:
        if len(values) == 1:
            values *= count
        if len(values) != count:
            raise ShapeError(operation, f"{argument} has {len(values)} values, {count} expected")
        return tuple(option_size(context, each, low) for each in values)
    if isinstance(value, (Dim, int)):
        return (option_size(context, value),) * count
    return tuple(context.fresh(low) for _ in range(count))


def settled(context: Context, value: Value, count: int, low: int | None = 0) -> Value:
    """`value` with fresh sizes for what was not followed, so that it equals itself in every later call."""
    if value is UNKNOWN:
        return tuple(context.fresh(low) for _ in range(count))
    if isinstance(value, tuple):
        return tuple(context.fresh(low) if each is UNKNOWN else each for each in value)
    return value


def flag(value: Value) -> bool | None:
    """Whether `value` is true, None if it was not followed.

    >>> print(flag(True), flag(None), flag(UNKNOWN))
    True False None
    """
    match value:
        case Dim():
            return None if value.constant is None else value.constant != 0
        case bool() | float() | int() | str() | tuple() | None:
            return bool(value)
        case _:
            return None


def number(value: Value) -> float | None:
    """`value` as a Python number, None if it was not followed or depends on sizes."""
    match value:
        case Dim():
            return value.constant
        case Ratio(numerator, denominator):
            top, bottom = numerator.constant, denominator.constant
            return None if top is None or not bottom else top / bottom
        case bool():
            return None
        case int() | float():
            return value
        case _:
            return None


def optional_tensor(context: Context, value: Value) -> TensorType | None:
    """A tensor argument that may be None; one that was not followed has unknown axes."""
    if value is UNKNOWN:
        return context.unknown_tensor()
    return value if isinstance(value, TensorType) else None


def parameter_dtype(value: Value) -> DType:
    """The dtype of a module's parameters for its `dtype` argument: any float by default, as models are often cast."""
    return value if isinstance(value, DType) else FLOAT


def common_dtype(*tensors: TensorType | None) -> DType:
    """The dtypes that tensors of one dtype may all have; the first one's if there is none."""
    present = [tensor.dtype for tensor in tensors if tensor is not None]
    names = present[0].names.intersection(*(dtype.names for dtype in present[1:]))
    return DType(names) if names else present[0]


def is_less(context: Context, a: DimLike, b: DimLike) -> bool:
    """Whether a < b for all sizes, unknown ones included."""
    difference = (Dim.of(a) - b).constant
    if difference is not None:
        return difference < 0
    return context.facts.at_least(a, b).status is Status.NEVER


def require_equal(
    context: Context, tensors: tuple[TensorType, ...], a: DimLike, b: DimLike, fault: Callable[[], Fault]
) -> Dim:
    """As `Context.require_equal`, for sizes of tensors, one of which may be joined from several paths.

    `a` is a size of the only tensor, or `a` and `b` are sizes of both.
    """
    among = [tensor.shape.dims for tensor in tensors if tensor.shape.rank is not None]
    if len(tensors) == 1:
        among = [tuple(context.facts.normalize(dim) for dim in dims) for dims in among]
    with uncertain_if_joined(context, *tensors):
        return context.require_equal(a, b, fault, among=among)


def never_divides(context: Context, numerator: DimLike, divisor: DimLike) -> bool:
    """Whether `divisor` leaves a rest in `numerator` for all sizes."""
    divisor = Dim.of(divisor)
    return divisor == 0 or context.is_never_equal(Dim.of(numerator) % divisor, 0)


def require_divides(context: Context, numerator: DimLike, divisor: DimLike, fault: Callable[[], Fault]) -> None:
    """Demand that `divisor` leaves no rest in `numerator`; after it, none is left.

    Raises:
        Fault: `fault()`, when it leaves one for all sizes.
    """
    if never_divides(context, numerator, divisor):
        raise fault()
    context.facts = context.facts.with_exact(numerator, divisor)
