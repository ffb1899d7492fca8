"""Random tensors against torch."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.spec.ops.against_torch import check_exact, check_refused
from tests.spec.ops.tensors import FLOATS, filled_shapes, operands, shapes, tensors


@given(shapes, st.sampled_from([None, torch.int32, torch.float32]))
def test_random_ints_have_the_size_that_comes_last(shape: tuple[int, ...], dtype: torch.dtype | None) -> None:
    check_exact("torch.randint", 5, shape, dtype=dtype)
    check_exact("torch.randint", 2, 5, shape, dtype=dtype)
    check_exact("torch.randint", low=2, high=5, size=shape)
    check_exact("torch.randint_like", torch.ones(shape), 5, dtype=dtype)


@given(st.integers(0, 5))
def test_a_permutation_has_its_length(n: int) -> None:
    check_exact("torch.randperm", n)


@given(operands(2, FLOATS, same_dtype=True), shapes)
@settings(max_examples=40)
def test_normal_numbers_in_all_forms(pair: list[torch.Tensor], shape: tuple[int, ...]) -> None:
    check_exact("torch.normal", 0.0, 1.0, shape)
    check_exact("torch.normal", pair[0], 1.0)
    check_exact("torch.normal", 0.0, pair[0])


@given(tensors(st.sampled_from([(3,), (2, 3), (2, 2, 3), ()]), FLOATS), st.integers(-1, 5), st.booleans())
@settings(max_examples=60)
def test_draws_replace_the_axis_of_categories(weights: torch.Tensor, count: int, replacement: bool) -> None:
    check_exact("torch.multinomial", weights, count, replacement)


@given(tensors(filled_shapes, FLOATS), tensors(filled_shapes, FLOATS))
def test_random_fillings_keep_the_shape(tensor: torch.Tensor, probability: torch.Tensor) -> None:
    for name in ("normal_", "uniform_", "exponential_", "random_", "log_normal_"):
        check_exact(f"Tensor.{name}", tensor.clone())
    check_exact("Tensor.normal_", tensor.clone(), mean=0.0, std=0.02)
    check_exact("Tensor.bernoulli_", tensor.clone(), probability)
    check_exact("torch.bernoulli", tensor)


def test_more_draws_than_categories_need_replacement() -> None:
    check_refused("torch.multinomial", torch.ones(3), 4)
