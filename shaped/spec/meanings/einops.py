"""einops: axes taken apart and put together as a pattern says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shaped.errors import ShapeError
from shaped.spec.dims import ONE, Dim, product
from shaped.spec.meaning import meaning
from shaped.spec.meanings.joining import cat, stack
from shaped.spec.meanings.labels import Label, contract
from shaped.spec.meanings.reshape import reshape
from shaped.spec.meanings.sizes import DivisionNeeded, SizeLike, as_dim, division_that_makes_equal, quotient
from shaped.spec.ops.einops_pattern import (
    Element,
    Group,
    Number,
    PatternError,
    check_operation,
    parse_packing,
    parse_pattern,
    parse_side,
)
from shaped.spec.tensor import NotExpressible, Tensor

_REDUCTIONS = {"sum": "sum", "mean": "mean", "prod": "prod", "max": "amax", "min": "amin", "any": "any", "all": "all"}


class _Axes:
    """The axes that the left side of a pattern names, with their sizes; those of `...` have numbers."""

    def __init__(self, operation: str, input: Tensor, pattern: str, lengths: dict[str, SizeLike]) -> None:
        self.sizes: dict[Element, Dim] = {name: as_dim(length) for name, length in lengths.items()}
        try:
            self.left, self.right = parse_pattern(pattern)
            check_operation(operation, self.left, self.right, frozenset(lengths))
        except PatternError as error:
            raise ShapeError(operation, str(error), f'"{pattern}"') from None
        self.operation = operation
        count = input.rank - len(self.left.groups)
        if count < 0 or (count and self.left.split is None):
            raise ShapeError(operation, f"the pattern has {len(self.left.groups)} axes, the tensor {input.rank}")
        self.rest = [("...", number) for number in range(count)] if self.left.split is not None else []
        self.elements: list[Any] = []
        own = iter(input.sizes)
        for axis in self.left.axes:
            if axis is ...:
                for label in self.rest:
                    self.sizes[label] = next(own)  # type: ignore[index]  # a label of its own kind
                    self.elements.append(label)
            else:
                self._take_apart(axis, next(own))
                self.elements += axis
        self.apart: Tensor = input.reshape([self.sizes[each] for each in self.elements])

    def _take_apart(self, group: Group, size: Dim) -> None:
        unknown = [element for element in group if element not in self.sizes and not isinstance(element, Number)]
        for element in group:
            if isinstance(element, Number):
                self.sizes[element] = Dim.of(element.size)
        known = product([self.sizes[element] for element in group if element in self.sizes])
        if len(unknown) > 1:
            raise ShapeError(self.operation, f"the sizes of {' and '.join(map(str, unknown))} are not given")
        if not unknown:
            if known != size:
                division = division_that_makes_equal(known, size)
                if division is not None:
                    raise DivisionNeeded(self.operation, *division)
                raise ShapeError(self.operation, f"sizes {known} and {size} differ", dims=(known, size))
            return
        self.sizes[unknown[0]] = quotient(self.operation, size, known)

    def groups(self) -> list[list[Any]]:
        """What each axis of the right side is made of."""
        found: list[list[Any]] = []
        for axis in self.right.axes:
            if axis is ...:
                found += [[label] for label in self.rest]
            else:
                found.append([part for element in axis for part in (self.rest if element is ... else [element])])
        return found


def _transformed(operation: str, input: Any, pattern: str, lengths: dict[str, SizeLike], reduction: str = "") -> Tensor:
    whole = input if isinstance(input, Tensor) else stack(input)
    axes = _Axes(operation, whole, pattern, lengths)
    groups = axes.groups()
    wanted = [element for group in groups for element in group]
    current, order = axes.apart, list(axes.elements)
    gone = [number for number, element in enumerate(order) if element not in wanted]
    if gone:
        if reduction not in _REDUCTIONS:
            raise NotExpressible(f"reduce with {reduction!r}")
        if reduction in ("prod", "any", "all"):
            for number in reversed(gone):
                current = getattr(current, reduction)(number)
        else:
            current = getattr(current, _REDUCTIONS[reduction])(tuple(gone))
        order = [element for element in order if element in wanted]
    for element in wanted:
        if element not in order:
            size = Dim.of(element.size) if isinstance(element, Number) else axes.sizes[element]
            axes.sizes[element] = size
            current = current.unsqueeze(-1).expand(*current.sizes, size)
            order.append(element)
    moved = current.permute(*(order.index(element) for element in wanted)) if wanted else current
    return reshape(moved, [product([axes.sizes[element] for element in group]) for group in groups])


@meaning("rearrange")
def rearrange(tensor: Any, pattern: str, **axes_lengths: SizeLike) -> Tensor:
    return _transformed("rearrange", tensor, pattern, axes_lengths)


@meaning("repeat.einops")
def repeat(tensor: Any, pattern: str, **axes_lengths: SizeLike) -> Tensor:
    return _transformed("repeat", tensor, pattern, axes_lengths)


@meaning("reduce.einops")
def reduce(tensor: Any, pattern: str, reduction: str, **axes_lengths: SizeLike) -> Tensor:
    return _transformed("reduce", tensor, pattern, axes_lengths, reduction)


@meaning("einsum.einops")
def einsum(*tensors_and_pattern: Any) -> Tensor:
    *tensors, pattern = tensors_and_pattern
    left, arrow, right = pattern.partition("->")
    if not arrow:
        raise ShapeError("einsum", "there is no `->`", f'"{pattern}"')
    sides = [parse_side(side, underscore=True, repeated=True) for side in [*left.split(","), right]]
    labels: list[list[Label]] = []
    for number, side in enumerate(sides):
        if any(axis is ... or len(axis) != 1 for axis in side.axes):
            raise NotExpressible("`...`, brackets or a 1 in einops' einsum")
        own: list[Label] = [axis[0] for axis in side.groups]
        # `_` is an axis of its own for each tensor.
        labels.append([(number, place) if name == "_" else name for place, name in enumerate(own)])
    return contract("einsum", tensors, labels[:-1], labels[-1])


@meaning("pack")
def pack(tensors: Sequence[Tensor], pattern: str) -> tuple[Tensor, list[tuple[Dim, ...]]]:
    before, after = parse_packing(pattern)
    flat, shapes = [], []
    for each in tensors:
        end = each.rank - after
        shapes.append(each.sizes[before:end])
        flat.append(each.reshape([*each.sizes[:before], product(list(each.sizes[before:end])), *each.sizes[end:]]))
    return cat(flat, before), shapes


@meaning("unpack")
def unpack(tensor: Tensor, packed_shapes: Sequence[Sequence[SizeLike]], pattern: str) -> list[Tensor]:
    before, _ = parse_packing(pattern)
    shapes = [[as_dim(size) for size in shape] for shape in packed_shapes]
    start, parts = ONE - 1, list[Tensor]()
    for shape in shapes:
        length = product(shape)
        part = tensor.narrow(before, start, length)
        parts.append(part.reshape([*tensor.sizes[:before], *shape, *tensor.sizes[before + 1 :]]))
        start = start + length
    return parts
