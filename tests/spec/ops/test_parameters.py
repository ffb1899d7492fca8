"""What gives its tensor or module back."""

from __future__ import annotations

import pytest

from shaped.spec.context import Context
from shaped.spec.dtypes import FLOAT32, INT64
from shaped.spec.op import find_op
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.modules import B, make


def call(name, *args, **kwargs):
    """The result of a rule."""
    operation = find_op(f"torch.nn.{name}")
    assert operation is not None, name
    return operation.apply(Context(), args, kwargs)


def test_a_parameter_is_its_tensor():
    assert call("Parameter", TensorType.of(B, 3, dtype=FLOAT32)) == TensorType.of(B, 3, dtype=FLOAT32)
    assert call("Buffer", TensorType.of(B, dtype=INT64), persistent=False) == TensorType.of(B, dtype=INT64)
    assert str(call("Parameter")) == "(0,)"
    assert call("Parameter", UNKNOWN) is UNKNOWN
    assert call("UninitializedParameter").shape.rank is None


@pytest.mark.parametrize(
    "name",
    [
        "weight_norm",
        "spectral_norm",
        "remove_weight_norm",
        "remove_spectral_norm",
        "parametrizations.weight_norm",
        "parametrizations.spectral_norm",
        "parametrizations.orthogonal",
        "parametrize.remove_parametrizations",
    ],
)
def test_a_module_with_another_parametrization_is_the_same_module(name):
    made = make("torch.nn.Linear", 3, 4)
    assert call(f"utils.{name}", made, "weight") is made


def test_norms_of_gradients_are_scalars():
    assert str(call("utils.clip_grad_norm_", UNKNOWN, 1.0)) == "()"
    assert call("utils.clip_grad_value_", UNKNOWN, 1.0) is None
    assert str(call("utils.parameters_to_vector", UNKNOWN)) == "(_,)"
