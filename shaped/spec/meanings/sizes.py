"""Sizes and axes as programs give them: ints, dims, size objects, one by one or in a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from shaped.errors import ShapeError
from shaped.spec.bounds import lower_bound
from shaped.spec.dims import ONE, ZERO, Dim, FloorDiv, Monomial
from shaped.spec.normal_form import common_monomial, divide, divide_monomial
from shaped.spec.tensor import Axis, NotExpressible, Tensor

# What a program may pass where a size is expected: an int, a `Dim`, or an object whose `dim` is one.
SizeLike = Any


def as_dim(value: SizeLike) -> Dim:
    """A size that a program gave: an int, a `Dim`, an object whose attribute `dim` is one, an int tensor without axes.

    >>> print(as_dim(3), as_dim(Dim.name("n")))
    3 n

    Raises:
        NotExpressible: it is none of these.
    """
    if isinstance(value, Dim):
        return value
    if isinstance(value, Tensor):
        if value.rank == 0 and value.kind == "int":
            return value.whole_at()
        raise NotExpressible("a tensor that is no single int, as a size")
    found = getattr(value, "dim", None)
    if isinstance(found, Dim):
        return found
    try:
        return Dim.of(value.__index__())
    except (AttributeError, TypeError):
        raise NotExpressible(f"{value!r} as a size") from None


def as_int(value: SizeLike, what: str) -> int:
    """A number that has to be the same for all sizes.

    Raises:
        NotExpressible: it depends on a size; `what` says what it is.
    """
    constant = as_dim(value).constant
    if constant is None:
        raise NotExpressible(f"{what} {as_dim(value)}, which is not the same for all sizes")
    return constant


def is_size(value: object) -> bool:
    """Whether it is an int, a `Dim` or a size object, not a list of them."""
    return isinstance(value, (int, Dim)) or isinstance(getattr(value, "dim", None), Dim)


def as_sizes(values: Sequence[SizeLike]) -> tuple[Dim, ...]:
    """The sizes of `*values`, which may be one list of them."""
    if len(values) == 1 and not is_size(values[0]) and isinstance(values[0], Iterable):
        values = tuple(values[0])
    return tuple(as_dim(value) for value in values)


def as_axes(operand: Tensor, dims: Sequence[Any] | int) -> tuple[int, ...]:
    """The numbers of the axes of `*dims`, which may be one list of them, none twice.

    Raises:
        ShapeError: an axis is named twice, or there is no such axis.
    """
    values: Sequence[Any] = (dims,) if isinstance(dims, int) else dims
    if len(values) == 1 and not is_size(values[0]):
        values = tuple(values[0])
    axes = tuple(operand.axis(as_int(dim, "the axis")) for dim in values)
    if len(set(axes)) < len(axes):
        raise ShapeError("dim", f"an axis is named twice in {values}")
    return axes


def per_axis(value: SizeLike | Sequence[SizeLike], count: int) -> tuple[Dim, ...]:
    """A size for each of `count` axes, from one for all or one for each.

    Raises:
        ShapeError: the number of sizes differs.
    """
    if is_size(value):
        return (as_dim(value),) * count
    dims = tuple(as_dim(each) for each in value)
    if len(dims) == 1:
        return dims * count
    if len(dims) != count:
        raise ShapeError("sizes", f"{len(dims)} sizes for {count} axes")
    return dims


def axis_size(axis: Axis) -> Dim:
    """The size of an axis."""
    size = ONE
    for index in axis:
        size = size * index.size
    return size


def may_be_one(size: Dim) -> bool:
    """Whether the size is not seen to be at least 2."""
    low = lower_bound(size)
    return low is None or low < 2


class DivisionNeeded(NotExpressible):
    """A program is followed only where one size divides another, which is not known.

    Args:
        what: the operation.
        size: what is divided.
        by: what divides it.
    """

    def __init__(self, what: str, size: Dim, by: Dim) -> None:
        super().__init__(f"{what} of {size} elements in parts of {by}, which need not divide it")
        self.size = size
        self.by = by


def quotient(what: str, size: Dim, by: Dim) -> Dim:
    """size / by.

    Raises:
        ShapeError: it leaves a rest.
        DivisionNeeded: it may leave one.
    """
    found, rest = divide(size, by) if by.terms else (ZERO, size)
    if not rest.terms:
        return found
    if size.constant is not None and by.constant is not None:
        raise ShapeError(what, f"{by} does not divide {size}", dims=(size, by))
    shared = common_monomial(Dim(dict.fromkeys((*dict(size.terms), *dict(by.terms)), 1)))
    raise DivisionNeeded(what, _without(size, shared), _without(by, shared))


def _without(dim: Dim, shared: Monomial) -> Dim:
    """A size without the atoms that all of its terms have."""
    terms = ((divide_monomial(monomial, shared), coefficient) for monomial, coefficient in dim.terms)
    return Dim({monomial: coefficient for monomial, coefficient in terms if monomial is not None})


def division_that_makes_equal(left: Dim, right: Dim) -> tuple[Dim, Dim] | None:
    """A size and what has to divide it for two sizes to be equal, as `d` and `h` for `h*(d//h)` and `d`; None if none.

    >>> d, h = Dim.name("d"), Dim.name("h")
    >>> print(*division_that_makes_equal(h * (d // h), d) or ())
    d h
    """
    for atom in (left - right).atoms():
        if isinstance(atom, FloorDiv) and (symbol := atom.numerator.symbol) is not None:
            multiple = {symbol: atom.denominator * Dim.name(f"{symbol.name}/{atom.denominator}")}
            if left.substitute(multiple) == right.substitute(multiple):
                return atom.numerator, atom.denominator
    return None
