"""The same elements, in order, as another shape.

An axis keeps the factors that it was merged from, so merging and splitting again needs no division: `(b, t, d)` as
`(b*t, d)` has the first axis `(b, t)`. A factor is split where the sizes divide exactly; where they do not refine each
other, as `(2, 3)` as `(3, 2)`, places are found by floor division.
"""

from __future__ import annotations

from collections.abc import Sequence

from shaped.errors import ShapeError
from shaped.spec.atoms import Symbol
from shaped.spec.dims import ONE, ZERO, Dim, product
from shaped.spec.index import Index, flatten, fresh_index, split
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.sizes import DivisionNeeded, SizeLike, as_dim, as_sizes, division_that_makes_equal, quotient
from shaped.spec.normal_form import divide
from shaped.spec.substitution import substitute
from shaped.spec.tensor import Axis, NotExpressible, Tensor


def reshaped(input: Tensor, sizes: Sequence[Dim]) -> Tensor:
    """The elements in order as another shape, without -1 among its sizes.

    Raises:
        ShapeError: the numbers of elements differ.
    """
    axes, values = _Regrouping(list(input.indices), list(sizes)).run()
    imaginary = None if input.imaginary is None else substitute(input.imaginary, values)
    return Tensor(axes, substitute(input.body, values), input.kind, imaginary)


class _Regrouping:
    """The factors of one shape dealt out to the axes of another.

    Args:
        factors: the factors that are left, major first.
        sizes: the sizes of the new axes.
    """

    def __init__(self, factors: list[Index], sizes: list[Dim]) -> None:
        self.factors = factors
        self.sizes = sizes
        # What an old factor is in the new ones.
        self.values: dict[Symbol, Dim] = {}

    def run(self) -> tuple[list[Axis], dict[Symbol, Dim]]:
        """The new axes, and the old factors in their indices."""
        total, wanted = product([factor.size for factor in self.factors]), product(self.sizes)
        if total != wanted:
            division = division_that_makes_equal(total, wanted)
            if division is not None:
                raise DivisionNeeded("reshape", *division)
            raise ShapeError(
                "reshape", f"{total} elements cannot be {' x '.join(map(str, self.sizes))}", dims=(total, wanted)
            )
        if not total.terms:
            return [() if size == 1 else (fresh_index(size),) for size in self.sizes], dict.fromkeys(self.factors, ZERO)
        axes: list[Axis] = []
        while len(axes) < len(self.sizes):
            axis = self._axis(self.sizes[len(axes)])
            axes.extend(self._mixed(len(axes)) if axis is None else [axis])
        return axes, self._resolved()

    def _axis(self, size: Dim) -> Axis | None:
        """The factors that make an axis of this size, taken from the front; None if they do not fit."""
        kept, chosen = list(self.factors), list[Index]()
        splits: dict[Symbol, Dim] = {}
        while size != 1:
            if not kept:
                return None
            factor = kept.pop(0)
            rest = _quotient(size, factor.size)
            if rest is None:
                minor_size = _quotient(factor.size, size)
                if minor_size is None:
                    return None
                major, minor = fresh_index(size, factor.name), fresh_index(minor_size, factor.name)
                splits[factor] = major.dim * minor.size + minor.dim
                kept.insert(0, minor)
                factor, rest = major, ONE
            chosen.append(factor)
            size = rest
        self.factors = kept
        self.values.update(splits)
        return tuple(chosen)

    def _mixed(self, start: int) -> list[Axis]:
        """The new axes from `start` on up to where the shapes meet again, with places found by division."""
        count, factors = 1, list[Index]()
        while True:
            new = product(self.sizes[start : start + count])
            while self.factors and product([factor.size for factor in factors]) != new:
                if _quotient(new, product([factor.size for factor in factors])) is None:
                    break
                factors.append(self.factors.pop(0))
            if product([factor.size for factor in factors]) == new:
                break
            if start + count == len(self.sizes):
                factors += self.factors
                self.factors = []
                break
            count += 1
        axes: list[Axis] = [(fresh_index(size),) if size != 1 else () for size in self.sizes[start : start + count]]
        indices = [index for axis in axes for index in axis]
        flat = flatten([index.dim for index in indices], [index.size for index in indices])
        self.values.update(zip(factors, split(flat, [factor.size for factor in factors])))
        return axes

    def _resolved(self) -> dict[Symbol, Dim]:
        """The old factors in the indices of the new axes: a part of a factor may have been split again."""
        resolved: dict[Symbol, Dim] = {}
        for index, dim in reversed(self.values.items()):
            resolved[index] = dim.substitute(resolved)
        return resolved


