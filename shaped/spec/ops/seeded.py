"""`shaped.init`: tensors of elements that depend on a scheme, a seed and a position only, whole or in shards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import ZERO, Dim, product
from shaped.spec.dtypes import FLOAT32
from shaped.spec.op import op
from shaped.spec.ops.creation import created, size_shape
from shaped.spec.ops.options import option_size
from shaped.spec.promotion import requested
from shaped.spec.shape import Shape

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.values import TensorType, Value


@op("init.tensor", "shaped.init.tensor", formula="y[f] = the element of the scheme at position f of the seed's stream")
def tensor(
    context: Context,
    scheme: Value,
    shape: Value,
    seed: Value = ZERO,
    dtype: Value = None,
    device: Value = "cpu",
    *,
    offset: Value = ZERO,
    count: Value = None,
) -> Value:
    whole = size_shape(context, "init.tensor", (), shape)
    for name, value in (("offset", offset), ("count", count)):
        if isinstance(value, Dim) and value.constant is not None and value.constant < 0:
            raise ShapeError("init.tensor", f"{name} {value} is negative", str(whole), dims=(value,))
    if count is None and offset == ZERO:
        return created(whole, dtype, FLOAT32, device)
    # No count and an offset of 0 ask for the whole tensor.
    is_shard = isinstance(count, Dim) or (isinstance(offset, Dim) and context.is_at_least(offset, 1))
    if not is_shard:
        return context.unknown_tensor(requested(dtype, FLOAT32))
    return created(Shape.of(_shard(context, whole, offset, count)), dtype, FLOAT32, device)


def _shard(context: Context, whole: Shape, offset: Value, count: Value) -> Dim:
    """The number of elements of a shard: `count`, or all from `offset` on.

    Raises:
        ShapeError: the tensor has fewer elements.
    """
    if whole.rank is None or not isinstance(offset, Dim):
        return option_size(context, count)
    rest = product(whole.dims) - offset
    elements = rest if count is None else option_size(context, count)
    # That callers ask for a shard that is there is their affair: only what is never there is refused.
    if context.is_at_least(ZERO if count is None else elements, rest + 1):
        what = f"offset {offset}" if count is None else f"{elements} elements from offset {offset} on"
        raise ShapeError("init.tensor", f"{what} exceed its {product(whole.dims)}", str(whole), dims=whole.dims)
    return elements


@op("init.fill_", "shaped.init.fill_", formula="x[f] = the element of the scheme at position offset + f")
def fill_(context: Context, out: TensorType, scheme: Value, seed: Value = ZERO, *, offset: Value = ZERO) -> TensorType:
    return out


def _declare_weight(name: str, formula: str) -> None:
    @op(f"init.{name}", f"shaped.init.{name}", formula=formula)
    def weight(
        context: Context,
        out_dim: Value,
        in_dim: Value,
        seed: Value = ZERO,
        dtype: Value = None,
        device: Value = "cpu",
    ) -> Value:
        return created(size_shape(context, f"init.{name}", (out_dim, in_dim)), dtype, FLOAT32, device)


_declare_weight("xavier_w", "w uniform in [-L, L], L = sqrt(6/(in + out)), of shape (out, in)")
_declare_weight("kaiming_w", "w uniform in [-L, L], L = sqrt(6/in), of shape (out, in)")
