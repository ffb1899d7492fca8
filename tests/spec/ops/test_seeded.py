"""The rules of `shaped.init` against its functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped import init
from shaped.errors import ShapeError
from shaped.init.tensors import fill_
from shaped.spec.context import Context
from shaped.spec.dims import Dim, Kind, Symbol
from shaped.spec.dtypes import FLOAT32
from shaped.spec.op import find_op
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.against_torch import Outcome, View, compare, declared_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from shaped.spec.shape import Shape
from shaped.spec.values import Value

sizes = st.integers(-1, 3)
shapes = st.lists(sizes, max_size=3)
dtypes = st.sampled_from([torch.float32, torch.float64, torch.bfloat16])


def check(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    operation = find_op(f"shaped.init.{function.__name__}")
    assert operation is not None
    for comparison in compare(operation, function, args, kwargs):
        assert not comparison.outcome.is_defect, comparison
        if comparison.view == View.name:
            assert comparison.outcome in (Outcome.EXACT, Outcome.REFUSED), comparison


def rule(*args: Value, **kwargs: Value) -> Value:
    operation = find_op("shaped.init.tensor")
    assert operation is not None
    return operation.apply(Context(), [UNKNOWN, *args], kwargs)


@given(shapes, dtypes)
def test_a_tensor_has_the_shape_and_dtype_that_are_asked_for(shape: list[int], dtype: torch.dtype) -> None:
    check(init.tensor, init.Uniform(), shape)
    check(init.tensor, init.Uniform(), tuple(shape), 7, dtype, "cpu")


@given(shapes, st.integers(-1, 9), st.none() | st.integers(-1, 9))
def test_a_shard_has_one_axis_and_lies_in_the_tensor(shape: list[int], offset: int, count: int | None) -> None:
    check(init.tensor, init.Uniform(), shape, offset=offset, count=count)


def test_a_shard_from_an_unknown_offset_may_be_the_whole_tensor() -> None:
    shape = (Dim.of(2), Dim.of(3))
    for offset in (UNKNOWN, Dim.atom(Symbol("k", Kind.QUANTITY, "", None))):
        result = rule(shape, offset=offset)
        assert isinstance(result, TensorType)
        assert result.shape.rank is None
        assert result.dtype == FLOAT32


def test_a_count_that_is_not_known_may_be_none() -> None:
    result = rule((Dim.name("n"), Dim.of(3)), count=UNKNOWN)
    assert isinstance(result, TensorType)
    assert result.shape.rank is None
    result = rule((Dim.name("n"), Dim.of(3)), count=UNKNOWN, offset=Dim.of(1))
    assert isinstance(result, TensorType)
    assert result.shape.rank == 1


def test_only_a_shard_that_is_never_there_is_refused() -> None:
    n, count = (Dim.atom(Symbol(name, Kind.QUANTITY, "", None)) for name in ("n", "count"))
    assert rule((n, n), count=count) == TensorType(Shape.of(count), FLOAT32, "cpu")
    with pytest.raises(ShapeError, match=r"n\*n\+1 elements from offset 0 on exceed its n\*n"):
        rule((n, n), count=n * n + 1)


def test_sizes_may_be_names() -> None:
    n = Dim.name("n")
    assert rule((n, n * 2)) == TensorType(Shape.of(n, n * 2), FLOAT32, "cpu")
    assert rule((n, n), offset=Dim.of(1)) == TensorType(Shape.of(n * n - 1), FLOAT32, "cpu")


@given(sizes, sizes, dtypes)
def test_a_weight_is_out_by_in(out_dim: int, in_dim: int, dtype: torch.dtype) -> None:
    for function in (init.xavier_w, init.kaiming_w):
        check(function, out_dim, in_dim)
        check(function, out_dim, in_dim, 3, dtype, device="cpu")


def test_filling_gives_the_tensor_back() -> None:
    check(fill_, torch.empty(2, 3), init.Ones(), 1, offset=4)


def test_every_rule_is_met_here() -> None:
    names = {name.removeprefix("shaped.init.") for operation in declared_in("seeded") for name in operation.torch}
    assert names == {"tensor", "fill_", "xavier_w", "kaiming_w"}
