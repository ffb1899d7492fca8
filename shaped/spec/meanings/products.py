"""Products of tensors over pairs of axes, Kronecker's and the cross product."""

from __future__ import annotations

from collections.abc import Sequence

from shaped.errors import ShapeError
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.labels import contract
from shaped.spec.meanings.places import with_axes
from shaped.spec.meanings.sizes import as_int, is_size
from shaped.spec.tensor import NotExpressible, Tensor


@meaning("tensordot")
def tensordot(a: Tensor, b: Tensor, dims: int | Sequence[Sequence[int]] = 2) -> Tensor:
    if is_size(dims):
        count = as_int(dims, "the number of axes")
        pairs = [(a.rank - count + number, number) for number in range(count)]
    else:
        left, right = ((each,) if isinstance(each, int) else tuple(each) for each in dims)  # type: ignore[union-attr]  # two sides
        if len(left) != len(right):
            raise ShapeError("tensordot", f"{len(left)} axes of one tensor, {len(right)} of the other")
        pairs = [(a.axis(one), b.axis(other)) for one, other in zip(left, right)]
    labels: list[list[object]] = [[("a", axis) for axis in range(a.rank)], [("b", axis) for axis in range(b.rank)]]
    for number, (one, other) in enumerate(pairs):
        labels[0][one] = labels[1][other] = number
    output = [label for each in labels for label in each if not isinstance(label, int)]
    return contract("tensordot", [a, b], labels, output)


@meaning("kron")
def kron(input: Tensor, other: Tensor) -> Tensor:
    rank = max(input.rank, other.rank)
    left, right = ([("l", axis) for axis in range(rank - each.rank, rank)] for each in (input, other))
    right = [("r", axis) for _, axis in right]
    product = contract("kron", [input, other], [left, right], [*left, *right])
    found = dict(zip([*left, *right], product.axes))
    axes = [(*found.get(("l", axis), ()), *found.get(("r", axis), ())) for axis in range(rank)]
    return with_axes(product, axes)


@meaning("linalg.cross")
def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    first, second = (each.roll(-1, dim) for each in (input, other))
    before, after = (each.roll(1, dim) for each in (input, other))
    axis = max(input.rank, other.rank) + dim if dim < 0 else dim
    for operand in (input, other):
        if operand.sizes[operand.axis(dim)] != 3:
            raise ShapeError("cross", f"axis {axis} must have size 3, not {operand.sizes[operand.axis(dim)]}")
    found: Tensor = first * after - before * second
    return found


@meaning("cross")
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    if dim is None:
        fitting = [number for number, size in enumerate(input.sizes) if size == 3]
        if not fitting or any(size.constant is None for size in input.sizes[: fitting[0]]):
            raise NotExpressible("cross without dim, where the first axis of size 3 is not evident")
        dim = fitting[0]
    return linalg_cross(input, other, dim=dim)


@backward("linalg.cross")
def linalg_cross_backward(grad: Tensor, input: Tensor, other: Tensor, *, dim: int = -1) -> tuple[Tensor, Tensor]:
    if input.sizes != other.sizes:
        raise NotExpressible("the backward of cross for tensors that broadcast")
    return linalg_cross(other, grad, dim=dim), linalg_cross(grad, input, dim=dim)
