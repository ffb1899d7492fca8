"""Reading and adding at places that integer tensors say.

What overwrites (`scatter`, `index_copy`, `put`) depends on the order of writing where an index names a place twice: it
is expressible only where the index cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shaped.errors import ShapeError
from shaped.spec.dims import ZERO, Dim, product
from shaped.spec.expr import Condition, Expr, both, bracket, index_nonnegative, index_zero, positive, where
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.creation import as_dtype, filled
from shaped.spec.meanings.indexing import getitem, setitem
from shaped.spec.meanings.kinds import converted, promoted
from shaped.spec.meanings.lookups import at_value, wrapped
from shaped.spec.meanings.padding import pad
from shaped.spec.meanings.places import entry, fresh_axis, place_of
from shaped.spec.meanings.reshape import reshaped
from shaped.spec.tensor import (
    Axis,
    Body,
    NotExpressible,
    Tensor,
    TensorLike,
    broadcast,
    build,
    summed,
    tensor,
    with_entry,
)

Grads = tuple[Tensor | None, ...]


def _replaced(places: Sequence[Dim], axis: int, place: Dim) -> tuple[Dim, ...]:
    return (*places[:axis], place, *places[axis + 1 :])


def _at_index(index: Tensor, places: Sequence[Dim], then: Callable[[Dim], Expr]) -> Expr:
    """`then` of an entry of an int tensor, as a number."""
    found = at_value(index, places, then)
    assert isinstance(found, Expr)
    return found


def total(sizes: Sequence[Dim], term: Callable[..., Expr]) -> Expr:
    """The sum of `term(i, j, ...)` over all places of these sizes."""

    def over(places: tuple[Dim, ...]) -> Expr:
        if len(places) == len(sizes):
            return term(*places)
        return summed(sizes[len(places)], lambda place: over((*places, place)))

    return over(())


def _require_axes(operation: str, input: Tensor) -> None:
    if not input.rank:
        raise NotExpressible(f"{operation} of a tensor without axes")


def _names(index: Tensor, places: Sequence[Dim], place: Dim, size: Dim) -> Expr:
    """1 where an entry of an int tensor is a place of an axis of this size, from the start or from the end, else 0."""
    return _at_index(
        index, places, lambda value: _real(wrapped(value, size, lambda own: bracket(index_zero(own - place))))
    )


def _real(body: Body) -> Expr:
    assert isinstance(body, Expr)
    return body


@meaning("gather")
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    _require_axes("gather", input)
    axis = input.axis(dim)
    if index.rank != input.rank:
        if product(list(index.sizes)) == 0:  # torch lets it have any number of axes
            return build(index.sizes, lambda *at: 0, input.kind)
        raise ShapeError("gather", f"the index has {index.rank} axes, the input {input.rank}")
    axes = [fresh_axis(each) for each in index.axes]
    places = [place_of(each) for each in axes]
    body = at_value(index, places, lambda value: entry(input, _replaced(places, axis, value)))
    return with_entry(axes, body, input.kind)


@backward("gather")
def gather_backward(grad: Tensor, input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Grads:
    return filled(input.sizes, 0, None, "float").scatter_add(dim, index, grad), None


@meaning("take_along_dim")
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    if dim is None:
        return getitem(input.reshape(-1), indices.reshape(-1))
    axis = input.axis(dim)
    sizes = [
        own if own != 1 or number == axis else other
        for number, (own, other) in enumerate(zip(input.sizes, indices.sizes))
    ]
    wide_input = input.expand(*_replaced(sizes, axis, input.sizes[axis]))
    wide_indices = indices.expand(*_replaced(sizes, axis, indices.sizes[axis]))
    axes = [fresh_axis(each) for each in wide_indices.axes]
    places, size = [place_of(each) for each in axes], input.sizes[axis]
    body = at_value(
        wide_indices,
        places,
        lambda value: wrapped(value, size, lambda own: entry(wide_input, _replaced(places, axis, own))),
    )
    return with_entry(axes, body, input.kind)


@meaning("take")
def take(input: Tensor, index: Tensor) -> Tensor:
    return getitem(input.reshape(-1), index)


@meaning("index_select")
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    if index.rank > 1:
        raise ShapeError("index_select", f"the index needs 1 axis, not {index.rank}")
    _require_axes("index_select", input)
    axis = input.axis(dim)
    axes: list[Axis] = [fresh_axis(each) for each in input.axes]
    axes[axis] = fresh_axis(index.axes[0]) if index.rank else ()
    places = [place_of(each) for each in axes]
    body = at_value(index, places[axis : axis + index.rank], lambda value: entry(input, _replaced(places, axis, value)))
    return with_entry(axes, body, input.kind)


@backward("index_select")
def index_select_backward(grad: Tensor, input: Tensor, dim: int, index: Tensor) -> Grads:
    return filled(input.sizes, 0, None, "float").index_add(dim, index, grad), None


@meaning("scatter_add")
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    _require_axes("scatter_add", input)
    axis = input.axis(dim)
    if not input.rank == index.rank == src.rank:
        raise ShapeError("scatter_add", "input, index and src need equally many axes")

    def scattered(*places: Dim) -> Expr:
        def term(own: Dim) -> Expr:
            at = _replaced(places, axis, own)
            added = _at_index(index, at, lambda value: bracket(index_zero(value - places[axis]))) * src.at(*at)
            # The index may be smaller than the input along the other axes.
            for number, (place, size) in enumerate(zip(places, index.sizes)):
                if number != axis and size != input.sizes[number]:
                    added = where(_below(place, size), added, 0)
            return added

        return input.at(*places) + summed(index.sizes[axis], term)

    return build(input.sizes, scattered, promoted(input, src))


def _below(place: Dim, size: Dim) -> Condition:
    return index_nonnegative(size - 1 - place)


@backward("scatter_add")
def scatter_add_backward(grad: Tensor, input: Tensor, dim: int, index: Tensor, src: Tensor) -> Grads:
    to_src = grad.gather(dim, index)
    if index.sizes != src.sizes:
        to_src = _padded(to_src, src.sizes)
    return grad, None, to_src


def _padded(operand: Tensor, sizes: Sequence[Dim]) -> Tensor:
    """With zeros after the end, to larger sizes."""
    amounts = [amount for own, size in zip(operand.sizes[::-1], sizes[::-1]) for amount in (ZERO, size - own)]
    return pad(operand, amounts)


@meaning("index_add")
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: TensorLike = 1) -> Tensor:
    _require_axes("index_add", input)
    axis = input.axis(dim)
    if index.rank != 1:
        raise ShapeError("index_add", f"the index needs 1 axis, not {index.rank}")
    if source.rank != input.rank:
        raise ShapeError("index_add", f"source has {source.rank} axes, the input {input.rank}")
    factor = tensor(alpha).at()

    def added(*places: Dim) -> Expr:
        def term(own: Dim) -> Expr:
            hit = _at_index(index, (own,), lambda value: bracket(index_zero(value - places[axis])))
            return hit * source.at(*_replaced(places, axis, own))

        return input.at(*places) + factor * summed(index.sizes[0], term)

    return build(input.sizes, added, promoted(input, source))


@backward("index_add")
def index_add_backward(
    grad: Tensor, input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: TensorLike = 1
) -> Grads:
    return grad, None, grad.index_select(dim, index) * alpha


@meaning("index_copy")
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    _require_axes("index_copy", input)
    return _with_written(input, (*[slice(None)] * input.axis(dim), index), source)


@meaning("index_fill")
def index_fill(input: Tensor, dim: int, index: Tensor, value: TensorLike) -> Tensor:
    _require_axes("index_fill", input)
    axis = input.axis(dim)
    filling = as_dtype(tensor(value), input.kind)

    def written(place: Dim) -> Expr:
        """How often the index names a place."""
        return summed(index.sizes[0], lambda k: _names(index, (k,), place, input.sizes[axis]))

    return build(
        input.sizes,
        lambda *places: where(positive(written(places[axis])), filling.at(), input.at(*places)),
        input.kind,
    )


def _with_written(input: Tensor, key: object, value: TensorLike) -> Tensor:
    written = Tensor(input.axes, input.body, input.kind, input.imaginary)
    setitem(written, key, value)
    return written


@meaning("index_put")
def index_put(input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
    key = tuple(slice(None) if index is None else index for index in indices)
    if not accumulate:
        return _with_written(input, key, values)
    given = [index for index in indices if index is not None]
    if len(given) != len(indices) or any(index.kind != "int" for index in given):
        raise NotExpressible("index_put with accumulate along some axes only, or with a mask")
    part = getitem(input, key)
    wide: Tensor = values.expand(part.sizes)
    count = part.rank - (input.rank - len(given))
    shared = broadcast(*given)
    sizes = part.sizes[:count]

    def added(*places: Dim) -> Expr:
        def term(*own: Dim) -> Expr:
            hit: Expr = wide.at(*own, *places[len(given) :])
            for number, index in enumerate(given):
                at = own[len(shared) - index.rank :]
                hit = hit * _names(index, at, places[number], input.sizes[number])
            return hit

        return input.at(*places) + total(sizes, term)

    return build(input.sizes, added, promoted(input, values))


@meaning("put")
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    flat, values = input.reshape(-1), source.reshape(index.sizes)
    return reshaped(index_put(flat, (index,), values, accumulate), input.sizes)


@meaning("scatter")
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: TensorLike | None = None,
    *,
    reduce: str | None = None,
    value: TensorLike | None = None,
) -> Tensor:
    written = value if src is None else src
    if written is None:
        raise ShapeError("scatter", "src or value is needed")
    _require_axes("scatter", input)
    source = tensor(written)
    source = source if source.rank else source.expand(index.sizes)
    if reduce == "add":
        return scatter_add(input, dim, index, converted(source, input.kind))
    if reduce is not None:
        raise NotExpressible(f"scatter with reduce={reduce!r}")
    if index.sizes[input.axis(dim)] != 1:
        if not tensor(written).rank and index.sizes == _replaced(
            input.sizes, input.axis(dim), index.sizes[input.axis(dim)]
        ):
            return _scatter_value(input, input.axis(dim), index, tensor(written))
        raise NotExpressible("scatter where an index may name a place twice, and the last write counts")
    return _scatter_once(input, input.axis(dim), index, as_dtype(source, input.kind))


def _scatter_once(input: Tensor, axis: int, index: Tensor, source: Tensor) -> Tensor:
    """One write along the axis for each place on the others: no place is named twice."""

    def scattered(*places: Dim) -> Expr:
        at = _replaced(places, axis, ZERO)
        old = input.at(*places)

        def then(value: Dim) -> Expr:
            hit = index_zero(value - places[axis])
            for number, (place, size) in enumerate(zip(places, index.sizes)):
                if number != axis and size != input.sizes[number]:
                    hit = both(hit, _below(place, size))
            return where(hit, source.at(*at), old)

        return _at_index(index, at, then)

    return build(input.sizes, scattered, input.kind)


def _scatter_value(input: Tensor, axis: int, index: Tensor, value: Tensor) -> Tensor:
    """One value wherever the index points: the order of writing does not matter."""

    def scattered(*places: Dim) -> Expr:
        def hit(own: Dim) -> Expr:
            at = _replaced(places, axis, own)
            return _at_index(index, at, lambda found: bracket(index_zero(found - places[axis])))

        return where(positive(summed(index.sizes[axis], hit)), value.at(), input.at(*places))

    return build(input.sizes, scattered, input.kind)


@meaning("scatter_reduce")
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    if reduce != "sum" or not include_self:
        raise NotExpressible(f"scatter_reduce with reduce={reduce!r} and include_self={include_self}")
    return scatter_add(input, dim, index, src)
