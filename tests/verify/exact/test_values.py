"""Values and the laws of their functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.verify.exact import field, functions, special
from shaped.verify.exact.arithmetic import absolute, add, divide, square_root, subtract, times, total, whole_power
from shaped.verify.exact.branches import Branches, compare, recording
from shaped.verify.exact.field import PRIME
from shaped.verify.exact.value import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(autouse=True)
def _recorded() -> Iterator[None]:
    with recording(Branches(node="test:test", depends=True)):
        yield


def value(*shape: int, seed: int = 0) -> Value:
    """Random residues with a tangent, and a shadow that has nothing to do with them."""
    generator = torch.Generator().manual_seed(seed)
    size = torch.Size(shape)
    shadow = torch.randn(size, dtype=torch.float64, generator=generator)
    return Value(shadow, field.random(size, generator), field.random(size, generator))


def same(one: Value, other: Value) -> bool:
    """Whether two values and their tangents are equal as functions."""
    residues = torch.equal(*torch.broadcast_tensors(one.residue, other.residue))
    if one.tangent is None or other.tangent is None:
        return residues and one.tangent is other.tangent
    return residues and torch.equal(*torch.broadcast_tensors(one.tangent, other.tangent))


@given(st.integers(0, 10**6))
def test_values_form_a_ring_with_a_derivation(seed: int) -> None:
    a, b, c = (value(2, seed=seed + k) for k in range(3))
    assert same(times(a, add(b, c)), add(times(a, b), times(a, c)))
    assert same(subtract(add(a, b), b), a)
    assert same(times(divide(a, b), b), a)
    assert same(whole_power(a, 3), times(a, times(a, a)))
    assert same(whole_power(a, -2), divide(1, times(a, a)))


def test_exp_and_log_follow_their_laws() -> None:
    a, b = value(3), value(3, seed=1)
    exp, log = functions.exp, functions.log
    assert same(exp(add(a, b)), times(exp(a), exp(b)))
    assert exp(subtract(a, a)).residue.tolist() == [1, 1, 1]
    assert same(exp(times(a, 3)), whole_power(exp(a), 3))
    assert same(log(times(a, b)), add(log(a), log(b)))
    assert same(log(exp(a)), a)
    assert same(exp(log(a)), a)
    assert same(exp(total(add(a, b), [0])), times(exp(total(add(a, 0), [0])), exp(total(add(b, 0), [0]))))


def test_sigmoid_tanh_and_the_circle_follow_their_laws() -> None:
    a = value(3)
    doubled = times(a, 2)
    tanh_by_sigmoid = subtract(times(functions.sigmoid(doubled), 2), 1)
    assert same(functions.tanh(a), tanh_by_sigmoid)
    circle = add(whole_power(functions.sin(a), 2), whole_power(functions.cos(a), 2))
    assert circle.residue.tolist() == [1, 1, 1]
    assert circle.tangent is not None
    assert circle.tangent.tolist() == [0, 0, 0]


@pytest.mark.parametrize("function", [functions.tanh, functions.sin, special.erf, special.asin, special.atan])
def test_odd_functions_are_odd(function: Callable[[object], Value]) -> None:
    a = value(5)
    assert same(function(times(a, -1)), times(function(a), -1))


def test_minus_infinity_hides_an_entry() -> None:
    a = value(3)
    masked = add(a, torch.tensor([0.0, -torch.inf, 0.0]))
    image = functions.exp(masked).residue
    assert int(image[1]) == 0
    assert image[[0, 2]].equal(functions.exp(a).residue[[0, 2]])


def test_the_root_of_a_square_is_the_absolute_value() -> None:
    a = value(6)
    assert same(square_root(times(a, a)), absolute(a))


def test_powers_with_exponents_that_differ_by_a_whole_number_belong_together() -> None:
    a, y = value(3), value(3, seed=1)
    assert same(functions.power(a, add(y, 1)), times(a, functions.power(a, y)))
    assert same(functions.constant_power(a, 1.3), times(a, functions.constant_power(a, 0.3)))


def test_equal_shadows_of_different_values_are_a_kink() -> None:
    branches = Branches(node="gt:aten.gt", depends=True)
    a, b = value(2), value(2, seed=1)
    with recording(branches):
        compare(torch.gt, a, Value(a.shadow, b.residue))
    assert list(branches.kinks) == ["aten.gt: two values met"]


def test_equal_values_are_compared_as_equal_whatever_rounding_did() -> None:
    branches = Branches(node="ge:aten.ge", depends=True)
    a = value(2)
    with recording(branches):
        outcome = compare(torch.ge, Value(a.shadow - 1e-14, a.residue), a)
    assert outcome.tolist() == [True, True]
    assert not branches.kinks


def test_nan_decides_nothing() -> None:
    branches = Branches(node="ge:aten.ge", depends=True)
    with recording(branches):
        compare(torch.ge, Value(torch.tensor([torch.nan]), torch.tensor([7 % PRIME])), 0)
    assert list(branches.undefined) == ["aten.ge"]
