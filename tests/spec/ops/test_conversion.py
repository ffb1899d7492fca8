"""Conversions and questions to a tensor against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.errors import ShapeError
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.dtypes import FLOAT32
from shaped.spec.op import Op, find_op
from shaped.spec.ops.conversion import python_number
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, Ratio, TensorType, Value
from tests.spec.ops.against_torch import check, check_exact, check_refused, declared_in
from tests.spec.ops.tensors import axes, dtypes, operands, tensors

_ASKED = {
    *("to", "cuda", "type", "type_as", "result_type", "copy", "copy_", "is_tensor", "is_same_size", "backward"),
    *("retain_grad", "to_dense", "coalesce", "as_subclass", "pin_memory", "numpy", "device", "__deepcopy__"),
    *("share_memory_", "requires_grad_", "item", "int_of", "float_of", "bool_of", "tolist", "len", "size", "dtype"),
    *("Tensor.shape", "dim", "testing.assert_close", "stride", "is_contiguous", "data_ptr", "storage_offset"),
    "get_device",
}
SIMPLE = [operation for operation in declared_in("conversion") if operation.name not in _ASKED]


@pytest.mark.parametrize("operation", SIMPLE, ids=lambda operation: operation.name)
@given(tensor=tensors())
@settings(max_examples=15)
def test_a_conversion_or_question_without_arguments(operation: Op, tensor: torch.Tensor) -> None:
    for name in operation.torch:
        check_exact(name, tensor)


@given(tensors(), dtypes, tensors())
def test_all_forms_of_to(tensor: torch.Tensor, dtype: torch.dtype, other: torch.Tensor) -> None:
    check_exact("Tensor.to", tensor, dtype)
    check_exact("Tensor.to", tensor, torch.device("cpu"), dtype)
    check_exact("Tensor.to", tensor, "cpu")
    check_exact("Tensor.to", tensor, other)
    check_exact("Tensor.to", tensor, dtype=dtype, device="cpu", copy=True)
    check_exact("Tensor.type", tensor, dtype)
    check_exact("Tensor.type", tensor, "torch.DoubleTensor")
    check_exact("Tensor.type", tensor, torch.float16)
    check_exact("Tensor.type_as", tensor, other)


@given(operands())
@settings(max_examples=60)
def test_a_copy_has_to_fit(pair: list[torch.Tensor]) -> None:
    check_exact("Tensor.copy_", pair[0].clone(), pair[1])
    check_exact("torch.result_type", *pair)


@given(tensors(), axes)
def test_sizes_and_lengths(tensor: torch.Tensor, dim: int) -> None:
    check_exact("Tensor.size", tensor, dim)
    check_exact("Tensor.__len__", tensor)
    check_exact("Tensor.dim", tensor)


@given(tensors())
def test_python_numbers_come_from_one_element_only(tensor: torch.Tensor) -> None:
    for name in ("Tensor.item", "Tensor.__int__", "Tensor.__float__", "Tensor.__bool__", "Tensor.tolist"):
        check(name, tensor)


def test_the_number_of_several_elements_is_refused() -> None:
    check_refused("Tensor.item", torch.ones(2))
    check_refused("Tensor.__bool__", torch.ones(2))
    check_refused("Tensor.__len__", torch.tensor(1))


def test_a_gradient_needs_one_element() -> None:
    check_refused("Tensor.backward", torch.ones(2, requires_grad=True))
    assert call("Tensor.backward", TensorType.of()) is None
    with pytest.raises(ShapeError, match="only 1 element has an implicit gradient, not b"):
        call("Tensor.backward", TensorType.of(b))
    assert call("Tensor.backward", TensorType.of(b), TensorType.of(b)) is None


def call(name: str, *args: Value) -> Value:
    operation = find_op(name)
    assert operation is not None
    return operation.apply(Context(), args, {})


b, d = Dim.name("b"), Dim.name("d")


@given(st.sampled_from(["cpu", "cuda:0"]))
def test_a_device_moves_and_keeps_the_rest(device: str) -> None:
    moved = call("Tensor.to", TensorType.of(b, d, dtype=FLOAT32), device)
    assert moved == TensorType(Shape.of(b, d), FLOAT32, device)


def test_an_unknown_destination_may_change_the_dtype_but_not_the_shape() -> None:
    moved = call("Tensor.to", TensorType.of(b, d, dtype=FLOAT32), UNKNOWN)
    assert isinstance(moved, TensorType)
    assert moved.shape == Shape.of(b, d)
    assert moved.dtype.single is None


def test_sizes_are_named() -> None:
    assert call("Tensor.size", TensorType.of(b, d), Dim.of(-1)) == d
    assert call("Tensor.numel", TensorType.of(b, d)) == b * d
    assert call("Tensor.size", TensorType.of(b, d)) == (b, d)


def test_the_element_of_a_float_tensor_is_a_float_that_was_not_followed() -> None:
    assert isinstance(python_number(Context(), FLOAT32), Ratio)


def test_what_a_tensor_is_can_be_asked() -> None:
    assert call("torch.is_tensor", TensorType.of(b)) is True
    assert call("torch.is_tensor", Dim.of(1)) is False
    assert call("torch.is_tensor", UNKNOWN) is UNKNOWN
