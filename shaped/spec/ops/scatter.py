"""Operations that read or write at indices held in tensors: gather, scatter, index_select, masks, nonzero."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.broadcast import broadcast
from shaped.spec.dims import ONE, ZERO, Dim
from shaped.spec.dtype_demands import alike
from shaped.spec.dtypes import ANY, BOOL, INT64, INTEGERS
from shaped.spec.extent import require_within
from shaped.spec.facts import Status
from shaped.spec.number_range import fits_input
from shaped.spec.op import op
from shaped.spec.ops.arguments import shown
from shaped.spec.ops.contraction import require_same_dtype
from shaped.spec.promotion import excluding
from shaped.spec.provenance import named
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, Many, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context

_INDICES = frozenset(["int32", "int64"])


def _require_index_dtype(operation: str, index: TensorType, allowed: frozenset[str] = _INDICES) -> None:
    if index.shape.numel == ZERO:
        return
    if _may_be_empty(index):
        # torch does not look at the dtype of an empty index.
        allowed = allowed | INTEGERS
    reason = "is no dtype for indices, int64 is"
    excluding(operation, index.dtype, ANY - allowed, reason)


def _may_be_empty(tensor: TensorType) -> bool:
    return tensor.shape.rank is None or any(dim.has_unknown for dim in tensor.shape.dims)


def _require_one_rank(
    operation: str, axis: int | None, input: TensorType, index: TensorType, *others: TensorType
) -> None:
    """Demand as many axes of all tensors; one without axes counts as one with 1, any do for an empty index."""
    if _may_be_empty(index):
        return
    tensors = (input, index, *others)
    ranks = {max(tensor.shape.rank, 1) for tensor in tensors if tensor.shape.rank is not None}
    least = max(tensor.shape.least_rank for tensor in tensors)
    if len(ranks) > 1 or any(rank < least for rank in ranks):
        counts = " and ".join(str(tensor.shape.least_rank) for tensor in tensors)
        hint = _index_hint(axis, input.shape, index.shape)
        raise ShapeError(operation, f"{counts} axes, equal numbers expected", shown(*tensors), hint)


def _index_hint(axis: int | None, shape: Shape, index: Shape) -> str:
    """The new axis for an index that has one number for all along `axis`."""
    if axis is None or shape.rank is None or index.rank is None or shape.at(axis) is None:
        return ""
    return f"index.unsqueeze({axis % shape.rank})?" if shape.replace(axis).axes == index.axes else ""


def _require_no_longer(
    context: Context, operation: str, index: TensorType, other: TensorType, skip: int | None, operands: str
) -> None:
    """Demand that `index` is nowhere longer than `other`, except along axis `skip`."""
    if index.shape.rank is None or other.shape.rank is None or index.shape.rank != other.shape.rank:
        return
    for i, (own, limit) in enumerate(zip(index.shape.dims, other.shape.dims, strict=True)):
        if i != skip and context.facts.at_least(limit, own).status is Status.NEVER:
            reason = f"the index has size {own} along dim {i}, more than {limit}"
            raise ShapeError(operation, reason, operands, dims=(own, limit))


def _report_row(
    context: Context, operation: str, index: TensorType, input: TensorType, axis: int, operands: str
) -> None:
    """Report an index that lies along another axis than it belongs to: one place of that axis is looked at.

    Its size along `axis` is that of another axis of the input, where it has size 1 itself: of logits (b, t, v) and
    tokens (b, t) as (b, 1, t) only step 0 is read, at the tokens of all steps.
    """
    if not context.is_clear or input.joined or index.joined or input.shape.rank is None or index.shape.rank is None:
        return
    own, sizes = index.shape.dims, input.shape.dims
    axis %= max(len(sizes), 1)
    if not own or not named(own[axis]) or sizes.count(own[axis]) != 1:
        return
    place = sizes.index(own[axis])
    if place != axis and own[place] == ONE:
        reason = f"the index has the {own[axis]} of axis {place} along axis {axis}: it is for one place of axis {place}"
        hint = f".transpose({place}, {axis}) on the index?"
        context.found.append(ShapeError(operation, reason, operands, hint, (own[axis],), code="shape-axes"))


@op("gather", "torch.gather", "Tensor.gather", formula="y[i, j] = x[index[i, j], j] for dim=0")
def gather(
    context: Context, input: TensorType, dim: Value, index: TensorType, *, sparse_grad: Value = False
) -> TensorType:
    operands = f"{input} at {index}"
    axis = context.axis("gather", input, dim)
    if index.shape.numel == ZERO:
        return input.with_shape(index.shape)
    _require_index_dtype("gather", index)
    _require_one_rank("gather", axis, input, index)
    if axis is not None:
        _require_no_longer(context, "gather", index, input, axis, operands)
        _require_within(context, "gather", index, input, axis, operands)
        _report_row(context, "gather", index, input, axis, operands)
    return input.with_shape(index.shape)


@op(
    "take_along_dim", "torch.take_along_dim", "Tensor.take_along_dim", formula="y[i, j] = x[indices[i, j], j] for dim=0"
)
def take_along_dim(context: Context, input: TensorType, indices: TensorType, dim: Value = None) -> TensorType:
    _require_index_dtype("take_along_dim", indices)
    if dim is None:
        count = indices.shape.numel
        return input.with_shape(Shape((context.fresh() if count is None else count,)))
    if input.shape.rank is None or indices.shape.rank is None:
        return context.unknown_tensor(input.dtype)
    if input.shape.rank != indices.shape.rank:
        reason = f"{input.shape.rank} and {indices.shape.rank} axes, equal numbers expected"
        raise ShapeError("take_along_dim", reason, shown(input, indices))
    axis = context.axis("take_along_dim", input, dim)
    if axis is None:
        return input.with_shape(Shape(tuple(context.fresh() for _ in input.shape.dims)))
    if input.shape.rank == 0:
        return input
    one = [tensor.with_shape(tensor.shape.replace(axis, ONE)) for tensor in (input, indices)]
    shape = broadcast(context, "take_along_dim", *one, operands=shown(input, indices))
    return input.with_shape(shape.replace(axis, indices.shape.dims[axis]))


@op("take", "torch.take", "Tensor.take", formula="y[...] = x.flatten()[index[...]]")
def take(context: Context, input: TensorType, index: TensorType) -> TensorType:
    _require_index_dtype("take", index, frozenset(["int64"]))
    return input.with_shape(index.shape)


@op("index_select", "torch.index_select", "Tensor.index_select", formula="y[..., i, ...] = x[..., index[i], ...]")
def index_select(context: Context, input: TensorType, dim: Value, index: TensorType) -> TensorType:
    axis = context.axis("index_select", input, dim)
    _require_index_dtype("index_select", index)
    _require_flat("index_select", index, f"{input} at {index}")
    count = index.shape.numel
    if input.shape.rank == 0:
        return input
    if axis is None or input.shape.at(axis) is None:
        if input.shape.rank is None:
            return context.unknown_tensor(input.dtype)
        return input.with_shape(Shape(tuple(context.fresh() for _ in input.shape.dims)))
    _require_within(context, "index_select", index, input, axis, str(input))
    return input.with_shape(input.shape.replace(axis, context.fresh() if count is None else count))


def _require_within(
    context: Context, operation: str, index: TensorType, input: TensorType, axis: int, operands: str
) -> None:
    own = input.shape.at(axis)
    if own is not None:
        require_within(context, operation, index, own, f"size {own} of dim {axis}", operands)


def _require_flat(operation: str, index: TensorType, operands: str) -> None:
    if index.shape.least_rank > 1:
        raise ShapeError(operation, f"the index has {len(index.shape.axes)} axes, not 1", operands)


@op(
    "scatter",
    "torch.scatter",
    "Tensor.scatter",
    formula="y = x, then y[index[i, j], j] = src[i, j] for dim=0",
    in_place=("Tensor.scatter_",),
    dtypes=fits_input("value", "src"),
)
def scatter(
    context: Context,
    input: TensorType,
    dim: Value,
    index: TensorType,
    src: Value = UNKNOWN,
    *,
    reduce: Value = None,
    value: Value = UNKNOWN,
) -> TensorType:
    return _scattered(context, "scatter", input, dim, index, src)


@op(
    "scatter_add",
    "torch.scatter_add",
    "Tensor.scatter_add",
    formula="y = x, then y[index[i, j], j] += src[i, j] for dim=0",
    in_place=("Tensor.scatter_add_",),
)
def scatter_add(context: Context, input: TensorType, dim: Value, index: TensorType, src: TensorType) -> TensorType:
    return _scattered(context, "scatter_add", input, dim, index, src)


@op(
    "scatter_reduce",
    "torch.scatter_reduce",
    "Tensor.scatter_reduce",
    formula="y[k, j] = the sum, product, mean, ... of src[i, j] where index[i, j] = k, for dim=0",
    in_place=("Tensor.scatter_reduce_",),
)
def scatter_reduce(
    context: Context,
    input: TensorType,
    dim: Value,
    index: TensorType,
    src: TensorType,
    reduce: Value = UNKNOWN,
    *,
    include_self: Value = True,
) -> TensorType:
    return _scattered(context, "scatter_reduce", input, dim, index, src)


def _scattered(
    context: Context, operation: str, input: TensorType, dim: Value, index: TensorType, src: Value
) -> TensorType:
    axis = context.axis(operation, input, dim)
    if index.shape.numel == ZERO:
        return input
    _require_index_dtype(operation, index)
    sources = [src] if isinstance(src, TensorType) else []
    operands = f"{input} at {index}" + "".join(f" from {source}" for source in sources)
    # torch.scatter takes a value without axes for a number.
    counted = [source for source in sources if source.shape.rank != 0 or operation != "scatter"]
    _require_one_rank(operation, axis, input, index, *counted)
    if axis is not None:
        _require_no_longer(context, operation, index, input, axis, operands)
        _require_within(context, operation, index, input, axis, operands)
        _report_row(context, operation, index, input, axis, operands)
    for source in counted:
        _require_no_longer(context, operation, index, source, None, operands)
        require_same_dtype(operation, input, source)
    return input


@op(
    "index_add",
    "torch.index_add",
    "Tensor.index_add",
    formula="y = x, then y[index[i]] += source[i] for dim=0",
    in_place=("Tensor.index_add_",),
)
def index_add(
    context: Context, input: TensorType, dim: Value, index: TensorType, source: TensorType, *, alpha: Value = ONE
) -> TensorType:
    return _written_at(context, "index_add", input, dim, index, source)


@op(
    "index_copy",
    "torch.index_copy",
    "Tensor.index_copy",
    formula="y = x, then y[index[i]] = source[i] for dim=0",
    in_place=("Tensor.index_copy_",),
)
def index_copy(context: Context, input: TensorType, dim: Value, index: TensorType, source: TensorType) -> TensorType:
    return _written_at(context, "index_copy", input, dim, index, source)


@op(
    "index_reduce",
    "torch.index_reduce",
    "Tensor.index_reduce",
    formula="y[k] = the product, mean, ... of source[i] where index[i] = k, for dim=0",
    in_place=("Tensor.index_reduce_",),
)
def index_reduce(
    context: Context,
    input: TensorType,
    dim: Value,
    index: TensorType,
    source: TensorType,
    reduce: Value = UNKNOWN,
    *,
    include_self: Value = True,
) -> TensorType:
    return _written_at(context, "index_reduce", input, dim, index, source)


def _written_at(
    context: Context, operation: str, input: TensorType, dim: Value, index: TensorType, source: TensorType
) -> TensorType:
    axis = context.axis(operation, input, dim)
    operands = f"{input} at {index} from {source}"
    _require_index_dtype(operation, index, _INDICES if operation != "index_copy" else frozenset(["int64"]))
    _require_flat(operation, index, operands)
    require_same_dtype(operation, input, source)
    if input.shape.rank is None or source.shape.rank is None or axis is None:
        return input
    if input.shape.rank == 0 or source.shape.rank == 0:
        return input
    if input.shape.rank != source.shape.rank:
        reason = f"{input.shape.rank} axes, the source has {source.shape.rank}"
        raise ShapeError(operation, reason, operands)
    _require_within(context, operation, index, input, axis, operands)
    for i, (own, given) in enumerate(zip(input.shape.dims, source.shape.dims, strict=True)):
        wanted = index.shape.numel if i == axis else own
        if wanted is None:
            continue

        def fault(wanted: Dim = wanted, given: Dim = given, i: int = i) -> ShapeError:
            reason = f"the source has size {given} along dim {i}, not {wanted}"
            return ShapeError(operation, reason, operands, dims=(given, wanted))

        context.require_equal(given, wanted, fault)
    return input


@op(
    "index_fill",
    "torch.index_fill",
    "Tensor.index_fill",
    formula="y = x, then y[index[i]] = value for dim=0",
    in_place=("Tensor.index_fill_",),
    dtypes=fits_input("value"),
)
def index_fill(context: Context, input: TensorType, dim: Value, index: TensorType, value: Value) -> TensorType:
    context.axis("index_fill", input, dim)
    _require_index_dtype("index_fill", index, frozenset(["int64"]))
    _require_flat("index_fill", index, f"{input} at {index}")
    return input


@op(
    "index_put",
    "torch.index_put",
    "Tensor.index_put",
    formula="y = x, then y[indices] = values",
    in_place=("Tensor.index_put_", "torch.index_put_"),
    dtypes=alike("input", "values"),
)
def index_put(
    context: Context, input: TensorType, indices: Value, values: TensorType, accumulate: Value = False
) -> TensorType:
    return input


@op(
    "put",
    "torch.put",
    "Tensor.put",
    formula="y = x, then y.flatten()[index[i]] = source[i]",
    in_place=("Tensor.put_",),
)
def put(
    context: Context, input: TensorType, index: TensorType, source: TensorType, accumulate: Value = False
) -> TensorType:
    _require_index_dtype("put", index, frozenset(["int64"]))
    require_same_dtype("put", input, source)
    count, given = index.shape.numel, source.shape.numel
    if count is not None and given is not None:

        def fault() -> ShapeError:
            return ShapeError("put", f"{given} elements for {count} indices", f"{input} at {index} from {source}")

        context.require_equal(count, given, fault)
    return input


def _require_mask(operation: str, mask: TensorType) -> None:
    reason = "is no mask, a bool tensor is expected"
    excluding(operation, mask.dtype, ANY - BOOL, reason)


@op("masked_select", "torch.masked_select", "Tensor.masked_select", formula="the elements of x where mask is true")
def masked_select(context: Context, input: TensorType, mask: TensorType) -> TensorType:
    _require_mask("masked_select", mask)
    broadcast(context, "masked_select", input, mask)
    return input.with_shape(Shape((context.fresh(),)))


@op(
    "masked_scatter",
    "torch.masked_scatter",
    "Tensor.masked_scatter",
    formula="y = x, with the elements of source, in order, where mask is true",
    in_place=("Tensor.masked_scatter_",),
)
def masked_scatter(context: Context, input: TensorType, mask: TensorType, source: TensorType) -> TensorType:
    _require_mask("masked_scatter", mask)
    require_same_dtype("masked_scatter", input, source)
    return input.with_shape(broadcast(context, "masked_scatter", input, mask))


@op("nonzero", "torch.nonzero", "Tensor.nonzero", formula="the indices of the elements that are not 0, as rows")
def nonzero(context: Context, input: TensorType, *, as_tuple: Value = False) -> Value:
    rank, count = input.shape.rank, context.fresh()
    if as_tuple is True:
        column = TensorType(Shape((count,)), INT64, input.device)
        return Many(column, context.fresh()) if rank is None else (column,) * max(rank, 1)
    if as_tuple is not False:
        return UNKNOWN
    return TensorType(Shape((count, context.fresh() if rank is None else Dim.of(rank))), INT64, input.device)


@op("argwhere", "torch.argwhere", "Tensor.argwhere", formula="the indices of the elements that are not 0, as rows")
def argwhere(context: Context, input: TensorType) -> Value:
    return nonzero(context, input)
