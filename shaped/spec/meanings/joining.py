"""Tensors joined along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations as choices
from itertools import combinations_with_replacement as choices_with_replacement

from shaped.errors import ShapeError
from shaped.spec.dims import ZERO, Dim
from shaped.spec.expr import both, index_nonnegative, index_zero
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.kinds import converted, promoted
from shaped.spec.meanings.places import chosen, common_axis, entry, new_axis, nothing, place_of, with_axes
from shaped.spec.meanings.sizes import SizeLike, as_int
from shaped.spec.meanings.splitting import MOST_PIECES
from shaped.spec.tensor import NotExpressible, Tensor, build, tensor, with_entry


def _operands(tensors: Sequence[Tensor]) -> list[Tensor]:
    operands = [tensor(each) for each in tensors]
    if not operands:
        raise ShapeError("cat", "there are no tensors to join")
    if len(operands) > MOST_PIECES:
        raise NotExpressible(f"{len(operands)} tensors joined: at most {MOST_PIECES} are followed")
    kind = promoted(*operands)
    return [converted(each, kind) for each in operands]


@meaning("cat")
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    # torch lets empty tensors of one axis, (0,), stand beside any shape.
    operands = [each for each in _operands(tensors) if len(tensors) == 1 or each.sizes != (ZERO,)] or list(tensors)
    axis = operands[0].axis(dim)
    if any(each.rank != operands[0].rank or not each.rank for each in operands):
        raise ShapeError("cat", f"tensors of {', '.join(str(each.rank) for each in operands)} axes")
    if len(operands) == 1:
        return operands[0]
    axes = [common_axis("cat", *parts) for parts in zip(*(each.axes[:axis] for each in operands))]
    axes.append(new_axis(sum((each.sizes[axis] for each in operands), ZERO)))
    axes += [common_axis("cat", *parts) for parts in zip(*(each.axes[axis + 1 :] for each in operands))]
    places = [place_of(each) for each in axes]
    ends: list[Dim] = []
    for each in operands:
        ends.append((ends[-1] if ends else ZERO) + each.sizes[axis])
    body = None
    for operand, start, end in reversed(list(zip(operands, [ZERO, *ends], ends))):
        at = (*places[:axis], places[axis] - start, *places[axis + 1 :])
        own = entry(operand, at)
        body = own if body is None else chosen(index_nonnegative(end - 1 - places[axis]), own, body)
    assert body is not None
    return with_entry(axes, body, operands[0].kind)


@backward("cat")
def cat_backward(grad: Tensor, tensors: Sequence[Tensor], dim: int = 0) -> tuple[Tensor, ...]:
    axis = tensors[0].axis(dim)
    start, parts = ZERO, list[Tensor]()
    for each in tensors:
        parts.append(grad.narrow(axis, start, each.sizes[axis]))
        start = start + each.sizes[axis]
    return tuple(parts)


@meaning("stack")
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    operands = _operands(tensors)
    rank = operands[0].rank
    if any(each.rank != rank for each in operands):
        raise ShapeError("stack", f"tensors of {', '.join(str(each.rank) for each in operands)} axes")
    if not -rank - 1 <= dim <= rank:
        raise ShapeError("stack", f"there is no place {dim} for an axis among {rank} axes")
    number = dim % (rank + 1)
    own = [common_axis("stack", *parts) for parts in zip(*(each.axes for each in operands))]
    added = new_axis(Dim.of(len(operands)), "k")
    places, place = [place_of(axis) for axis in own], place_of(added)
    body = entry(operands[-1], places)
    for which in reversed(range(len(operands) - 1)):
        body = chosen(index_zero(place - which), entry(operands[which], places), body)
    return with_entry([*own[:number], added, *own[number:]], body, operands[0].kind)


@backward("stack")
def stack_backward(grad: Tensor, tensors: Sequence[Tensor], dim: int = 0) -> tuple[Tensor, ...]:
    return tuple(grad.select(dim, which) for which in range(len(tensors)))


def _each(tensors: Sequence[Tensor | Sequence[Tensor]], rank: int) -> Tensor | tuple[Tensor, ...]:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return _at_least(tensors[0], rank)
    operands = tensors if isinstance(tensors[0], Tensor) else tensors[0]
    return tuple(_at_least(tensor(each), rank) for each in operands)  # type: ignore[arg-type]  # a flat list by now


def _at_least(operand: Tensor, rank: int) -> Tensor:
    """With axes of size 1 added as `atleast_1d`, `atleast_2d`, `atleast_3d` do."""
    axes = list(operand.axes)
    if rank == 3 and len(axes) in (1, 2):
        axes = [(), *axes, ()] if len(axes) == 1 else [*axes, ()]
    return with_axes(operand, [()] * (rank - len(axes)) + axes)


@meaning("atleast_1d")
def atleast_1d(*tensors: Tensor | Sequence[Tensor]) -> Tensor | tuple[Tensor, ...]:
    return _each(tensors, 1)


@meaning("atleast_2d")
def atleast_2d(*tensors: Tensor | Sequence[Tensor]) -> Tensor | tuple[Tensor, ...]:
    return _each(tensors, 2)


@meaning("atleast_3d")
def atleast_3d(*tensors: Tensor | Sequence[Tensor]) -> Tensor | tuple[Tensor, ...]:
    return _each(tensors, 3)


@meaning("hstack")
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    operands = [_at_least(tensor(each), 1) for each in tensors]
    return cat(operands, 0 if operands[0].rank == 1 else 1)


@meaning("vstack")
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    return cat([_at_least(tensor(each), 2) for each in tensors], 0)


@meaning("dstack")
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    return cat([_at_least(tensor(each), 3) for each in tensors], 2)


@meaning("column_stack")
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    operands = [tensor(each) for each in tensors]
    return cat([with_axes(each, [*each.axes, *[()] * (2 - each.rank)]) for each in operands], 1)


@meaning("block_diag")
def block_diag(*tensors: Tensor) -> Tensor:
    operands = _operands([_at_least(tensor(each), 2) for each in tensors])
    rows, columns = (new_axis(sum((each.sizes[axis] for each in operands), ZERO)) for axis in (0, 1))
    body, starts = nothing(operands[0].kind), [ZERO, ZERO]
    for operand in operands:
        at = [place_of(axis) - start for axis, start in zip((rows, columns), starts)]
        inside = None
        for place, size in zip(at, operand.sizes):
            own = both(index_nonnegative(place), index_nonnegative(size - 1 - place))
            inside = own if inside is None else both(inside, own)
        assert inside is not None
        body = chosen(inside, entry(operand, at), body)
        starts = [start + size for start, size in zip(starts, operand.sizes)]
    return with_entry([rows, columns], body, operands[0].kind)


@meaning("meshgrid")
def meshgrid(*tensors: Tensor | Sequence[Tensor], indexing: str | None = None) -> tuple[Tensor, ...]:
    given = tensors if isinstance(tensors[0], Tensor) else tensors[0]
    operands = [_at_least(tensor(each), 1) for each in given]  # type: ignore[arg-type]  # a flat list by now
    if any(each.rank != 1 for each in operands):
        raise ShapeError("meshgrid", "tensors of at most 1 axis are needed")
    order = list(range(len(operands)))
    if indexing == "xy" and len(order) > 1:
        order[0], order[1] = 1, 0
    axes = [common_axis("meshgrid", operands[number].axes[0]) for number in order]
    grids = []
    for number, operand in enumerate(operands):
        own = place_of(axes[order.index(number)])
        grids.append(with_entry(axes, entry(operand, (own,)), operand.kind))
    return tuple(grids)


@meaning("cartesian_prod")
def cartesian_prod(*tensors: Tensor) -> Tensor:
    if len(tensors) == 1:
        return tensors[0]
    grids = meshgrid(*tensors)
    return stack([grid.reshape(-1) for grid in grids], 1)


@meaning("combinations")
def combinations(input: Tensor, r: SizeLike = 2, with_replacement: bool = False) -> Tensor:
    size = range(as_int(input.sizes[0], "combinations of a number of elements"))
    count = as_int(r, "combinations of a number of elements")
    rows = list((choices_with_replacement if with_replacement else choices)(size, count))
    if not rows:
        return build((ZERO, Dim.of(count)), lambda row, column: 0, input.kind)
    return stack([stack([input.select(0, place) for place in row]) for row in rows])
