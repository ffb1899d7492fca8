"""Activations mean what torch computes, with torch's gradients at their kinks."""

from __future__ import annotations

import pytest
import torch

from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.three_ways import SINGLE_BOUND, agree, compare, random, values

X = random(2, 3, 4, low=-4, high=4)
F = "torch.nn.functional."
# The arguments of each activation, and numbers at which it has a kink.
ACTIVATIONS = [
    ("relu", (), [0]),
    ("relu6", (), [0, 6]),
    ("elu", (2.0,), [0]),
    ("elu", (), [0]),
    ("selu", (), [0]),
    ("celu", (2.0,), [0]),
    ("gelu", (), [0]),
    ("silu", (), [0]),
    ("mish", (), [0]),
    ("softplus", (), [0]),
    ("softplus", (2.0, 3.0), [1.5, 1.6]),
    ("softsign", (), [0]),
    ("tanhshrink", (), [0]),
    ("hardtanh", (), [-1, 1]),
    ("hardtanh", (-2.0, 0.5), [-2, 0.5]),
    ("hardswish", (), [-3, 0, 3]),
    ("hardshrink", (), [-0.5, 0, 0.5]),
    ("softshrink", (0.25,), [-0.25, 0, 0.25]),
    ("leaky_relu", (), [0]),
    ("leaky_relu", (0.2,), [0]),
    ("rrelu", (), [0]),
    ("logsigmoid", (), [0]),
    ("threshold", (1.0, 5.0), [1, 5]),
]


@pytest.mark.parametrize(("name", "arguments", "kinks"), ACTIVATIONS)
def test_an_activation(name: str, arguments: tuple[float, ...], kinks: list[float]) -> None:
    agree(F + name, X, *arguments)
    agree(F + name, values(*kinks), *arguments)


def test_hardsigmoid_whose_gradient_torch_computes_with_a_sixth_in_float32() -> None:
    for given in (X, values(-3, 3)):
        comparison = compare(F + "hardsigmoid", given)
        comparison.values_agree()
        comparison.bound = SINGLE_BOUND
        comparison.gradients_agree()


def test_gelu_has_two_forms() -> None:
    agree(F + "gelu", X, approximate="tanh")
    with pytest.raises(ValueError, match="'none' or 'tanh'"):
        torch.nn.functional.gelu(variable("x", ("n",)), approximate="erf")


def test_the_weight_of_prelu_is_one_number_or_one_for_each_channel() -> None:
    agree(F + "prelu", X, values(0.25))
    agree(F + "prelu", X, values(0.25, 0.5, -1))
    agree(F + "prelu", values(-1, 0, 1), values(0.25))


@pytest.mark.parametrize("dim", [0, 2, -1])
def test_a_gate_is_the_second_half(dim: int) -> None:
    agree(F + "glu", X, dim, symbolic=False)


def test_dropout_is_nothing_outside_of_training_and_random_in_it() -> None:
    agree(F + "dropout", X, 0.5, False)
    agree(F + "dropout", X, 0.0)
    agree("torch.dropout", X, 0.5, False)
    with pytest.raises(NotExpressible, match="random"):
        torch.nn.functional.dropout(variable("x", ("n",)))


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
def test_a_softmax(name: str, dim: int) -> None:
    agree(F + name, X, dim)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_a_softmax_of_torch_itself(name: str) -> None:
    agree(f"torch.{name}", X, 1)
    compare(f"torch.{name}", torch.tensor([1, 2]), 0, dtype=torch.float64).values_agree()
