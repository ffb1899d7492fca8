"""In-place forms: what is written has to fit."""

from __future__ import annotations

import pytest

import shaped.spec.ops  # noqa: F401 - declares the operations
from shaped.errors import DtypeError, ShapeError
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.dtypes import FLOAT32, INT64
from shaped.spec.op import find_op
from shaped.spec.values import UNKNOWN, TensorType, Value

b, d = Dim.name("b"), Dim.name("d")


def call(name: str, *args: Value) -> Value:
    operation = find_op(name)
    assert operation is not None
    return operation.apply(Context(), args, {})


def test_an_in_place_sum_has_the_shape_and_dtype_of_the_target() -> None:
    target = TensorType.of(b, d, dtype=FLOAT32)
    assert call("Tensor.add_", target, TensorType.of(d, dtype=INT64)) == target


def test_an_in_place_sum_does_not_enlarge_the_target() -> None:
    with pytest.raises(ShapeError, match=r"add_: .*the result \(b, d\) does not fit into \(d,\)"):
        call("Tensor.__iadd__", TensorType.of(d), TensorType.of(b, d))
    with pytest.raises(ShapeError, match="does not fit"):
        call("Tensor.add_", TensorType.of(1, d), TensorType.of(b, d))


def test_floats_are_not_written_into_integers() -> None:
    with pytest.raises(DtypeError, match="a result of dtype float32 cannot be written into a tensor of int64"):
        call("Tensor.mul_", TensorType.of(d, dtype=INT64), TensorType.of(d, dtype=FLOAT32))


def test_an_unknown_operand_is_silent() -> None:
    target = TensorType.of(b, d)
    assert call("Tensor.mul_", target, UNKNOWN) == target


def test_python_numbers_alone_are_not_followed() -> None:
    assert call("torch.add", Dim.of(2), Dim.of(3)) is UNKNOWN


def test_what_is_no_number_and_no_tensor_is_not_followed() -> None:
    assert call("Tensor.__eq__", TensorType.of(b), None) is UNKNOWN
