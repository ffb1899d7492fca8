"""What operations do to axes that were merged of others: which keep them, which merge axes, where two orders meet.

`axis_order` says what is remembered of a merged axis and what follows from it. Operations that are not named here
forget it.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from shaped.errors import ShapeError
from shaped.spec.atoms import Kind
from shaped.spec.axis_arithmetic import Computed, Evaluate
from shaped.spec.axis_order import Factors, factors_of, remembered
from shaped.spec.dims import ONE, Dim, product
from shaped.spec.values import Many, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shaped.spec.annotation import ArrayAnnotation
    from shaped.spec.context import Context

_ALL: Final = slice(None)

# The axes that operations take one by one, by the file of the table that declares them. The others are made anew.
_KEPT: Final = {
    "activation": _ALL,
    "activation_modules": _ALL,
    "arithmetic": _ALL,
    "attention": slice(0, -1),
    "blend": _ALL,
    "comparison": _ALL,
    "contraction": slice(0, -1),
    "conversion": _ALL,
    "convolution": slice(0, 1),
    "convolution_modules": slice(0, 1),
    "elementwise": _ALL,
    "embedding": slice(0, -1),
    "joining": _ALL,
    "linear": slice(0, -1),
    "movement": _ALL,
    "normalization": _ALL,
    "normalization_modules": _ALL,
    "pooling": slice(0, 2),
    "pooling_modules": slice(0, 2),
    "recurrent": slice(0, -1),
    "reduction": _ALL,
    "scan": _ALL,
    "splitting": _ALL,
    "transformer": slice(0, -1),
    "vision": slice(0, 1),
}
_KEPT_BY_NAME: Final = {
    "expand": _ALL,
    "expand_as": _ALL,
    "broadcast_to": _ALL,
    "broadcast_tensors": _ALL,
}
_HEADS: Final = re.compile("head|kv|kh|hk|nh")
# Whose rules say what they merge.
_SAY_IT_THEMSELVES: Final = frozenset(["einops", "expansion", "reshape", "shape_modules"])
# Operations that put elements of several tensors together, place by place: their axes have to be merged alike.
_TOGETHER: Final = frozenset(["arithmetic", "attention", "blend", "comparison", "contraction", "einsum", "joining"])
_LOSSES: Final = frozenset(["class_losses", "losses", "loss_modules"])  # whose result need not have these axes


def kept(context: Context, name: str, file: str, operands: Sequence[TensorType], result: Value) -> Value:
    """The result of an operation, with what is known of merged axes that it has from its operands.

    Args:
        context: the path; axes of two operands that are merged in different orders are a fault on it.
        name: the operation.
        file: the file of the table that declares it.
        operands: its tensors.
        result: what its rule gave.
    """
    file = file.rpartition(".")[2]
    if len(operands) > 1 and file in _TOGETHER | _LOSSES and context.is_clear and isinstance(result, TensorType):
        _require_one_order(context, name, operands, None if file in _LOSSES else result)
    axes = _KEPT_BY_NAME.get(name, _KEPT.get(file))
    if axes is None:
        return result if file in _SAY_IT_THEMSELVES else _forgotten(result)
    merged = [factors for each in operands[: None if axes is _ALL else 1] for factors in _of(each, axes)]
    return _with(result, axes, merged)


def _forgotten(result: Value) -> Value:
    """The result of an operation that may reorder elements: `sort` gives the shape that it is given."""
    if isinstance(result, TensorType):
        return replace(result, merged=()) if result.merged else result
    if isinstance(result, tuple):
        return tuple(map(_forgotten, result))
    return Many(_forgotten(result.element), result.length) if isinstance(result, Many) else result


def _of(tensor: TensorType, axes: slice) -> tuple[Factors, ...]:
    if axes is _ALL or tensor.shape.rank is None:
        return tensor.merged
    here = tensor.shape.dims[: 1 if axes.stop == 1 else None]
    return tuple(factors for factors in tensor.merged if any(factors_of(tensor, dim) == factors for dim in here))


def _with(result: Value, axes: slice, merged: Sequence[Factors]) -> Value:
    if isinstance(result, TensorType):
        known = remembered(result, (*result.merged, *merged))
        if axes is _ALL or not known.merged or known.shape.rank is None:
            return known
        inside = known.shape.dims[axes]
        return replace(known, merged=tuple(each for each in known.merged if product(each) in inside))
    if isinstance(result, tuple):
        return tuple(_with(part, axes, merged) for part in result)
    return Many(_with(result.element, axes, merged), result.length) if isinstance(result, Many) else result


def _require_one_order(
    context: Context, operation: str, operands: Sequence[TensorType], result: TensorType | None
) -> None:
    """Note a fault where two operands merged one axis, of the result if given, of equal factors in different orders."""
    first = next(each for each in operands if each.merged)
    for other in operands:
        for factors in other.merged if other is not first else ():
            own = next((each for each in first.merged if set(each) == set(factors)), factors)
            size = product(own)
            is_kept = result is None or size in result.shape.axes
            if own != factors and is_kept and _face_each_other(size, first, other):
                orders = [", ".join(map(str, each)) for each in (own, factors)]
                reason = f"the axes of size {size} lie in the order {orders[0]} here and {orders[1]} there"
                hint = "repeat_interleave in place of repeat, or transpose before the view?"
                shown = ", ".join(map(str, operands))
                context.found.append(ShapeError(operation, reason, shown, hint, dims=own, code="shape-axes"))
                return


def _face_each_other(size: Dim, first: TensorType, other: TensorType) -> bool:
    """Whether two tensors have an axis of this size at the same place, from the front or from the end."""
    places = [each.shape.axes.index(size) for each in (first, other)]
    return places[0] == places[1] or len(first.shape.axes) - places[0] == len(other.shape.axes) - places[1]


def repeated_axes(tensor: TensorType, sizes: Sequence[Dim], counts: Sequence[Dim]) -> list[Factors]:
    """What `repeat` merges: the repeats stand outside of what is repeated."""
    pairs = [pair for pair in zip(sizes, counts, strict=True) if ONE not in pair]
    return [*tensor.merged, *((count, *factors_of(tensor, size)) for size, count in pairs)]


def joined_axis(parts: Sequence[TensorType], axis: int, count: Dim) -> list[Factors]:
    """What `cat` of tensors of one size merges along an axis: the tensors, one behind the other, stand outside."""
    sizes = [part.shape.at(axis) for part in parts]
    size = sizes[0]
    if size is None or size == ONE or any(each != size for each in sizes):
        return []
    inner = {factors_of(part, size) for part in parts}
    return [(count, *inner.pop())] if len(inner) == 1 else []


def written_factors(axis: object, names: Mapping[str, Dim], evaluate: Evaluate | None) -> Factors | None:
    """The factors of an annotation's axis that is a product, as written; None if it is none.

    >>> from shaped.spec.axis_arithmetic import read_arithmetic
    >>> b, t = Dim.name("b"), Dim.name("t")
    >>> print(*written_factors(read_arithmetic("t*b"), {"b": b, "t": t}, None))
    t b
    """
    if not isinstance(axis, Computed) or axis.tree is None:
        return None
    leaves: list[ast.expr] = [axis.tree]
    while isinstance(leaves[0], ast.BinOp) and isinstance(leaves[0].op, ast.Mult):
        leaves[:1] = [leaves[0].left, leaves[0].right]
    found = [replace(axis, tree=leaf).size(names, evaluate) for leaf in leaves]
    factors = tuple(dim for dim in found if dim is not None)
    return factors if 1 < len(factors) == len(found) else None


def are_other_names_first(factors: Factors, written: Factors) -> bool:
    """Whether an axis was merged of the dim names that an annotation multiplies, each once, in another order."""
    names = {factor.symbol for factor in written if factor.symbol is not None and factor.symbol.kind is Kind.NAME}
    return len(names) == len(written) == len(factors) and factors != written and set(factors) == set(written)


def are_tiled_heads(annotation: ArrayAnnotation, number: int, factors: Factors, written: Factors) -> bool:
    """Whether an axis of heads, written as heads*n, was merged as n*heads: each group of queries meets the wrong head.

    A product with a number or a caller's int is written in any order (`scale*h` for an upsampled h), so that only heads
    are looked at: an axis behind the batch whose name says so.
    """
    if number == 0 or len(written) != 2 or factors != (written[1], written[0]):
        return False
    name = str(written[0]).lower()
    if name == "h":
        return not any(str(axis).lower() in ("w", "width") for axis in annotation.axes)  # no height
    return _HEADS.search(name) is not None