def _quotient(dim: Dim, by: Dim) -> Dim | None:
    """dim / by, None if that is no whole size."""
    quotient, rest = divide(dim, by)
    return None if rest.terms else quotient


def with_inferred(input: Tensor, sizes: Sequence[Dim]) -> tuple[Dim, ...]:
    """The sizes with -1 replaced by what makes the number of elements equal.

    Raises:
        ShapeError: there are several -1, or no size fits.
    """
    unknown = [number for number, size in enumerate(sizes) if size == -1]
    if not unknown:
        return tuple(sizes)
    if len(unknown) > 1:
        raise ShapeError("reshape", "only one size can be -1")
    total = product(list(input.sizes))
    known = product([size for size in sizes if size != -1])
    inferred = quotient("reshape", total, known)
    return tuple(inferred if size == -1 else size for size in sizes)


@meaning("reshape", "view")
def reshape(input: Tensor, *shape: SizeLike) -> Tensor:
    if len(shape) == 1 and str(shape[0]).startswith("torch."):
        raise NotExpressible("a view of the bits as another dtype")
    return reshaped(input, with_inferred(input, as_sizes(shape)))


@backward("reshape", "view")
def reshape_backward(grad: Tensor, input: Tensor, *shape: SizeLike) -> Tensor:
    return reshaped(grad, input.sizes)


@meaning("reshape_as", "view_as")
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    return reshaped(input, other.sizes)


@backward("reshape_as", "view_as")
def reshape_as_backward(grad: Tensor, input: Tensor, other: Tensor) -> tuple[Tensor, None]:
    return reshaped(grad, input.sizes), None


@meaning("flatten")
def flatten_(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    start, end = input.axis(start_dim), input.axis(end_dim)
    if start > end:
        raise ShapeError("flatten", f"the axis {start_dim} stands after {end_dim}")
    merged = tuple(index for axis in input.axes[start : end + 1] for index in axis)
    axes = (*input.axes[:start], merged, *input.axes[end + 1 :])
    return Tensor(axes, input.body, input.kind, input.imaginary)


@backward("flatten")
def flatten_backward(grad: Tensor, input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    return reshaped(grad, input.sizes)


@meaning("ravel")
def ravel(input: Tensor) -> Tensor:
    return flatten_(input)


@backward("ravel")
def ravel_backward(grad: Tensor, input: Tensor) -> Tensor:
    return reshaped(grad, input.sizes)


@meaning("unflatten")
def unflatten(input: Tensor, dim: int, sizes: Sequence[SizeLike]) -> Tensor:
    axis = input.axis(dim)
    alone = Tensor((input.axes[axis],), input.body, "int")
    parts = with_inferred(alone, tuple(as_dim(size) for size in sizes))
    return reshaped(input, (*input.sizes[:axis], *parts, *input.sizes[axis + 1 :]))


@backward("unflatten")
def unflatten_backward(grad: Tensor, input: Tensor, dim: int, sizes: Sequence[SizeLike]) -> Tensor:
    return reshaped(grad, input.sizes)


@meaning("view_as_complex")
def view_as_complex(input: Tensor) -> Tensor:
    if not input.axes or input.sizes[-1] != 2:
        raise ShapeError("view_as_complex", "the last axis must have size 2: real and imaginary part")
    places = input.places[:-1]
    parts = [input.at(*places, Dim.of(part)) for part in (0, 1)]
    return Tensor(input.axes[:-1], parts[0], "complex", parts[1])
