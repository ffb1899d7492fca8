"""Functions of one element against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings

from shaped.spec.op import Op
from tests.spec.ops.against_torch import check_exact, check_refused, declared_in
from tests.spec.ops.tensors import tensors

_MORE = {"polygamma", "Tensor.polygamma", "mvlgamma", "mvlgamma_", "complex", "polar", "view_as_real"}
UNARY = [operation for operation in declared_in("elementwise") if operation.name not in _MORE]


@pytest.mark.parametrize("operation", UNARY, ids=lambda operation: operation.name)
@given(tensor=tensors())
@settings(max_examples=12)
def test_a_function_of_one_element_keeps_the_shape_and_gives_torchs_dtype(operation: Op, tensor: torch.Tensor) -> None:
    for name in operation.torch:
        check_exact(name, tensor.clone())


@given(tensors())
def test_functions_with_a_parameter_agree_with_torch(tensor: torch.Tensor) -> None:
    check_exact("torch.polygamma", 1, tensor)
    check_exact("Tensor.polygamma", tensor, 1)
    check_exact("torch.mvlgamma", tensor, 1)
    check_exact("torch.round", tensor, decimals=1)
    check_exact("torch.view_as_real", tensor)


@given(tensors(), tensors())
def test_complex_numbers_broadcast_their_parts(real: torch.Tensor, imag: torch.Tensor) -> None:
    check_exact("torch.complex", real, imag)
    check_exact("torch.polar", real, imag)


def test_the_negative_of_bool_is_refused() -> None:
    check_refused("Tensor.__neg__", torch.ones(2, dtype=torch.bool))


def test_the_complement_of_a_float_is_refused() -> None:
    check_refused("Tensor.__invert__", torch.ones(2))
