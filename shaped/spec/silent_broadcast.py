"""Broadcasts that run and mean something else than was meant.

- Both operands are stretched to all pairs: a column (b, 1) against (b,) gives (b, b). It is meant where somebody made
  the new axis for it, as `x[:, None] - x`; it is not where the size 1 was declared or left over: by an annotation, by
  `nn.Linear(d, 1)`, by `gather`.
- One row of a table, taken at the length of a sequence, is spread over the sequence: `x + table[:, x.shape[1]]`.
- Positions of a table, as many as there are samples, are repeated along the sequence: `x + table[: x.shape[0]]`.
- A scalar that a loss or a sum without a dim gave is spread over the elements that it was taken over.

Who wants every new axis written out asks for `shape-promotion`: all broadcasts of different ranks along named axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from shaped.errors import ShapeError
from shaped.spec.atoms import Kind, Min
from shaped.spec.axis_roles import Role, roles
from shaped.spec.dims import ONE, Dim
from shaped.spec.provenance import REDUCTIONS, Counted, Filled, Reduced, Row, is_left_over, named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shaped.spec.context import Context
    from shaped.spec.shape import Shape
    from shaped.spec.values import TensorType

# How operations use a tensor beside a scalar.
_USES: Final = {
    **dict.fromkeys(["mul", "multiply"], "multiplied by"),
    **dict.fromkeys(["div", "divide", "true_divide"], "divided by"),
    **dict.fromkeys(["where", "masked_fill", "masked_select"], "masked by"),
}


def report_unmeant(
    context: Context, operation: str, tensors: Sequence[TensorType], shape: Shape, shown: Callable[[], str]
) -> None:
    """Report a broadcast of `tensors` to `shape` that is not meant.

    Args:
        context: the path.
        operation: its name.
        tensors: the operands.
        shape: what they broadcast to.
        shown: the operands as the message shows them.
    """
    if len(tensors) < 2 or any(tensor.joined for tensor in tensors):
        return
    if operation == "add" and len(tensors) == 2:
        _report_table(context, tensors[0], tensors[1], shown)
    first = tensors[0].shape.axes
    if all(len(tensor.shape.axes) == len(first) for tensor in tensors):
        return
    _report_promotion(context, operation, tensors, shown)
    for tensor in tensors:
        if isinstance(tensor.made, Row):
            _report_row(context, operation, tensor, tensor.made, tensors)
        elif isinstance(tensor.made, Reduced) and operation in _USES:
            _report_scalar(context, operation, tensor, tensor.made, tensors)
        elif isinstance(tensor.made, Counted):
            return
    if any(is_left_over(axis) for tensor in tensors for axis in tensor.shape.axes if isinstance(axis, Dim)):
        _report_pairs(context, operation, tensors, shape, shown)


def _report_table(context: Context, left: TensorType, right: TensorType, shown: Callable[[], str]) -> None:
    """Report positions (n, 1, d) that are read as many as there are samples, and added to (batch, sequence, d)."""
    for table, other in ((left, right), (right, left)):
        if table.shape.rank == other.shape.rank == 3 and table.shape.dims[1] == ONE:
            batch, sequence, _ = other.shape.dims
            atom = table.shape.dims[0].single_atom
            is_cut = isinstance(atom, Min) and batch in atom.choices and not _is_of_batches(atom, batch)
            if is_cut and roles(other.shape.axes)[:2] == (Role.BATCH, Role.SEQUENCE):
                reason = f"the rows of {table} are as many as axis 0, {batch}, the batch, and repeated along {sequence}"
                hint = f"rows for the {sequence} of axis 1?"
                dims = (batch, sequence)
                context.found.append(ShapeError("add", reason, shown(), hint, dims, code="shape-broadcast"))


def _is_of_batches(least: Min, batch: Dim) -> bool:
    """Whether a table has a row for each sample that a batch may have, `max_batch_size`."""
    return any("batch" in str(choice).lower() or "bs" in str(choice) for choice in least.choices if choice != batch)


def _report_promotion(
    context: Context, operation: str, tensors: Sequence[TensorType], shown: Callable[[], str]
) -> None:
    """Report a tensor that is repeated along named axes which it has not, not even with size 1."""
    longest = max((tensor.shape for tensor in tensors), key=lambda shape: len(shape.axes))
    for tensor in tensors:
        if not tensor.shape.rank or longest.rank is None:
            continue
        lacking = longest.dims[: longest.rank - tensor.shape.rank]
        if any(map(named, lacking)):
            reason = f"{tensor} is repeated along {', '.join(map(str, lacking))}"
            hint = f"[{', '.join(['None'] * len(lacking))}] on {tensor}?"
            dims = tuple(filter(named, lacking))
            context.found.append(ShapeError(operation, reason, shown(), hint, dims, code="shape-promotion"))
            return


def _report_pairs(
    context: Context, operation: str, tensors: Sequence[TensorType], shape: Shape, shown: Callable[[], str]
) -> None:
    """Report a named size that stands at two axes of the result, at one of which an axis left over was stretched."""
    for column in tensors:
        for other in tensors:
            size = _doubled(column.shape, other.shape)
            if size is not None and _is_any_size(context, size) and not any(_is_square(each, size) for each in tensors):
                reason = f"both are stretched to {shape}, all pairs of {size}"
                _report(context, operation, reason, shown(), column.shape, other.shape, size)
                return
            if _ends_in_an_axis_left_over(column.shape, other.shape):
                reason = f"the last axis of {column} is stretched to the last of {other}, they do not line up"
                _report(context, operation, reason, shown(), column.shape, other.shape)
                return


def _report(
    context: Context, operation: str, reason: str, shown: str, column: Shape, other: Shape, *sizes: Dim
) -> None:
    left = next(axis for axis in reversed(column.axes) if isinstance(axis, Dim) and is_left_over(axis))
    hint = _pair_hint(column, other)
    context.found.append(ShapeError(operation, reason, shown, hint, dims=(*sizes, left), code="shape-broadcast"))


def _is_any_size(context: Context, size: Dim) -> bool:
    """Whether the path does not say what a named size is: of one sample there is one pair."""
    return named(context.facts.normalize(size))


def _is_square(tensor: TensorType, size: Dim) -> bool:
    return sum(axis == size for axis in tensor.shape.axes) > 1


def _ends_in_an_axis_left_over(column: Shape, other: Shape) -> bool:
    """Whether one tensor has the named axes `*batch` of the other, and behind them an axis that was left over."""
    pack, last = other.pack, column.axes[-1] if column.axes else None
    return (
        pack is not None
        and pack.kind is Kind.NAME
        and column.axes[:-1] == other.axes
        and isinstance(last, Dim)
        and is_left_over(last)
    )


def _doubled(column: Shape, other: Shape) -> Dim | None:
    """The named size of `other` to which an axis of `column` that was left over is stretched, though it has it itself.

    >>> from shaped.errors import Origin
    >>> from shaped.spec.shape import Shape
    >>> b = Dim.name("b")
    >>> print(_doubled(Shape.of(b, Dim.of(1).at(Origin("out_features"))), Shape.of(b)))
    b
    """
    if column.rank is None or other.rank is None or other.rank >= column.rank:
        return None
    lacking = column.dims[: column.rank - other.rank]
    for i, size in enumerate(other.dims, start=len(lacking)):
        if is_left_over(column.dims[i]) and named(size) and size in lacking:
            return size
    return None


def report_stretched_loss(
    context: Context, operation: str, tensor: TensorType, target: TensorType, shape: Shape, operands: str
) -> None:
    """Report a loss, reduced to one number, whose operands of different ranks are both stretched to `shape`.

    Nobody wants the mean of the losses of all pairs, so that it does not matter what the sizes are or who made them.
    """
    shapes = (tensor.shape, target.shape)
    ranks = {each.rank for each in shapes}
    if tensor.joined or target.joined or None in ranks or len(ranks) == 1 or shape in shapes:
        return
    if any(dim.has_unknown and not named(dim) for each in (*shapes, shape) for dim in each.dims):
        return
    reason, hint = f"both are stretched to {shape}, equal shapes expected", target_hint(*shapes)
    context.found.append(ShapeError(operation, reason, operands, hint, dims=shape.dims, code="shape-broadcast"))


def target_hint(shape: Shape, target: Shape) -> str:
    """What makes a target of one axis more or less than `shape` fit: `target.unsqueeze(1)?`."""
    if shape.rank is None or target.rank is None or abs(shape.rank - target.rank) != 1:
        return ""
    longer, shorter = (shape, target) if shape.rank > target.rank else (target, shape)
    for axis, size in enumerate(longer.dims):
        if size == ONE and longer.replace(axis) == shorter:
            return f"target.{'unsqueeze' if longer is shape else 'squeeze'}({axis})?"
    return ""


def _pair_hint(column: Shape, other: Shape) -> str:
    """What makes a column and a tensor of one axis less fit: `.squeeze(-1) on (b, 1)?`."""
    for i, axis in enumerate(column.axes):
        if axis == ONE and (*column.axes[:i], *column.axes[i + 1 :]) == other.axes:
            return f".squeeze({-1 if i == len(column.axes) - 1 else i}) on {column}?"
    return ""


def _report_row(context: Context, operation: str, row: TensorType, made: Row, tensors: Sequence[TensorType]) -> None:
    """Report a row that is spread over the axis whose size was its index, where a slice would have fitted."""
    for other in tensors:
        if other is not row and _fits(made, row.shape, other.shape):
            reason = f"takes one row, which {operation} spreads over the axis {made.size} of {other}"
            fault = ShapeError(
                "index", reason, f"{made.table} at {made.size}", f":{made.size}?", (made.size,), code="shape-broadcast"
            )
            fault.place = made.place
            context.found.append(fault)
            return


def _fits(made: Row, row: Shape, other: Shape) -> bool:
    """Whether the row is stretched along the axis of this size, where the slice would have had it.

    What stands behind that axis is the same in the row and in the slice, and fits already.
    """
    sliced = made.sliced
    if other.rank is None or sliced.rank is None or row.rank is None:
        return False
    pairs = list(zip(reversed(sliced.dims), reversed(other.dims)))
    for i, (own, size) in enumerate(pairs):
        if own == size == made.size and (i >= row.rank or row.dims[-1 - i] == ONE):
            return all(ahead in (ONE, theirs) for ahead, theirs in pairs[i + 1 :])
    return False


def _report_scalar(
    context: Context, operation: str, scalar: TensorType, made: Reduced, tensors: Sequence[TensorType]
) -> None:
    """Report a scalar that is spread over elements that it was taken over."""
    others = [tensor for tensor in tensors if tensor is not scalar and not isinstance(tensor.made, Filled)]
    if operation == "where":
        # The condition may choose between a scalar and elements: x where it is valid, else its mean.
        is_masked = tensors[0] is not scalar and not any(tensor.shape.axes for tensor in tensors[1:])
        others = [tensors[0]] if is_masked else []
    elif operation.startswith("div") or operation == "true_divide":
        others = others if tensors[0] is scalar else []
    for other in others:
        if _was_reduced(made, other.shape) and (made.is_loss or operation in ("mul", "multiply")):
            what = "without a dim it" if made.operation in REDUCTIONS else "the loss"
            reason = f"{what} is one number for all, which is then {_USES[operation]} {other}"
            shown = ", ".join(map(str, made.operands))
            fault = ShapeError(made.operation, reason, shown, _reduction_hint(made, other.shape), code="shape-reduce")
            fault.dims, fault.place = tuple(dim for dim in other.shape.dims if named(dim)), made.place
            context.found.append(fault)
            return


def _was_reduced(made: Reduced, shape: Shape) -> bool:
    """Whether the axes of a tensor are among those that a scalar was taken over.

    A plain sum or mean may be a scale of all elements. It is none where it is multiplied by a number for each sample,
    which has the first axes of what was summed and not the others.
    """
    if shape.rank is None or not shape.rank or any(dim.constant is None and not named(dim) for dim in shape.dims):
        return False
    if made.is_loss:
        symbols = frozenset().union(*(operand.symbols() for operand in made.operands))
        names = [dim.symbol for dim in shape.dims if named(dim)]
        return bool(names) and all(name in symbols for name in names)
    summed = made.operands[0]
    if summed.rank is None or shape.rank >= summed.rank or summed.dims[: shape.rank] != shape.dims:
        return False
    return all(map(named, shape.dims)) and roles(summed.axes)[0] is Role.BATCH


def _reduction_hint(made: Reduced, shape: Shape) -> str:
    if made.operation not in REDUCTIONS:
        return 'reduction="none"?'
    count = len(made.operands[0].axes) - len(shape.axes)
    if count == 0:
        return f"before {made.operation}?"
    return "dim=-1?" if count == 1 else f"dim=({', '.join(map(str, range(-count, 0)))})?"
