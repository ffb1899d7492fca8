"""Reductions mean what torch computes, with torch's gradients where several elements are greatest."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.three_ways import agree, compare, random, values

X = random(2, 3, 4)
DIMS = [None, 0, -1, (0, 2), [1]]


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("name", ["sum", "mean", "nansum"])
def test_a_sum_or_mean(name: str, dim: int | tuple[int, ...] | None, keepdim: bool) -> None:
    agree(f"torch.{name}", X, dim, keepdim)


@given(
    st.sampled_from(["sum", "mean", "amax", "amin", "var", "std", "logsumexp"]),
    st.sets(st.integers(0, 2), min_size=1),
    st.sets(st.integers(0, 2)),
    st.booleans(),
)
@settings(max_examples=40)
def test_any_axes_may_be_reduced_counted_from_either_end(
    name: str, dims: set[int], from_the_end: set[int], keepdim: bool
) -> None:
    chosen = tuple(dim - 3 if dim in from_the_end else dim for dim in dims)
    agree(f"torch.{name}", X, chosen, keepdim=keepdim)


@pytest.mark.parametrize("name", ["amax", "amin", "logsumexp", "prod", "var", "std"])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [0, -1])
def test_a_reduction_of_an_axis(name: str, dim: int, keepdim: bool) -> None:
    agree(f"torch.{name}", X, dim, keepdim=keepdim)


@pytest.mark.parametrize("name", ["amax", "amin", "logsumexp", "var", "std"])
def test_a_reduction_of_several_axes(name: str) -> None:
    agree(f"torch.{name}", X, (0, -1))
    agree(f"torch.{name}", X, (0, 1), keepdim=True)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "amax", "amin", "max", "min", "var", "std"])
def test_a_reduction_of_all(name: str) -> None:
    agree(f"torch.{name}", X)
    agree(f"torch.{name}", X[0, 0, 0]) if name not in ("var", "std") else None


def test_sums_of_other_kinds() -> None:
    whole, flags = torch.tensor([[1, 2], [3, 4]]), torch.tensor([[True, False], [True, True]])
    for name in ("sum", "prod"):
        compare(f"torch.{name}", whole, 0).values_agree()
        compare(f"torch.{name}", flags, 0).values_agree()
        compare(f"torch.{name}", whole, 0, dtype=torch.float64).values_agree()
    compare("torch.sum", torch.complex(X, -X), 1).gradients_agree()
    compare("torch.mean", torch.complex(X, -X), 1).gradients_agree()


def test_a_sum_in_a_narrower_dtype_is_not_followed() -> None:
    with pytest.raises(NotExpressible, match="float numbers as int"):
        variable("x", ("n",)).sum(dtype=torch.int64)


@pytest.mark.parametrize("name", ["amax", "amin", "max", "min"])
def test_equal_extremes_share_the_gradient(name: str) -> None:
    agree(f"torch.{name}", values(1, 1, 0, 0, 1))


@pytest.mark.parametrize("name", ["amax", "amin", "max", "min"])
def test_equal_extremes_of_several_axes_share_the_gradient_alike(name: str) -> None:
    ties = values([5, 5, 0], [5, 0, 0], [0, 0, 5])
    agree(f"torch.{name}", ties)
    if name.startswith("a"):
        agree(f"torch.{name}", torch.stack([ties, -ties]), (0, 2))
        agree(f"torch.{name}", torch.stack([ties, -ties]), (1, 2), keepdim=True)


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("keepdim", [False, True])
def test_along_an_axis_the_first_extreme_takes_the_gradient(name: str, keepdim: bool) -> None:
    ties = values([1, 1, 0, 0], [0, 2, 2, -1])
    for dim in (0, 1, -1):
        agree(f"torch.{name}", ties, dim, keepdim)
    agree(f"torch.{name}", X, 1, keepdim)


def test_the_same_extreme_is_one_intermediate_so_that_it_cancels() -> None:
    x = variable("x", ("n", "m"))
    assert x.max(1).values.at(0) is x.max(1, keepdim=True).values.at(0, 0)
    assert x.max(1).values.at(0) is not x.min(1).values.at(0)


def test_the_extreme_of_two_tensors() -> None:
    agree("torch.max", X, X.flip(0))
    agree("torch.min", X, X.flip(0))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_where_the_first_extreme_is(name: str) -> None:
    ties = values([1, 1, 0, 0], [0, 2, 2, -1])
    for dim in (0, 1):
        compare(f"torch.{name}", ties, dim).values_agree()
        compare(f"torch.{name}", ties, dim, keepdim=True).values_agree()


def test_extremes_of_other_kinds() -> None:
    whole, flags = torch.tensor([[1, 2], [3, 0]]), torch.tensor([[True, False], [False, False]])
    for name in ("amax", "amin"):
        compare(f"torch.{name}", whole, 1).values_agree()
        compare(f"torch.{name}", flags, 1).values_agree()
    compare("torch.aminmax", X, dim=1).values_agree()


@pytest.mark.parametrize("name", ["any", "all"])
def test_whether_some_or_all_are_true(name: str) -> None:
    flags = torch.tensor([[True, False], [True, True], [False, False]])
    for dim in (None, 0, 1):
        compare(f"torch.{name}", flags, dim).values_agree()
    compare(f"torch.{name}", flags, 1, keepdim=True).values_agree()
    compare(f"torch.{name}", values(0, 1, 2)).values_agree()
    compare("torch.count_nonzero", values([0, 1, 2], [0, 0, 1]), 1).values_agree()


@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
def test_a_variance_divides_by_the_number_less_a_correction(name: str) -> None:
    agree(f"torch.{name}", X, 1, correction=0)
    agree(f"torch.{name}", X, (0, 1), correction=2)
    agree(f"torch.{name}", X, -1, unbiased=False, keepdim=True)
    agree(f"torch.{name}", X, False)
    agree(f"torch.{name}", X, 1, correction=0.5)


def test_the_gradient_of_the_deviation_of_equal_elements_is_0() -> None:
    agree("torch.std", values([1, 1, 1], [1, 2, 3]), 1)


def test_the_gradient_of_a_product_is_right_at_zeros() -> None:
    agree("torch.prod", values([0, 2, 3], [0, 0, 4], [1, 2, 3]), 1)
    agree("torch.prod", values([0, 2, 3], [1, 1, 4], [1, 2, 3]))


def test_a_log_of_a_sum_of_exponentials_ignores_what_a_mask_fills_in() -> None:
    compare("torch.logsumexp", values([1, -math.inf, 0], [2, 2, -math.inf]), 1).values_agree()


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp"])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_a_scan(name: str, dim: int) -> None:
    agree(f"torch.{name}", X, dim)


def test_a_running_log_sum_does_not_overflow() -> None:
    agree("torch.logcumsumexp", values(-800, 0, 900), 0)


def test_the_gradient_of_a_running_product_is_right_at_zeros() -> None:
    agree("torch.cumprod", values([1, 0, 2, 3], [0, 2, 0, 1]), 1)
    compare("torch.cumsum", torch.tensor([1, 2, 3]), 0).values_agree()


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_a_running_extreme_gives_the_gradient_to_the_last(name: str) -> None:
    agree(f"torch.{name}", values([1, 1, 0, 2, 2], [0, -1, -1, 0, -2]), 1)


def test_differences_of_neighbours() -> None:
    agree("torch.diff", X)
    agree("torch.diff", X, 2, 1)
    agree("torch.diff", X, 0, append=X)
    agree("torch.diff", X, dim=1, append=X[:, :1])
    for name in ("trapezoid", "cumulative_trapezoid"):
        agree(f"torch.{name}", X, dx=0.5, dim=1)
        agree(f"torch.{name}", X, random(4, seed=1))


REDUCING = ["sum", "mean", "prod", "amax", "amin", "logsumexp", "softmax", "log_softmax", "cumsum", "cumprod"]


@pytest.mark.parametrize("name", REDUCING)
@pytest.mark.parametrize("dim", [0, -1])
def test_a_tensor_without_axes_is_reduced_along_an_axis_that_it_has_not(name: str, dim: int) -> None:
    agree(f"torch.{name}", values(2.5)[0], dim)


def test_extremes_of_a_tensor_without_axes() -> None:
    for name in ("max", "min", "cummax", "argmax"):
        compare(f"torch.{name}", values(2.5)[0], 0).values_agree()
    compare("torch.any", values(2.5)[0], 0).values_agree()
