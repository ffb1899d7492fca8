"""A tensor is the sizes of its axes and the entry at a place."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from shaped.errors import ShapeError
from shaped.spec.dims import Dim
from shaped.spec.evaluation import evaluate
from shaped.spec.expr import Condition, Expr, Greatest, Product, Sum, index_nonnegative, positive
from shaped.spec.scalars.fractions import Fractions
from shaped.spec.tensor import (
    NotExpressible,
    Tensor,
    broadcast,
    build,
    constant,
    greatest,
    multiplied,
    pointwise,
    reduced,
    summed,
    variable,
)

SIZES = {"n": 2, "m": 3, "k": 4}
VALUES = {
    "x": np.arange(6).reshape(2, 3) - 2,
    "y": np.arange(3) * 5,
    "w": np.arange(12).reshape(3, 4),
    "keep": np.array([True, False, True]),
}
X, Y, W = variable("x", ("n", "m")), variable("y", ("m",)), variable("w", ("m", "k"))
KEEP = variable("keep", ("m",), "bool")


def value(tensor: Tensor) -> np.ndarray:
    """The entries of a tensor at the sizes and values above, with its size-1 axes."""
    found = evaluate(tensor.body, tensor.indices, Fractions(), SIZES, VALUES)
    shape = [
        int(size.evaluate({Dim.name(name).symbol: given for name, given in SIZES.items()})) for size in tensor.sizes
    ]
    return np.asarray(found).reshape(shape)


def test_a_given_tensor_is_its_entries() -> None:
    assert (value(X) == VALUES["x"]).all()
    assert str(X) == "(n, m): x[i, j]"


def test_a_built_tensor_says_its_entry_at_a_place() -> None:
    product = build(
        (Dim.name("n"), Dim.name("k")), lambda i, j: summed(Dim.name("m"), lambda k: X.at(i, k) * W.at(k, j))
    )
    assert (value(product) == VALUES["x"] @ VALUES["w"]).all()


def test_pointwise_operations_broadcast_from_the_last_axis() -> None:
    assert (value(pointwise(lambda x, y: x * y, X, Y)) == VALUES["x"] * VALUES["y"]).all()
    assert (value(pointwise(lambda y, x: y - x, Y, X)) == VALUES["y"] - VALUES["x"]).all()
    assert (value(pointwise(lambda x, c: x + c, X, Fraction(1, 2))) == VALUES["x"] + Fraction(1, 2)).all()


def test_an_axis_of_size_one_stretches() -> None:
    column = build((Dim.name("n"), 1), lambda i, j: X.at(i, Dim.of(0)))
    assert column.sizes == (Dim.name("n"), Dim.of(1))
    assert (value(pointwise(lambda c, x: c * x, column, X)) == VALUES["x"][:, :1] * VALUES["x"]).all()


def test_different_sizes_do_not_broadcast() -> None:
    with pytest.raises(ShapeError, match="sizes n and m differ"):
        broadcast(variable("a", ("n",)), variable("b", ("m",)))


@pytest.mark.parametrize("dims, keepdim", [((), False), ((0,), False), ((-1,), True), ((0, 1), False), ((1, -2), True)])
def test_reductions_take_axes_in_any_spelling(dims: tuple[int, ...], keepdim: bool) -> None:
    axes = dims or None
    x = VALUES["x"]
    assert (value(reduced(Sum, X, dims, keepdim)) == np.sum(x, axis=axes, keepdims=keepdim)).all()
    assert (value(reduced(Product, X, dims, keepdim)) == np.prod(x, axis=axes, keepdims=keepdim)).all()
    assert (value(reduced(Greatest, X, dims, keepdim)) == np.max(x, axis=axes, keepdims=keepdim)).all()


def test_sums_products_and_maxima_are_taken_over_a_size() -> None:
    m = Dim.name("m")
    taken = [summed(m, lambda k: Y.at(k) + 1), multiplied(m, lambda k: Y.at(k) + 1), greatest(m, lambda k: -Y.at(k))]
    y = VALUES["y"]
    assert [value(Tensor((), each, "float")) for each in taken] == [(y + 1).sum(), (y + 1).prod(), (-y).max()]
    assert summed(1, lambda k: Y.at(k)) is Y.at(0)


def test_a_bool_tensor_has_conditions_which_count_as_one_and_zero() -> None:
    assert isinstance(KEEP.condition_at(0), Condition)
    assert (value(pointwise(lambda k, y: k * y, KEEP, Y)) == VALUES["keep"] * VALUES["y"]).all()
    both = pointwise(lambda a, b: a & b, KEEP, build((Dim.name("m"),), lambda i: index_nonnegative(i - 1)), kind="bool")
    assert (value(both) == [False, False, True]).all()
    assert isinstance(X.condition_at(0, 0), Condition)


def test_a_merged_axis_is_one_place_to_who_reads_it() -> None:
    flat = Tensor(((*X.axes[0], *X.axes[1]),), X.body, "float")
    assert flat.sizes == (Dim.name("n") * Dim.name("m"),)
    (place,) = flat.places
    assert flat.at(place) is X.at(*X.places)
    rows = reduced(Sum, flat, (0,))
    assert value(rows) == VALUES["x"].sum()


def test_the_entries_of_an_int_tensor_are_indices() -> None:
    labels = variable("labels", ("n",), "int", Dim.name("m"))
    chosen = build((Dim.name("n"),), lambda i: X.at(i, labels.whole_at(i)))
    found = evaluate(chosen.body, chosen.indices, Fractions(), SIZES, {**VALUES, "labels": [2, 0]})
    assert list(found) == [VALUES["x"][0, 2], VALUES["x"][1, 0]]
    with pytest.raises(NotExpressible, match="as an index"):
        X.whole_at(0, 0)


def test_a_complex_tensor_is_two_real_ones_and_never_taken_for_one() -> None:
    z = variable("z", ("n",), "complex")
    product = pointwise(lambda a, b: (a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]), z, z, complex_parts=True)
    assert product.kind == "complex"
    with pytest.raises(NotExpressible, match="complex"):
        z.at(0)


def test_floats_are_the_decimal_numbers_that_people_write() -> None:
    assert str(constant(0.1).body) == "1/10"
    assert str(constant(1e-5).body) == "1/100000"
    assert str(constant(float("-inf")).body) == "-inf"
    with pytest.raises(NotExpressible, match="nan"):
        constant(float("nan"))


def test_there_is_no_axis_beyond_the_rank() -> None:
    assert [X.axis(dim) for dim in (0, 1, -1, -2)] == [0, 1, 1, 0]
    with pytest.raises(ShapeError, match="no axis 2 in 2 axes"):
        X.axis(2)


def test_conditions_on_numbers_are_entries_too() -> None:
    mask = pointwise(lambda x: positive(x), X)
    assert mask.kind == "bool"
    assert isinstance(mask.body, Condition)
    assert isinstance(mask.at(0, 0), Expr)
