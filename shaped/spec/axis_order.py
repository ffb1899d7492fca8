"""The order of axes, followed through what regroups them: a view that moves elements across named axes is no transpose.

An axis is a product of factors in row-major order. `view` keeps the sequence of all factors and only draws the borders
of the axes anew. So if named sizes come out in another order than they went in, (b, t, h*d) as (b, h, t, d), then the
new axis h is not the old one: its slices are cut across t. torch computes on, with something else.

The order in which axes were merged into one is remembered beside the shape (`TensorType.merged`): the size alone, a
polynomial, is the same for b*t and t*b. An order that is not remembered may be any.

Only what holds for all sizes is said. Nothing is said of sizes that were not followed or that occur twice, of numbers
that fit in several ways, and of two axes that change places where one is a sum: the relative shift of Transformer-XL
views (i, j+1) as (j+1, i) on purpose, drops a row and views back.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from shaped.errors import ShapeError
from shaped.spec.atoms import Atom, FloorDiv, Kind, Min, Symbol
from shaped.spec.dims import ONE, Dim, product

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from shaped.spec.context import Context
    from shaped.spec.shape import Shape
    from shaped.spec.values import TensorType

Factors = tuple[Dim, ...]
Name = Atom | Dim  # a factor of a size that has no factors itself; a Dim is a sum

# Beside what is remembered of merged axes: the elements were moved across axes, on purpose or by a fault that was said.
# What is cut of them and viewed back says nothing.
REINTERPRETED: Final[Factors] = ()


def regrouped_as(context: Context, operation: str, tensor: TensorType, shape: Shape) -> TensorType:
    """The tensor with its elements in the same order under another shape. Named axes that change places are a fault.

    >>> from shaped.spec.context import Context
    >>> from shaped.spec.shape import Shape
    >>> from shaped.spec.values import TensorType
    >>> b, t, h, d = map(Dim.name, "bthd")
    >>> context = Context()
    >>> _ = regrouped_as(context, "view", TensorType.of(b, t, h * d), Shape.of(b, h, t, d))
    >>> print(context.found[0].reason, context.found[0].hint, sep="; ")
    the elements lie in the order b, t, h, d, not b, h, t, d; view(b, t, h, d).transpose(1, 2)?
    """
    result = tensor.with_shape(shape)
    if tensor.shape.rank is None or shape.rank is None or (tensor.shape.rank < 2 and not tensor.merged):
        return result  # nothing is known of the order within one axis
    if shape == tensor.shape:
        return remembered(result, tensor.merged)
    before = [factor for dim in tensor.shape.dims for factor in factors_of(tensor, dim)]
    merged = [factors for factors in tensor.merged if factors]
    old_axes, new_axes = _between(before, shape.dims)
    if len(old_axes) < 2 or len(new_axes) < 2:  # most views split one axis, or merge some into one
        return remembered(result, [*merged, tuple(old_axes)] if len(old_axes) > 1 and new_axes else merged)
    regrouping = _Regrouping(tensor.shape.dims, before, shape.dims, *_comparable(context, before, shape.dims))
    for old, new in regrouping.stretches():
        if len(new) == 1 and len(old) > 1:
            merged.append(tuple(before[i] for i in old))
        elif len(new) > 1 and len(old) > 1:
            parts = regrouping.parts(old, new)
            moved = _moved(context, *parts)
            if moved is not None and _is_certain(context, tensor):
                fault = regrouping.fault(moved, *parts, old)
                fault.operation, fault.operands = operation, f"{tensor} as {shape}"
                context.found.append(fault)
            if (moved is not None or _is_shift(*parts)) and REINTERPRETED not in tensor.merged:
                merged.append(REINTERPRETED)
    return remembered(result, merged)


def _between(before: Sequence[Dim], after: Sequence[Dim]) -> tuple[list[Dim], list[Dim]]:
    """The axes of two shapes between those that both start with and end with, without those of size 1."""
    start, end, count = 0, 0, min(len(before), len(after))
    while start < count and before[start] == after[start]:
        start += 1
    while end < count - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old, new = ([dim for dim in side[start : len(side) - end] if dim != ONE] for side in (before, after))
    return old, new


def _is_certain(context: Context, tensor: TensorType) -> bool:
    return context.is_clear and not tensor.joined and REINTERPRETED not in tensor.merged


def factors_of(tensor: TensorType, dim: Dim) -> Factors:
    """The factors that an axis of this size was merged of, outermost first; itself if that is not known."""
    return next((factors for factors in tensor.merged if product(factors) == dim), (dim,))


def remembered(tensor: TensorType, merged: Sequence[Factors]) -> TensorType:
    """The tensor with what is known of its merged axes.

    Left out are sizes that no axis or several axes have, sizes that have a name of their own (d = h*(d//h) may as well
    be split in another way), and those of which two orders are claimed.
    """
    if tensor.shape.rank is None:
        return tensor
    known: dict[Dim, Factors | None] = {}
    for factors in merged:
        size = product(factors)
        if size.constant is None and size.symbol is None and tensor.shape.dims.count(size) == 1:
            known[size] = factors if known.get(size, factors) == factors else None
    kept = tuple(factors for factors in known.values() if factors is not None)
    if REINTERPRETED in merged:
        kept = (*kept, REINTERPRETED)
    return replace(tensor, merged=kept) if kept != tensor.merged else tensor


def _comparable(context: Context, *sides: Sequence[Dim]) -> list[list[Dim]]:
    """Sizes in one form: what is known is applied, and e is h*(e//h) where e//h occurs."""
    read = [[dim if dim.constant is not None else context.facts.normalize(dim) for dim in side] for side in sides]
    apart: dict[Atom, Dim | None] = {}
    for dim in (dim for side in read for dim in side):
        for floor in dim.atoms():
            if isinstance(floor, FloorDiv):
                whole, part = floor.numerator.symbol, floor.denominator
                if whole is not None and len(part.terms) == 1 and whole not in part.symbols():
                    factors = part * Dim.atom(floor)
                    apart[whole] = factors if apart.get(whole, factors) == factors else None
    return [[dim.replace_atoms(apart.get) for dim in side] for side in read] if apart else read


@dataclass(frozen=True)
class _Part:
    """An axis taken apart: a number and named factors with their powers."""

    number: int
    names: Mapping[Name, int]

    @property
    def is_sum(self) -> bool:
        """Whether it is a sum, which counts as one name."""
        return any(isinstance(name, Dim) for name in self.names)

    @staticmethod
    def of(dim: Dim) -> _Part:
        if len(dim.terms) != 1:
            return _Part(1, {dim: 1})
        ((monomial, number),) = dim.terms
        return _Part(abs(number), dict(monomial))  # ceil(h/2) is -(-h//2)


@dataclass(frozen=True)
class _Regrouping:
    """The axes before a view, those that they were merged of, and the new ones, as shown and in comparable form."""

    axes: Sequence[Dim]
    before: Sequence[Dim]
    after: Sequence[Dim]
    comparable_before: Sequence[Dim]
    comparable_after: Sequence[Dim]

    def stretches(self) -> list[tuple[list[int], list[int]]]:
        """The smallest stretches of axes that hold the same elements before and after; axes of size 1 are left out."""
        old = [i for i, dim in enumerate(self.comparable_before) if dim != ONE]
        new = [i for i, dim in enumerate(self.comparable_after) if dim != ONE]
        ends: dict[Dim, int] = {}
        elements = ONE
        for count, i in enumerate(old, start=1):
            elements = elements * self.comparable_before[i]
            ends[elements] = count
        found = []
        elements, start, first = ONE, 0, 0
        for count, i in enumerate(new, start=1):
            elements = elements * self.comparable_after[i]
            end = ends.get(elements, 0)
            if end > start:
                found.append((old[start:end], new[first:count]))
                start, first = end, count
        return found

    def parts(self, old: Sequence[int], new: Sequence[int]) -> tuple[list[_Part], list[_Part]]:
        """A stretch of axes before and after, taken apart."""
        before = [_Part.of(self.comparable_before[i]) for i in old]
        return before, [_Part.of(self.comparable_after[i]) for i in new]

    def fault(
        self, moved: tuple[Dim, Dim], before: Sequence[_Part], after: Sequence[_Part], old: Sequence[int]
    ) -> ShapeError:
        """What is wrong with the stretch of the axes `old`, in which two factors change places."""
        order, asked = _taken_apart(before, after), _taken_apart(after, before)
        head, tail = list(self.before[: old[0]]), list(self.before[old[-1] + 1 :])
        shown = dict(zip(self.comparable_before, self.before, strict=True))
        order, asked = [[*head, *(shown.get(dim, dim) for dim in side), *tail] for side in (order, asked)]
        if Counter(order) != Counter(asked):
            reason = f"{moved[0]} stands before {moved[1]} in the order of the elements, behind it here"
            return ShapeError("", reason, dims=moved, code="shape-axes")
        reason = f"the elements lie in the order {_listed(order)}, not {_listed(asked)}"
        hint = _hint(self.axes, self.after, order, asked)
        return ShapeError("", reason, hint=hint, dims=moved, code="shape-axes")


def _moved(context: Context, before: Sequence[_Part], after: Sequence[_Part]) -> tuple[Dim, Dim] | None:
    """Two factors that change places for certain, in their old order; None if there are none."""
    powers: list[Counter[Name]] = [Counter(), Counter()]
    for count, parts in zip(powers, (before, after), strict=True):
        for part in parts:
            count.update(part.names)
    if powers[0] != powers[1] or _is_shift(before, after):
        return None
    names = [name for name in powers[0] if _is_free(context, name) and not _may_be_one(after, name)]
    for name in (name for name in names if powers[0][name] == 1):
        old, new = (_place(parts, name) for parts in (before, after))
        for other in names:
            # The powers of the other name that stand in front, without and with those of the same axis.
            front, asked = _powers_before(before, old, other), _powers_before(after, new, other)
            if front[0] > asked[1]:
                return _size(other), _size(name)
            if front[1] < asked[0]:
                return _size(name), _size(other)
        if before[old].number == after[new].number == 1:
            behind, asked_behind = _number(before[old + 1 :]), _number(after[new + 1 :])
            if behind > asked_behind:
                return _size(name), Dim.of(behind // asked_behind)
            if behind < asked_behind:
                return Dim.of(asked_behind // behind), _size(name)
    return None


def _is_shift(before: Sequence[_Part], after: Sequence[_Part]) -> bool:
    """Whether two axes change places of which one is a sum, as in a relative shift."""
    return len(before) == 2 and list(after) == [before[1], before[0]] and any(part.is_sum for part in before)


def _powers_before(parts: Sequence[_Part], place: int, name: Name) -> tuple[int, int]:
    least = sum(part.names.get(name, 0) for part in parts[:place])
    return least, least + parts[place].names.get(name, 0)


def _is_free(context: Context, name: Name) -> bool:
    """Whether a factor is any size that a caller chose, and not 1 unless the caller says so."""
    symbols = {name} if isinstance(name, Symbol) else _size(name).symbols()
    return all(
        symbol.kind in (Kind.NAME, Kind.QUANTITY) and context.defaults.get(symbol, Dim.of(2)) != ONE
        for symbol in symbols
    )


def _may_be_one(after: Sequence[_Part], name: Name) -> bool:
    """Whether a size that an operation made, such as h//32 of a convolution, may be meant to be 1.

    It is if it is merged into another axis: (b, c, h//32, w//32) as (b*(h//32)*(w//32), c), where all is pooled.
    """
    return _is_made(name) and not all(map(_is_made, after[_place(after, name)].names))


def _is_made(name: Name) -> bool:
    if isinstance(name, FloorDiv):
        # n//p is written, and is more than 1, where p is a number that a caller chose: windows, patches, heads.
        return name.numerator.symbol is None or name.denominator.symbol is None
    if not isinstance(name, Dim):
        return not isinstance(name, Symbol)
    return not all(number > 0 and all(isinstance(atom, Symbol) for atom, _ in term) for term, number in name.terms)


def _size(name: Name) -> Dim:
    return Dim.atom(name) if isinstance(name, (Symbol, FloorDiv, Min)) else name


def _place(parts: Sequence[_Part], name: Name) -> int:
    return next(i for i, part in enumerate(parts) if name in part.names)


def _number(parts: Sequence[_Part]) -> int:
    number = 1
    for part in parts:
        number *= part.number
    return number


def _taken_apart(parts: Sequence[_Part], others: Sequence[_Part]) -> list[Dim]:
    """The factors of axes, those that the other side has in one axis as one, in the other side's order."""
    found: list[Dim] = []
    for part in parts:
        by_place: dict[int, Dim] = {}
        for name, power in part.names.items():
            place = _place(others, name)
            by_place[place] = by_place.get(place, ONE) * _size(name) ** power
        alone = [i for i, other in enumerate(others) if not other.names and other.number == part.number]
        if part.number != 1 and (alone or not by_place):
            by_place[alone[0] if alone else -1] = Dim.of(part.number)
        elif by_place:
            by_place[min(by_place)] = by_place[min(by_place)] * part.number
        found += [by_place[place] for place in sorted(by_place)]
    return [-dim if str(dim).startswith("-") else dim for dim in found]


def _hint(before: Sequence[Dim], after: Sequence[Dim], order: Sequence[Dim], asked: Sequence[Dim]) -> str:
    """How to bring the factors from the one order into the other, and then to the shape that was asked for."""
    if len(set(order)) < len(order):
        return ""
    places = [order.index(dim) for dim in asked]
    changed = [i for i, place in enumerate(places) if place != i]
    split = "" if list(before) == list(order) else f"view({_listed(order)})."
    move = f"transpose({_listed(changed)})" if len(changed) == 2 else f"permute({_listed(places)})"
    merge = "" if list(after) == list(asked) else f".reshape({_listed(after)})"
    return f"{split}{move}{merge}?"


def _listed(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))
