"""Sums of products over labelled axes, what matrix products, `einsum` and their kin are made of."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from shaped.errors import ShapeError
from shaped.spec.dims import Dim
from shaped.spec.expr import Expr, Sum, real
from shaped.spec.meanings.complex_numbers import product as complex_product
from shaped.spec.meanings.kinds import promoted
from shaped.spec.meanings.places import common_axis, place_of
from shaped.spec.tensor import Axis, Tensor, with_entry

Label = Hashable


def contract(
    operation: str, operands: Sequence[Tensor], labels: Sequence[Sequence[Label]], output: Sequence[Label]
) -> Tensor:
    """The product of tensors, summed over the labels that the output lacks.

    A label that a tensor has twice stands for its diagonal; an axis of size 1 goes with any size of its label.

    Raises:
        ShapeError: two axes of one label have different sizes.
    """
    found: dict[Label, list[Axis]] = {}
    for operand, names in zip(operands, labels, strict=True):
        for name, axis in zip(names, operand.axes, strict=True):
            found.setdefault(name, []).append(axis)
    axes = {name: common_axis(operation, *([axis for axis in own if axis] or [()])) for name, own in found.items()}
    places = {name: place_of(axis) for name, axis in axes.items()}
    summed = [index for name, axis in axes.items() if name not in output for index in axis]
    factors = []
    for operand, names in zip(operands, labels, strict=True):
        at = [places[name] if axis else Dim.of(0) for name, axis in zip(names, operand.axes)]
        factors.append((operand, at))
    kind = promoted(*operands)
    if kind == "complex":
        pair = real(1), real(0)
        for operand, at in factors:
            own = operand.body_at(*at)
            pair = complex_product(pair, (own if isinstance(own, Expr) else operand.at(*at), operand.imaginary_at(*at)))
        for index in reversed(summed):
            pair = Sum(index, pair[0]), Sum(index, pair[1])
        return with_entry([axes[name] for name in output], pair, kind)
    body = real(1)
    for operand, at in factors:
        body = body * operand.at(*at)
    for index in reversed(summed):
        body = Sum(index, body)
    return with_entry([axes[name] for name in output], body, "int" if kind == "bool" else kind)


def require_equal(operation: str, what: str, left: Dim, right: Dim, operands: str = "") -> None:
    """Require two sizes to be equal.

    Raises:
        ShapeError: they differ.
    """
    if left != right:
        raise ShapeError(operation, f"{what} {left} and {right} differ", operands, dims=(left, right))


def require_rank(operation: str, operand: Tensor, *ranks: int) -> None:
    """Require a number of axes.

    Raises:
        ShapeError: it has another.
    """
    if operand.rank not in ranks:
        wanted = " or ".join(map(str, ranks))
        raise ShapeError(operation, f"a tensor of {wanted} axes is needed, not {operand.rank}")
