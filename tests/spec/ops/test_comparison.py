"""Comparisons and choices against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import find_op
from shaped.spec.values import Many, TensorType
from tests.spec.ops.against_torch import check, check_exact, declared_in
from tests.spec.ops.tensors import operands, tensor_or_number, tensors

COMPARISONS = [
    name for operation in declared_in("comparison") for name in operation.torch if name.split(".")[-1] not in
    {"where", "isclose", "allclose", "equal", "is_nonzero"}
]  # fmt: skip


@pytest.mark.parametrize("name", COMPARISONS)
@given(data=st.data(), pair=operands())
@settings(max_examples=10)
def test_a_comparison_broadcasts_to_bool(name: str, data: st.DataObject, pair: list[torch.Tensor]) -> None:
    check_exact(name, pair[0].clone(), data.draw(tensor_or_number(pair[1])))


@given(st.data(), operands(3))
@settings(max_examples=60)
def test_where_broadcasts_and_promotes_as_in_torch(data: st.DataObject, parts: list[torch.Tensor]) -> None:
    x, y = data.draw(tensor_or_number(parts[1])), data.draw(tensor_or_number(parts[2]))
    check_exact("torch.where", parts[0].bool(), x, y)
    check_exact("Tensor.where", parts[1], parts[0].bool(), y)


@given(tensors())
def test_where_of_a_condition_alone_gives_indices_for_each_axis(tensor: torch.Tensor) -> None:
    check("torch.where", tensor)


def test_where_of_an_unknown_condition_gives_some_number_of_indices() -> None:
    operation = find_op("torch.where")
    assert operation is not None
    context = Context()
    result = operation.apply(context, [context.unknown_tensor()], {})
    assert isinstance(result, Many)
    assert isinstance(result.element, TensorType)
    assert result.element.shape.rank == 1


@given(operands(same_dtype=True))
@settings(max_examples=40)
def test_closeness_broadcasts(pair: list[torch.Tensor]) -> None:
    check_exact("torch.isclose", *pair)
    check("torch.allclose", *pair)
    check("torch.equal", *pair)


def test_the_truth_of_a_tensor_is_not_known() -> None:
    operation = find_op("torch.is_nonzero")
    assert operation is not None
    assert operation.apply(Context(), [TensorType.of(Dim.of(1))], {}) is not True
