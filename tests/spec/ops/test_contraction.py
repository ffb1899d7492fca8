"""Products of tensors: matmul and its kin."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.errors import DtypeError, ShapeError
from shaped.spec.context import Context
from shaped.spec.dtypes import FLOAT32, INT64
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.against_torch import check_exact
from tests.spec.ops.shapes import D, H, apply, b, d, floats, h, n, nearly, of, positive, shape_of, some, t


@st.composite
def factors(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor]:
    """Two tensors that mostly have a matrix product."""
    a = draw(some())
    other = draw(some())
    if a and other:
        other[-2 if len(other) > 1 else -1] = a[-1]
        for i in range(3, min(len(a), len(other)) + 1):
            other[-i] = draw(st.sampled_from([1, a[-i], a[-i], 3]))
    # Not on the meta device: there torch does not look at dtypes.
    dtype = draw(st.sampled_from([torch.float32] * 8 + [torch.int64]))
    return torch.ones(a), torch.ones(draw(nearly(other)), dtype=dtype)


@given(factors())
@settings(max_examples=200)
def test_a_matrix_product_of_any_ranks_is_that_of_torch(pair: tuple[torch.Tensor, torch.Tensor]) -> None:
    a, other = pair
    check_exact("torch.matmul", a, other)
    check_exact("Tensor.__matmul__", a, other)
    check_exact("Tensor.__rmatmul__", other, a)
    for name in ("torch.mm", "torch.bmm", "torch.mv", "torch.dot"):
        check_exact(name, a, other)


@given(st.tuples(positive, positive, positive, positive), st.data())
def test_products_of_given_ranks_are_those_of_torch(sizes: tuple[int, int, int, int], data: st.DataObject) -> None:
    batch, rows, inner, columns = sizes

    def tensor(*shape: int) -> torch.Tensor:
        return torch.ones(data.draw(nearly(list(shape))))

    check_exact("torch.mm", tensor(rows, inner), tensor(inner, columns))
    check_exact("torch.bmm", tensor(batch, rows, inner), tensor(batch, inner, columns))
    check_exact("torch.mv", tensor(rows, inner), tensor(inner))
    check_exact("torch.addmm", tensor(rows, columns), tensor(rows, inner), tensor(inner, columns))
    check_exact("torch.addmv", tensor(rows), tensor(rows, inner), tensor(inner))
    check_exact("torch.addr", tensor(rows, columns), tensor(rows), tensor(columns))
    product = tensor(batch, rows, inner), tensor(batch, inner, columns)
    check_exact("torch.baddbmm", tensor(batch, rows, columns), *product)
    check_exact("torch.addbmm", tensor(rows, columns), *product)
    chain = [tensor(rows, inner), tensor(inner, columns), tensor(columns, batch)]
    check_exact("torch.linalg.multi_dot", chain)
    check_exact("torch.chain_matmul", *chain)


@given(some(0, 3), some(0, 3))
@settings(max_examples=40)
def test_products_of_vectors_are_those_of_torch(shape: list[int], other: list[int]) -> None:
    for name in ("torch.inner", "torch.outer", "torch.vdot"):
        check_exact(name, floats(shape), floats(other))


def test_attention_has_a_score_for_each_pair() -> None:
    q, k = of(b, H, t, D // H), of(b, H, D // H, n)
    assert shape_of("torch.matmul", q, k) == "(b, n_head, t, n)"
    assert shape_of("Tensor.__matmul__", of(b, t, d), of(d, h)) == "(b, t, h)"
    assert shape_of("Tensor.__matmul__", of(b, t, d), of(d)) == "(b, t)"


def test_inner_sizes_that_differ_are_a_fault() -> None:
    with pytest.raises(ShapeError) as fault:
        apply("torch.matmul", of(b, 128), of(64, 10))
    assert str(fault.value) == "matmul: (b, 128) @ (64, 10): inner dimensions 128 and 64 differ"


def test_a_forgotten_transpose_is_hinted_at() -> None:
    with pytest.raises(ShapeError) as fault:
        apply("torch.matmul", of(b, t, d), of(b, t, d))
    assert str(fault.value) == "matmul: (b, t, d) @ (b, t, d): inner dimensions d and t differ"
    assert fault.value.hint == "transpose the second: .mT?"


def test_a_name_is_not_taken_for_an_int_that_stands_beside_it() -> None:
    context = Context()
    assert shape_of("torch.matmul", of(b, t, d), of(D, h), context=context) == "(b, t, h)"
    assert context.assumptions == ["d == d_model"]
    with pytest.raises(ShapeError, match="inner dimensions d_model and t differ"):
        apply("torch.matmul", of(b, t, D), of(b, t, D))


def test_dtypes_that_differ_for_certain_are_a_fault() -> None:
    with pytest.raises(DtypeError) as fault:
        apply("torch.matmul", of(b, 3).with_dtype(FLOAT32), of(3, 2).with_dtype(INT64))
    assert str(fault.value) == "matmul: float32(b, 3), int64(3, 2): dtypes float32 and int64 differ"
    assert shape_of("torch.matmul", of(b, 3).with_dtype(FLOAT32), of(3, 2)) == "(b, 2)"


def test_what_was_not_followed_is_silent() -> None:
    u = Context().fresh()
    assert shape_of("torch.matmul", of(b, u), of(64, 10)) == "(b, 10)"
    assert shape_of("torch.matmul", of(b, t, d), UNKNOWN) == "(...)"
    assert shape_of("torch.matmul", TensorType(Shape.of(Pack("x"), t, d)), of(d, h)) == "(*x, t, h)"
    assert shape_of("torch.bmm", UNKNOWN, of(b, d, h)) == "(b, _, h)"


def test_a_batch_that_differs_is_a_fault() -> None:
    with pytest.raises(ShapeError) as fault:
        apply("torch.bmm", of(b, t, 4), of(3 * b, 4, h))
    assert str(fault.value) == "bmm: (b, t, 4) @ (3*b, 4, h): batch sizes b and 3*b differ"
    with pytest.raises(ShapeError, match="two matrices"):
        apply("torch.mm", of(b, t, d), of(d, h))
