"""`torch.nn.init` against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings

from shaped.spec.op import Op
from tests.spec.ops.against_torch import check_exact, check_refused, declared_in
from tests.spec.ops.tensors import filled_shapes, tensors

_ARGUMENTS = {"nn.init.constant_": (0.5,), "nn.init.sparse_": (0.5,)}


@pytest.mark.parametrize("operation", declared_in("initialization"), ids=lambda operation: operation.name)
@given(tensor=tensors(filled_shapes, (torch.float32,)))
@settings(max_examples=15)
def test_a_parameter_is_filled_or_has_the_wrong_number_of_axes(operation: Op, tensor: torch.Tensor) -> None:
    for name in operation.torch:
        check_exact(name, tensor.clone(), *_ARGUMENTS.get(operation.name, ()))


def test_a_bias_has_no_fan() -> None:
    check_refused("torch.nn.init.xavier_uniform_", torch.ones(3))
