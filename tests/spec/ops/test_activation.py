"""Activations, softmax and dropout against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import Op, find_op
from shaped.spec.values import TensorType
from tests.spec.ops.against_torch import check, check_exact, check_refused, declared_in
from tests.spec.ops.tensors import FLOATS, axes, filled_shapes, shapes, tensors

_AXIS = (
    "softmax",
    "log_softmax",
    "softmin",
    "gumbel_softmax",
    "glu",
    "normalize",
    "prelu",
    "torch.dropout",
    "threshold",
)
ACTIVATIONS = [operation for operation in declared_in("activation") if not operation.name.rstrip("_").endswith(_AXIS)]


@pytest.mark.parametrize("operation", ACTIVATIONS, ids=lambda operation: operation.name)
@given(tensor=tensors())
@settings(max_examples=12)
def test_an_activation_keeps_the_shape_and_gives_torchs_dtype(operation: Op, tensor: torch.Tensor) -> None:
    for name in operation.torch:
        check_exact(name, tensor.clone())


@pytest.mark.parametrize(
    "name", ["torch.softmax", "torch.log_softmax", "Tensor.softmax", *(
        f"torch.nn.functional.{name}" for name in ("softmax", "log_softmax", "softmin", "normalize", "glu")
    )]
)  # fmt: skip
@given(tensor=tensors(filled_shapes), dim=axes)
@settings(max_examples=40)
def test_an_axis_that_is_there_is_taken_and_another_refused(name: str, tensor: torch.Tensor, dim: int) -> None:
    check_exact(name, tensor, dim=dim)


@given(tensors(), axes, st.sampled_from(FLOATS))
def test_softmax_in_another_dtype(tensor: torch.Tensor, dim: int, dtype: torch.dtype) -> None:
    check_exact("torch.nn.functional.softmax", tensor, dim, dtype=dtype)
    check_exact("torch.log_softmax", tensor, dim, dtype)


@given(tensors(dtype=FLOATS), axes)
def test_gumbel_softmax_keeps_the_shape(tensor: torch.Tensor, dim: int) -> None:
    check_exact("torch.nn.functional.gumbel_softmax", tensor, dim=dim)


@given(tensors(dtype=(torch.float32,)), tensors(st.sampled_from([(), (1,), (2,), (3,)]), (torch.float32,)))
def test_prelu_has_a_weight_for_each_channel(tensor: torch.Tensor, weight: torch.Tensor) -> None:
    check("torch.prelu", tensor, weight)


@given(tensors())
def test_threshold_keeps_the_shape(tensor: torch.Tensor) -> None:
    check_exact("torch.nn.functional.threshold", tensor, 0, 1)


@given(tensors(), st.booleans())
def test_dropout_with_positional_options(tensor: torch.Tensor, train: bool) -> None:
    check_exact("torch.dropout", tensor, 0.5, train)
    check_exact("torch.nn.functional.dropout", tensor, 0.5, train)


def test_softmax_of_integers_is_refused() -> None:
    check_refused("torch.softmax", torch.ones(2, dtype=torch.int64), 0)


def test_an_odd_axis_cannot_be_halved() -> None:
    check_refused("torch.nn.functional.glu", torch.ones(2, 3))


@given(shapes)
def test_glu_halves_a_named_even_size(shape: tuple[int, ...]) -> None:
    operation = find_op("torch.nn.functional.glu")
    assert operation is not None
    d = Dim.name("d")
    result = operation.apply(Context(), [TensorType.of(*shape, 2 * d)], {})
    assert isinstance(result, TensorType)
    assert result.shape.dims[-1] == d
