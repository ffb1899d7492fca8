"""`x[...]`: against torch for concrete sizes, exact for symbolic bounds, quiet for unknown ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.errors import DtypeError, Fault, ShapeError
from shaped.spec.context import Context
from shaped.spec.dims import Dim, Kind, Symbol
from shaped.spec.dtypes import BOOLEAN, FLOAT32, INT64
from shaped.spec.ops.indexing import FULL, Index, Slice, index, setitem, slice_length
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import UNKNOWN, Many, TensorType, Value
from tests.spec.ops.against_torch import View, tensor_type
from tests.spec.ops.shapes import b, d, n, of, some, t

bounds = st.one_of(st.none(), st.integers(-6, 6))


def dim(value: int | None) -> Dim | None:
    return None if value is None else Dim.of(value)


@dataclass
class Item:
    """One item of an index for torch, and for the rule."""

    real: Any
    shown: Index


@st.composite
def items(draw: st.DrawFn, shape: list[int], masks: bool = True) -> list[Item]:
    found: list[Item] = []
    place, dots = 0, False
    for _ in range(draw(st.integers(1, 4))):
        kinds = ["int", "slice", "slice", "new", "tensor", "list", "bool"] + ["mask"] * masks + ["dots"] * (not dots)
        kind = draw(st.sampled_from(kinds))
        real: Any
        match kind:
            case "int":
                real = draw(st.integers(-4, 4))
                found.append(Item(real, Dim.of(real)))
                place += 1
            case "slice":
                start, stop, step = draw(bounds), draw(bounds), draw(st.sampled_from([None, 1, 2, 3]))
                found.append(Item(slice(start, stop, step), Slice(dim(start), dim(stop), dim(step))))
                place += 1
            case "new":
                found.append(Item(None, None))
            case "dots":
                found.append(Item(..., ...))
                dots = True
            case "bool":
                real = draw(st.booleans())
                found.append(Item(real, real))
            case "list":
                real = [0] * draw(st.integers(0, 3))
                found.append(Item(real, (Dim.of(0),) * len(real)))
                place += 1
            case "mask":
                sizes = shape[place : place + draw(st.integers(1, 2))] or [2]
                real = torch.ones(sizes, dtype=torch.bool)
                found.append(Item(real, tensor_type(real, View(), 0)))
                place += len(sizes)
            case _:
                real = torch.zeros(draw(some(0, 2, st.sampled_from([1, 2, 3]))), dtype=torch.int64)
                found.append(Item(real, tensor_type(real, View(), 0)))
                place += 1
    return found


def answer(shape: list[int], chosen: list[Item]) -> tuple[tuple[int, ...] | None, TensorType | None]:
    """What torch and the rule give; None for an error."""
    x = torch.zeros(shape)
    try:
        expected: tuple[int, ...] | None = tuple(x[tuple(item.real for item in chosen)].shape)
    except (IndexError, RuntimeError, TypeError, ValueError):
        expected = None
    try:
        found: TensorType | None = index(Context(), of(*shape), tuple(item.shown for item in chosen))
    except Fault:
        found = None
    return expected, found


@given(some(), st.data())
@settings(max_examples=400)
def test_an_index_gives_the_shape_of_torch_or_is_refused(shape: list[int], data: st.DataObject) -> None:
    expected, found = answer(shape, data.draw(items(shape, masks=False)))
    assert (found is None) == (expected is None)
    assert found is None or found.shape == Shape.of(*(expected or ()))


@given(some(), st.data())
@settings(max_examples=200)
def test_a_mask_leaves_a_size_that_only_its_elements_tell(shape: list[int], data: st.DataObject) -> None:
    expected, found = answer(shape, data.draw(items(shape)))
    if expected is None:
        # Whether masks and index tensors broadcast can depend on what is in the masks.
        return
    assert found is not None
    assert found.shape.rank == len(expected)
    assert all(own.has_unknown or own == size for own, size in zip(found.shape.dims, expected, strict=True))


@given(some(1, 3), st.data(), some(0, 3))
@settings(max_examples=200)
def test_what_is_written_must_broadcast_as_in_torch(shape: list[int], data: st.DataObject, value: list[int]) -> None:
    chosen = data.draw(items(shape, masks=False))
    x = torch.zeros(shape)
    target = answer(shape, chosen)[0]
    if target is not None and data.draw(st.booleans()):
        value = [data.draw(st.sampled_from([size, size, 1])) for size in target]
    try:
        x[tuple(item.real for item in chosen)] = torch.zeros(value)
        accepted = True
    except (IndexError, RuntimeError, TypeError, ValueError):
        accepted = False
    try:
        setitem(Context(), of(*shape), tuple(item.shown for item in chosen), of(*value))
        allowed = True
    except Fault:
        allowed = False
    assert allowed or not accepted
    if 0 not in (*value, *(target or ())):
        assert allowed == accepted


@st.composite
def symbolic_bounds(draw: st.DrawFn) -> Value:
    """A bound over named sizes, or None."""
    k = Dim.name("k")
    return draw(
        st.sampled_from(
            [None, *(Dim.of(i) for i in range(-3, 4)), n, k, n - 1, t, t - 1, t // 2, -n, -k, n + k, 2 * n, -(n + 1)]
        )
    )


@given(symbolic_bounds(), symbolic_bounds(), st.sampled_from([1, 2, 3]), *(st.integers(1, 6),) * 3)
@settings(max_examples=600)
def test_the_length_of_a_symbolic_slice_is_pythons(
    start: Value, stop: Value, step: int, size: int, first: int, second: int
) -> None:
    values = {Symbol("t"): size, Symbol("n"): first, Symbol("k"): second}
    length = slice_length(Context(), t, Slice(start, stop, Dim.of(step)))

    def number(bound: Value) -> int | None:
        return bound.evaluate(values) if isinstance(bound, Dim) else None

    expected = len(range(size)[number(start) : number(stop) : step])
    assert length.has_unknown or length.evaluate(values) == expected


def shape_at(x: TensorType, *chosen: Index) -> str:
    return str(index(Context(), x, chosen))


def test_symbolic_slices_read_simply() -> None:
    x = of(b, t)
    for item, expected in {
        Slice(None, Dim.of(-1)): "t-1",
        Slice(Dim.of(1)): "t-1",
        Slice(None, t): "t",
        Slice(None, n): "min(n, t)",
        Slice(None, Dim.of(100)): "min(t, 100)",
        Slice(Dim.of(-1)): "1",
        Slice(-n): "min(n, t)",
        Slice(t // 2): "ceil(t/2)",
        Slice(None, t // 2): "t//2",
        Slice(None, None, Dim.of(2)): "ceil(t/2)",
        Slice(Dim.of(1), None, Dim.of(2)): "t//2",
        Slice(t): "0",
        Slice(None, t + 1): "t",
    }.items():
        assert shape_at(x, FULL, item) == f"(b, {expected})"


def test_a_slice_of_one_place_has_one_of_every_size() -> None:
    x = of(b, Dim.quantity("stride"))
    for item in (Slice(None, Dim.of(1)), Slice(Dim.of(-1)), Slice(Dim.of(2), Dim.of(3)), Slice(Dim.of(-2), Dim.of(-1))):
        assert shape_at(x, FULL, item) == "(b, 1)"
    assert shape_at(x, FULL, Slice(None, Dim.of(2))) == "(b, min(stride, 2))"
    assert shape_at(of(b, 2), FULL, Slice(Dim.of(2), Dim.of(3))) == "(b, 0)"


def test_a_bound_of_unknown_sign_gives_a_fresh_size() -> None:
    q = Dim.quantity("q")
    assert shape_at(of(b, t), FULL, Slice(None, q)) == "(b, _)"
    assert shape_at(of(b, q), FULL, Slice(None, q)) == "(b, q)"
    assert shape_at(of(b, t), FULL, Slice(None, UNKNOWN)) == "(b, _)"
    assert shape_at(of(b, t), FULL, Slice(None, Dim.quantity("q", low=0))) == "(b, min(q, t))"


def test_axes_come_and_go() -> None:
    x = of(b, t, d)
    assert shape_at(x, Dim.of(0)) == "(t, d)"
    assert shape_at(x, FULL, None) == "(b, 1, t, d)"
    assert shape_at(x, ..., Dim.of(-1)) == "(b, t)"
    assert shape_at(x, FULL, Context().fresh()) == "(b, d)"


def test_masks_and_index_tensors_take_their_axes() -> None:
    x = of(b, t, d)
    assert shape_at(x, of(b, t).with_dtype(BOOLEAN)) == "(_, d)"
    assert shape_at(x, of(n).with_dtype(INT64)) == "(n, t, d)"
    assert shape_at(x, FULL, of(b, n).with_dtype(INT64)) == "(b, b, n, d)"
    assert shape_at(x, of(n).with_dtype(INT64), FULL, of(n).with_dtype(INT64)) == "(n, t)"
    assert shape_at(x, of(n).with_dtype(INT64), of(n).with_dtype(INT64)) == "(n, d)"
    assert shape_at(x, Many(Dim.of(0), n)) == "(n, t, d)"


def test_what_is_not_known_of_an_index_stays_quiet() -> None:
    x = of(b, t, d)
    assert shape_at(x, UNKNOWN) == "(...)"
    assert shape_at(x, of(n)) == "(_, t, d)"
    assert shape_at(x, of(n, n)) == "(...)"
    packed = TensorType(Shape.of(Pack("x", Kind.UNKNOWN), t, d))
    assert shape_at(packed, ..., Dim.of(0)) == "(..., t)"
    assert shape_at(packed, Dim.of(0)) == "(...)"
    assert shape_at(TensorType(Shape.of(b, Pack("x"))), Slice(None, Dim.of(1))) == "(1, *x)"


def test_an_int_beyond_every_size_is_a_fault() -> None:
    with pytest.raises(ShapeError) as fault:
        index(Context(), of(b, 3), (FULL, Dim.of(3)))
    assert str(fault.value) == "index: (b, 3): index 3 is out of range for size 3 of dim 1"
    with pytest.raises(ShapeError, match="index t is out of range"):
        index(Context(), of(b, t), (FULL, t))
    index(Context(), of(b, 3), (Dim.of(5),))


def test_too_many_indices_are_a_fault() -> None:
    with pytest.raises(ShapeError) as fault:
        index(Context(), of(b, 3), (FULL, FULL, Dim.of(0)))
    assert str(fault.value) == "index: (b, 3): 3 indices for 2 axes"


def test_masks_of_another_size_and_floats_are_faults() -> None:
    with pytest.raises(ShapeError) as fault:
        index(Context(), of(b, t, d), (of(b, 2 * t).with_dtype(BOOLEAN),))
    assert str(fault.value) == "index: (b, t, d): the mask (b, 2*t) has size 2*t where dim 1 has size t"
    with pytest.raises(DtypeError, match="must be integer or bool, not float32"):
        index(Context(), of(b, t), (of(n).with_dtype(FLOAT32),))


def test_a_value_that_does_not_fit_is_a_fault() -> None:
    with pytest.raises(ShapeError) as fault:
        setitem(Context(), of(b, 8), (FULL, Slice(None, Dim.of(4))), of(b, 3))
    assert str(fault.value) == "setitem: (b, 4) = (b, 3): sizes 3 and 4 differ"
    setitem(Context(), of(b, 8), (FULL, Slice(None, Dim.of(4))), of(1, 1, b, 1))
    setitem(Context(), of(b, 8), (FULL,), UNKNOWN)
