"""Broadcasting: against torch for concrete sizes, and what is kept, taken or refused for symbolic ones."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.errors import ShapeError
from shaped.spec.broadcast import broadcast
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.dtypes import FLOAT32
from shaped.spec.shape import Axis, Pack, Shape
from shaped.spec.values import TensorType

b, d, h, t = map(Dim.name, "bdht")
BATCH = Pack("batch")
shapes = st.lists(st.sampled_from([0, 1, 2, 3]), max_size=4).map(tuple)


def shape_of(*operands: tuple[Axis | int, ...], context: Context | None = None) -> str:
    return str(broadcast(context or Context(), "add", *(TensorType.of(*operand) for operand in operands)))


@given(st.lists(shapes, min_size=1, max_size=3))
def test_concrete_shapes_broadcast_as_in_torch(operands: list[tuple[int, ...]]) -> None:
    try:
        expected: tuple[int, ...] | None = tuple(torch.broadcast_shapes(*operands))
    except RuntimeError:
        expected = None
    try:
        found = broadcast(Context(), "add", *(TensorType.of(*operand) for operand in operands))
    except ShapeError:
        assert expected is None
    else:
        assert found == Shape.of(*expected) if expected is not None else False


def test_the_order_of_operands_does_not_matter_for_named_sizes() -> None:
    assert shape_of((b, 1, d), (t, d)) == shape_of((t, d), (b, 1, d)) == "(b, t, d)"


def test_an_unknown_size_takes_the_known_one() -> None:
    u = Context().fresh()
    assert shape_of((u,), (7,)) == shape_of((7,), (u,)) == "(7,)"
    assert shape_of((u,), (b,)) == "(b,)"


def test_an_unknown_size_against_one_stays_unknown() -> None:
    u = Context().fresh()
    assert broadcast(Context(), "add", TensorType.of(u), TensorType.of(1)) == Shape.of(u)


def test_two_unknown_sizes_give_a_third() -> None:
    context = Context()
    u, v = context.fresh(), context.fresh()
    (size,) = broadcast(context, "add", TensorType.of(u), TensorType.of(v)).dims
    assert size not in (u, v)
    assert size.has_unknown


def test_different_names_are_a_fault_with_sizes_for_which_it_fails() -> None:
    with pytest.raises(ShapeError) as raised:
        shape_of((b, h, t, t), (b, t, t))
    assert str(raised.value) == "add: (b, h, t, t), (b, t, t): sizes h and b of axis -3 differ"
    assert raised.value.sizes["h"] != raised.value.sizes["b"]
    assert raised.value.hint == ".unsqueeze(1) on (b, t, t)?"


def test_several_new_axes_are_hinted_as_an_index() -> None:
    with pytest.raises(ShapeError) as raised:
        shape_of((b, h, t, t), (b, t))
    assert raised.value.hint == "[:, None, None, :] on (b, t)?"


def test_what_no_new_axis_repairs_has_no_hint() -> None:
    with pytest.raises(ShapeError) as raised:
        shape_of((b, t), (d,))
    assert raised.value.hint == ""


def test_a_name_against_a_constant_is_a_fault() -> None:
    with pytest.raises(ShapeError, match="sizes b and 3 of axis -1 differ"):
        shape_of((b,), (3,))


def test_different_names_are_no_fault_on_a_joined_tensor() -> None:
    context = Context()
    joined = TensorType(Shape.of(b, d), FLOAT32, joined=True)
    broadcast(context, "add", joined, TensorType.of(t, d))
    assert context.certain


def test_what_no_sizes_satisfy_is_a_fault_on_a_joined_tensor_too() -> None:
    with pytest.raises(ShapeError):
        broadcast(Context(), "add", TensorType(Shape.of(3), FLOAT32, joined=True), TensorType.of(4))


def test_certainty_is_restored_after_a_fault() -> None:
    context = Context()
    with pytest.raises(ShapeError):
        broadcast(context, "add", TensorType(Shape.of(3), FLOAT32, joined=True), TensorType.of(4))
    assert context.certain


def test_an_unknown_multiple_never_meets_a_constant_that_it_skips() -> None:
    u = Context().fresh()
    with pytest.raises(ShapeError):
        shape_of((2 * u,), (3,))


def test_a_named_pack_stays_against_itself_and_against_fewer_axes() -> None:
    assert shape_of((BATCH, d), (BATCH, d)) == "(*batch, d)"
    assert shape_of((BATCH, 1), (BATCH, d)) == "(*batch, d)"
    assert shape_of((BATCH, t, d), (d,)) == "(*batch, t, d)"
    assert shape_of((b, BATCH, d), (BATCH, d)) == "(b, *batch, d)"


def test_a_pack_against_more_axes_is_unknown_in_front() -> None:
    assert shape_of((BATCH, d), (b, t, d)) == "(..., b, t, d)"
    assert shape_of((BATCH, d), (1, 1, d)) == "(..., _, _, d)"


def test_two_packs_keep_the_last_axes() -> None:
    assert shape_of((BATCH, d), (Pack("other"), 1, d)) == "(..., _, d)"


def test_a_fault_is_found_behind_packs() -> None:
    with pytest.raises(ShapeError, match="sizes 3 and 4"):
        shape_of((BATCH, 3), (4,))
