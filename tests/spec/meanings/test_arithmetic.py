"""Arithmetic means what torch computes, with numbers, other kinds and broadcasting, and so do its gradients."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.three_ways import agree, compare, random, values

X, Y = random(2, 3), random(2, 3, seed=1, low=0.5)
ROW, COLUMN, ONE = random(3, seed=2), random(2, 1, seed=3), random(1, 1, seed=4)
COMPLEX = torch.complex(random(2, 3), random(2, 3, seed=1))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "true_divide", "subtract", "multiply", "divide", "rsub"])
def test_an_operator(name: str) -> None:
    agree(f"torch.{name}", X, Y)
    for other in (ROW, COLUMN, ONE):
        agree(f"torch.{name}", X, other)
        agree(f"torch.{name}", other, X)
    if name != "rsub":
        agree(f"torch.{name}", X, 2.5)


@st.composite
def broadcastable(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor]:
    """Two tensors whose shapes broadcast: axes left out in front, or of size 1."""
    shape = draw(st.lists(st.integers(1, 3), max_size=3))
    shapes = [
        tuple(draw(st.sampled_from([size, 1])) for size in shape)[draw(st.integers(0, len(shape))) :] for _ in "xy"
    ]
    return random(*shapes[0], low=0.5), random(*shapes[1], seed=1, low=0.5)


@given(st.sampled_from(["add", "sub", "mul", "div", "maximum", "hypot", "pow"]), broadcastable())
@settings(max_examples=40)
def test_operands_broadcast_and_their_gradients_are_summed_back(
    name: str, operands: tuple[torch.Tensor, torch.Tensor]
) -> None:
    agree(f"torch.{name}", *operands)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_an_operator_of_complex_numbers(name: str) -> None:
    agree(f"torch.{name}", COMPLEX, COMPLEX.flip(0))
    agree(f"torch.{name}", COMPLEX, ROW)
    agree(f"torch.{name}", X, COMPLEX)


def test_alpha_scales_the_second_operand() -> None:
    agree("torch.add", X, ROW, alpha=2)
    agree("torch.sub", X, ROW, alpha=0.5)
    agree("torch.rsub", X, ROW, alpha=3)


@pytest.mark.parametrize("mode", ["floor", "trunc", None])
def test_a_quotient_is_rounded_as_asked(mode: str | None) -> None:
    agree("torch.div", 5 * X, Y, rounding_mode=mode)
    compare("torch.div", torch.tensor([-7, 7, 6]), torch.tensor([2, 2, 3]), rounding_mode=mode).values_agree()


def test_an_unknown_rounding_is_refused() -> None:
    with pytest.raises(ValueError, match="'floor' or 'trunc'"):
        variable("x", ("n",)).div(2, rounding_mode="ceil")


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_a_remainder_takes_the_sign_that_torch_gives_it(name: str) -> None:
    comparison = compare(f"torch.{name}", values(7, -7, 7, -7, 6), values(3, 3, -3, -3, 3))
    comparison.values_agree()
    if name != "floor_divide":
        comparison.gradients_agree()
    compare(f"torch.{name}", torch.tensor([7, -7, 6]), torch.tensor([3, 3, 3])).values_agree()


def test_kinds_widen_as_in_torch() -> None:
    whole, flags = torch.tensor([1, 2, 3]), torch.tensor([True, False, True])
    for other in (whole, flags, values(1, 2, 3), 2, 2.5):
        compare("torch.add", whole, other).values_agree()
        compare("torch.mul", flags, other).values_agree()
        compare("torch.true_divide", whole, other).values_agree() if other is not flags else None


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor"])
def test_bitwise_operators_of_bools(name: str) -> None:
    one, other = torch.tensor([True, True, False, False]), torch.tensor([True, False, True, False])
    compare(f"torch.{name}", one, other).values_agree()


def test_not_of_bools_and_of_integers() -> None:
    compare("torch.bitwise_not", torch.tensor([True, False])).values_agree()
    compare("torch.bitwise_not", torch.tensor([3, 0, -1])).values_agree()


def test_the_bits_of_integers_are_not_expressible() -> None:
    with pytest.raises(NotExpressible, match="bits"):
        variable("x", ("n",), "int") & 3


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, 0.5, -0.5, 1.5])
def test_a_power_with_a_constant_exponent(exponent: float) -> None:
    agree("torch.pow", Y, exponent)
    if exponent == int(exponent) and exponent >= 0:
        agree("torch.pow", values(0, -1.5, 2), exponent)


def test_a_power_of_tensors_at_0_has_the_gradients_of_torch() -> None:
    agree("torch.pow", Y, ROW)
    agree("torch.pow", values(0, 0, 0, 2), values(0, 1, 2, 3))
    agree("torch.pow", 2.0, ROW)
    agree("torch.float_power", Y, ROW)


def test_integers_have_integer_powers() -> None:
    compare("torch.pow", torch.tensor([1, 2, 3]), 2).values_agree()
    compare("torch.pow", -1, torch.tensor([0, 1, 2, 3])).values_agree()


def test_a_power_of_complex_numbers_is_a_product() -> None:
    for exponent in (0, 1, 2, 3, -1):
        compare("torch.pow", COMPLEX, exponent).gradients_agree(closed_form=False)


PAIRS = ["maximum", "minimum", "fmax", "fmin", "atan2", "hypot", "logaddexp", "logaddexp2", "copysign"]


@pytest.mark.parametrize("name", PAIRS)
def test_a_function_of_two_numbers(name: str) -> None:
    agree(f"torch.{name}", X, Y)
    agree(f"torch.{name}", X, random(3, seed=5))


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin", "copysign"])
def test_a_tie_shares_the_gradient_as_in_torch(name: str) -> None:
    agree(f"torch.{name}", values(1, 0, 2), values(1, 0, 3))


def test_angles_on_the_axes() -> None:
    agree("torch.atan2", values(0, 1, -1, 0.5, -0.5, 3, -3), values(0, 0, 0, -2, -2, -1, -1))
    compare("torch.atan2", values(0), values(-1)).values_agree()


def test_x_log_y_is_0_where_x_is_0() -> None:
    agree("torch.xlogy", values(0, 1, 2), values(2, 2, 0.5))
    agree("torch.special.xlog1py", values(0, 1, 2), values(2, 2, 0.5))
    compare("torch.xlogy", values(0), values(0)).values_agree()


def test_a_step_takes_its_value_at_0() -> None:
    compare("torch.heaviside", values(-1, 0, 1), values(0.5)).values_agree()
