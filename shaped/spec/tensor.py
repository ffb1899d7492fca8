"""A tensor as what it means: the sizes of its axes and the expression of its entry at a place.

`build` makes one from a function of the place, as `matmul` is
`build((n, m), lambda i, j: summed(k, lambda l: a.at(i, l) * b.at(l, j)))`. Sizes are symbolic or numbers.

A `Tensor` is used like torch's: operators, methods and `torch` functions find the meaning of the operation in the
table (`spec.meaning`), so plain torch code runs on it (`spec.protocol`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import ONE, ZERO, Dim, DimLike, product
from shaped.spec.expr import (
    Condition,
    Constant,
    Expr,
    Flag,
    Greatest,
    Product,
    Sum,
    Variable,
    Whole,
    bracket,
    real,
)
from shaped.spec.index import Index, flatten, fresh_index, lookup, split
from shaped.spec.protocol import TorchProtocol
from shaped.spec.substitution import substitute

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shaped.spec.atoms import Symbol

Axis = tuple[Index, ...]
Number = bool | int | float | complex | Fraction | Dim
# What an entry may be said to be: a pair is a complex number.
Body = Expr | Condition | tuple[Expr, Expr]


class NotExpressible(Exception):
    """A construct of a program has no index expression; the text names it."""


class Tensor(TorchProtocol):
    """A tensor as an index expression.

    Args:
        axes: for each axis the indices that its place is made of, major first: one, more where axes were merged by a
            reshape, none where the size is 1.
        body: the entry, in these indices: an `Expr`, or a `Condition` for a bool tensor.
        kind: "float", "int", "bool" or "complex".
        imaginary: the imaginary part of the entry of a complex tensor.

    >>> x = variable("x", ("n", 3))
    >>> print(x, (x * x).sum(-1))
    (n, 3): x[i, j] (n,): (sum over j < 3 of x[i, j]*x[i, j])
    """

    def __init__(self, axes: Sequence[Axis], body: Expr | Condition, kind: str, imaginary: Expr | None = None) -> None:
        self.axes = tuple(axes)
        self.body = body
        self.kind = kind
        self.imaginary = imaginary
        self.version = 0  # grows with every write in place

    @property
    def sizes(self) -> tuple[Dim, ...]:
        """The sizes of the axes."""
        return tuple(product([index.size for index in axis]) for axis in self.axes)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.axes)

    @property
    def indices(self) -> tuple[Index, ...]:
        """The indices of all axes, in order."""
        return tuple(index for axis in self.axes for index in axis)

    @property
    def places(self) -> tuple[Dim, ...]:
        """The place of the entry that the body says: an index expression for each axis."""
        return tuple(_place(axis) for axis in self.axes)

    def axis(self, dim: int) -> int:
        """The number of an axis that may be counted from the end.

        Raises:
            ShapeError: there is no such axis.
        """
        if not -max(self.rank, 1) <= dim < max(self.rank, 1):
            raise ShapeError("dim", f"there is no axis {dim} in {self.rank} axes")
        return dim % max(self.rank, 1)

    def at(self, *places: DimLike) -> Expr:
        """The entry at a place, one index expression for each axis; 1 or 0 of a bool tensor.

        Raises:
            NotExpressible: the tensor is complex.
        """
        if self.imaginary is not None:
            raise NotExpressible("a complex number where a real one is needed")
        body = self.body_at(*places)
        return body if isinstance(body, Expr) else bracket(body)

    def condition_at(self, *places: DimLike) -> Condition:
        """Whether the entry at a place is not 0."""
        from shaped.spec.expr import negation, zero

        body = self.body_at(*places)
        return body if isinstance(body, Condition) else negation(zero(body))

    def whole_at(self, *places: DimLike) -> Dim:
        """The entry of an int tensor at a place, as an index.

        Raises:
            NotExpressible: it is no index expression.
        """
        body = self.body_at(*places)
        if isinstance(body, Whole):
            return body.dim
        if isinstance(body, Constant) and body.value.denominator == 1:
            return Dim.of(body.value.numerator)
        raise NotExpressible(f"the value {body} as an index")

    def body_at(self, *places: DimLike) -> Expr | Condition:
        """The entry at a place, the real part of it for a complex tensor."""
        return substitute(self.body, self._values(places))

    def imaginary_at(self, *places: DimLike) -> Expr:
        """The imaginary part of the entry at a place."""
        return real(0) if self.imaginary is None else substitute(self.imaginary, self._values(places))

    def _values(self, places: Sequence[DimLike]) -> dict[Symbol, Dim]:
        assert len(places) == self.rank, f"{len(places)} places for {self.rank} axes"
        values: dict[Symbol, Dim] = {}
        for axis, place in zip(self.axes, places):
            if len(axis) == 1:
                values[axis[0]] = Dim.of(place)
            elif axis:
                parts = split(Dim.of(place), [index.size for index in axis])
                values.update(zip(axis, parts))
        return {index: place for index, place in values.items() if place.symbol != index}

    def __repr__(self) -> str:
        sizes = f"({', '.join(map(str, self.sizes))}{',' * (self.rank == 1)})"
        return f"{sizes}: {self.body}" + ("" if self.imaginary is None else f" + i*({self.imaginary})")


TensorLike = Tensor | Number


def variable(name: str, sizes: Sequence[DimLike | str], kind: str = "float", bound: Dim | None = None) -> Tensor:
    """A tensor that is given; a name among `sizes` is a dim of any size from 1; `bound` is above all its integers."""
    dims = tuple(Dim.name(size) if isinstance(size, str) else Dim.of(size) for size in sizes)
    return variable_on(name, _axes(dims), kind, bound)


def variable_on(
    name: str, axes: Sequence[Axis], kind: str = "float", bound: Dim | None = None, low: int | None = 0
) -> Tensor:
    """A tensor that is given, with these axes; `bound` is above all its integers, `low` at most all of them."""
    sizes, places = factors_of(axes)
    if kind == "complex":
        real_part, imaginary = (Variable(f"{name}.{part}", sizes)[places] for part in ("real", "imag"))
        return Tensor(axes, real_part, kind, imaginary)
    given = Variable(name, sizes, kind)
    if kind == "bool":
        return Tensor(axes, Flag(given, places), kind)
    return Tensor(axes, real(lookup(name, places, bound, low)) if kind == "int" else given[places], kind)


def factors_of(axes: Sequence[Axis]) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
    """The sizes and places of a variable with these axes: one for each factor, and one for each axis of size 1."""
    found: list[tuple[Dim, Dim]] = []
    for axis in axes:
        found += [(index.size, index.dim) for index in axis] or [(ONE, ZERO)]
    return tuple(size for size, _ in found), tuple(place for _, place in found)


def build(sizes: Sequence[DimLike], entry: Callable[..., Body | int], kind: str | None = None) -> Tensor:
    """The tensor of these sizes whose entry at the places i, j, ... is `entry(i, j, ...)`.

    `kind` is told by the entry where it is not given: a `Condition` is bool, a pair complex, anything else float.
    """
    axes = _axes(tuple(Dim.of(size) for size in sizes))
    return with_entry(axes, entry(*(_place(axis) for axis in axes)), kind)


def with_entry(axes: Sequence[Axis], entry: Body | int, kind: str | None = None) -> Tensor:
    """The tensor with these axes whose entry, in their indices, is `entry`."""
    if isinstance(entry, tuple):
        return Tensor(axes, entry[0], "complex", entry[1])
    if isinstance(entry, Condition):
        return Tensor(axes, entry, "bool") if kind in (None, "bool") else Tensor(axes, bracket(entry), kind)
    return Tensor(axes, real(entry), kind or "float")


def constant(value: Number) -> Tensor:
    """A number as a tensor without axes. A float is taken for the decimal number that it prints as.

    Raises:
        NotExpressible: it is NaN.
    """
    from shaped.spec.expr import INFINITY, TRUE, negation

    if isinstance(value, bool):
        return Tensor((), TRUE if value else negation(TRUE), "bool")
    if isinstance(value, (int, Dim)):
        return Tensor((), real(value), "int")
    if isinstance(value, Fraction):
        return Tensor((), real(value), "float")
    if isinstance(value, complex):
        parts = [constant(part).body for part in (value.real, value.imag)]
        assert isinstance(parts[0], Expr)
        assert isinstance(parts[1], Expr)
        return Tensor((), parts[0], "complex", parts[1])
    if value != value:
        raise NotExpressible("the number nan")
    if abs(value) == float("inf"):
        return Tensor((), INFINITY if value > 0 else -INFINITY, "float")
    return Tensor((), Constant(Fraction(repr(float(value)))), "float")


def tensor(value: TensorLike) -> Tensor:
    """A tensor, or a number as a tensor without axes."""
    return value if isinstance(value, Tensor) else constant(value)


def pointwise(
    entry: Callable[..., Body], *operands: TensorLike, kind: str | None = None, complex_parts: bool = False
) -> Tensor:
    """The tensor whose entry is `entry` of the operands' entries, broadcast as torch does.

    An operand of bool kind gives its entry as 1 or 0, unless all operands are bool and `kind` is bool: then as
    `Condition`s. With `complex_parts`, each operand gives a pair of real and imaginary part.

    Raises:
        ShapeError: the operands do not broadcast.
        NotExpressible: one is complex and `complex_parts` is not set.
    """
    tensors = [tensor(operand) for operand in operands]
    axes = broadcast(*tensors)
    places = tuple(_place(axis) for axis in axes)
    entries: list[object] = []
    for each in tensors:
        own = places[len(places) - each.rank :]
        if complex_parts:
            body = each.body_at(*own)
            entries.append((body if isinstance(body, Expr) else bracket(body), each.imaginary_at(*own)))
        elif kind == "bool" and all(other.kind == "bool" for other in tensors):
            entries.append(each.condition_at(*own))
        else:
            entries.append(each.at(*own))
    return with_entry(axes, entry(*entries), kind)


def broadcast(*tensors: Tensor) -> tuple[Axis, ...]:
    """The axes of the result of a pointwise operation.

    Raises:
        ShapeError: two sizes differ and neither is 1.
    """
    rank = max((each.rank for each in tensors), default=0)
    axes: list[Axis] = []
    for number in range(rank):
        chosen: Axis = ()
        for each in tensors:
            own = number - rank + each.rank
            if own < 0 or not each.axes[own]:
                continue
            if not chosen or len(each.axes[own]) > len(chosen):
                if chosen and _size(chosen) != _size(each.axes[own]):
                    raise _unequal(chosen, each.axes[own])
                chosen = each.axes[own]
            elif _size(chosen) != _size(each.axes[own]):
                raise _unequal(chosen, each.axes[own])
        axes.append(tuple(fresh_index(index.size, index.name) for index in chosen))
    return tuple(axes)


def _unequal(left: Axis, right: Axis) -> ShapeError:
    return ShapeError("broadcast", f"sizes {_size(left)} and {_size(right)} differ", dims=(_size(left), _size(right)))


def summed(size: DimLike, term: Callable[[Dim], Expr]) -> Expr:
    """The sum of `term(k)` over `0 <= k < size`."""
    return _taken(Sum, size, term)


def multiplied(size: DimLike, factor: Callable[[Dim], Expr]) -> Expr:
    """The product of `factor(k)` over `0 <= k < size`."""
    return _taken(Product, size, factor)


def greatest(size: DimLike, value: Callable[[Dim], Expr]) -> Expr:
    """The greatest `value(k)` over `0 <= k < size`."""
    return _taken(Greatest, size, value)


def _taken(binder: type[Sum | Product | Greatest], size: DimLike, body: Callable[[Dim], Expr]) -> Expr:
    size = Dim.of(size)
    if size == ONE:
        return body(Dim.of(0))
    index = fresh_index(size, "k")
    return binder(index, body(index.dim))


def reduced(
    binder: type[Sum | Product | Greatest], operand: Tensor, dims: Sequence[int], keepdim: bool = False
) -> Tensor:
    """A float tensor summed, multiplied or maximised over some axes; over all of them if `dims` is empty."""
    chosen = {operand.axis(dim) for dim in dims} if dims else set(range(operand.rank))
    parts = [operand.at(*operand.places)] if operand.imaginary is None else [operand.body, operand.imaginary]
    results: list[Expr] = []
    for body in parts:
        assert isinstance(body, Expr)
        for number in sorted(chosen, reverse=True):
            for index in reversed(operand.axes[number]):
                body = binder(index, body)
        results.append(body)
    axes = [() if number in chosen else axis for number, axis in enumerate(operand.axes)]
    if not keepdim:
        axes = [axis for number, axis in enumerate(axes) if number not in chosen]
    kind = "int" if operand.kind in ("int", "bool") else operand.kind
    return Tensor(axes, results[0], kind, results[1] if len(results) > 1 else None)


def _axes(sizes: Sequence[Dim]) -> tuple[Axis, ...]:
    names = "ijklpqrstuvw"
    return tuple(
        () if size == ONE else (fresh_index(size, names[number] if number < len(names) else f"i{number}"),)
        for number, size in enumerate(sizes)
    )


def _size(axis: Axis) -> Dim:
    return product([index.size for index in axis])


def _place(axis: Axis) -> Dim:
    return flatten([index.dim for index in axis], [index.size for index in axis])
