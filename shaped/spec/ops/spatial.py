"""Images, signals and volumes: `(..., channels, *sizes)` with or without a batch axis before the channels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import Dim
from shaped.spec.op import op
from shaped.spec.shape import Axis, Shape
from shaped.spec.values import UNKNOWN, Many

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.values import TensorType, Value


@dataclass(frozen=True)
class Spatial:
    """The parts of an image's shape.

    Args:
        leading: the batch axis, none, or a pack where it is not known whether there is one.
        channels: the number of channels, None where it was not followed.
        sizes: the sizes of the spatial axes.
    """

    leading: tuple[Axis, ...]
    channels: Dim | None
    sizes: tuple[Dim, ...]

    def shape(self, channels: Dim, sizes: tuple[Dim, ...]) -> Shape:
        """The shape with the same leading axes."""
        return Shape((*self.leading, channels, *sizes))


def split_spatial(
    context: Context, operation: str, input: TensorType, count: int, *, batched: bool = False, operands: str = ""
) -> Spatial:
    """The parts of an input with `count` spatial axes.

    Args:
        context: the path.
        operation: the operation's name, for the message.
        input: the tensor.
        count: the number of spatial axes.
        batched: whether there has to be a batch axis.
        operands: the operands, for the message; the input alone by default.

    Raises:
        ShapeError: there are too many or too few axes.
    """
    shape = context.facts.seen(input.shape)
    least, most = count + 1 + batched, count + 2
    if shape.least_rank > most or (shape.rank is not None and shape.rank < least):
        expected = str(least) if least == most else f"{least} or {most}"
        found = f"{shape.least_rank} axes" if shape.rank is not None else f"at least {shape.least_rank} axes"
        missing = ".unsqueeze(0)?" if batched and shape.rank == count + 1 and count > 1 else ""
        raise ShapeError(operation, f"{found}, {expected} expected", operands or str(shape), missing)
    exact = batched or shape.least_rank == most
    shape = context.ranked(shape, most) if exact else context.with_ends(shape, 0, least)
    if shape.pack is not None and len(shape.tail) <= count:
        hidden = (context.fresh() for _ in range(count - len(shape.tail)))
        return Spatial((context.fresh_pack(),), None, (*hidden, *shape.tail))
    axes = shape.axes
    channels, *sizes = axes[-count - 1 :]
    assert isinstance(channels, Dim)
    return Spatial(axes[: -count - 1], channels, tuple(size for size in sizes if isinstance(size, Dim)))


def channels_last_hint(parts: Spatial, expected: Dim, rank: int | None) -> str:
    """The transposition that puts the channels in front of the spatial axes, if the last axis holds them."""
    if not parts.sizes or rank is None or parts.sizes[-1] != expected or expected.has_unknown:
        return ""
    if len(parts.sizes) == 1:
        return f".transpose({rank - 2}, {rank - 1})?"
    first = rank - len(parts.sizes) - 1
    order = [*range(first), rank - 1, *range(first, rank - 1)]
    return f".permute({', '.join(map(str, order))})?"


def _declare_repeated(name: str, count: int) -> None:
    @op(name, f"torch.nn.modules.utils.{name}", formula="(x, ..., x), or a tuple itself")
    def repeated(context: Context, x: Value) -> Value:
        return x if isinstance(x, (tuple, Many)) or x is UNKNOWN else (x,) * count


for _count, _name in enumerate(("_single", "_pair", "_triple", "_quadruple"), start=1):
    _declare_repeated(_name, _count)
