"""Clamping, interpolation and masked filling against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.spec.ops.against_torch import check, check_exact, check_refused
from tests.spec.ops.tensors import REAL, operands, tensor_or_number, tensors


@pytest.mark.parametrize("name", ["torch.clamp", "torch.clip", "Tensor.clamp_"])
@given(data=st.data(), parts=operands(3))
@settings(max_examples=30)
def test_clamping_promotes_with_its_bounds(name: str, data: st.DataObject, parts: list[torch.Tensor]) -> None:
    low, high = (data.draw(tensor_or_number(part)) for part in parts[1:])
    if isinstance(low, torch.Tensor) == isinstance(high, torch.Tensor):
        check_exact(name, parts[0].clone(), low, high)
    check_exact(name, parts[0].clone(), low)
    check_exact(name, parts[0].clone(), max=high)


@given(st.data(), operands(2, REAL))
@settings(max_examples=30)
def test_a_single_bound_is_a_tensor_or_a_number(data: st.DataObject, pair: list[torch.Tensor]) -> None:
    bound = data.draw(tensor_or_number(pair[1]))
    for name in ("torch.clamp_min", "torch.clamp_max", "Tensor.clamp_min_", "Tensor.clamp_max_"):
        check_exact(name, pair[0].clone(), bound)


@given(st.data(), operands(3, same_dtype=True))
@settings(max_examples=40)
def test_interpolation_and_added_products_broadcast_three_ways(data: st.DataObject, parts: list[torch.Tensor]) -> None:
    check_exact("torch.lerp", parts[0], parts[1], data.draw(tensor_or_number(parts[2])))
    for name in ("torch.addcmul", "torch.addcdiv", "Tensor.addcmul_", "Tensor.addcdiv_"):
        check_exact(name, parts[0].clone(), parts[1], parts[2])


@given(operands(3))
@settings(max_examples=40)
def test_added_products_promote(parts: list[torch.Tensor]) -> None:
    check("torch.addcmul", *parts)
    check("torch.addcdiv", *parts)
    check("torch.lerp", *parts)


@given(st.data(), operands())
@settings(max_examples=60)
def test_masked_filling_broadcasts_with_its_mask(data: st.DataObject, pair: list[torch.Tensor]) -> None:
    value = data.draw(st.one_of(st.sampled_from([True, 1, 0.5]), st.just(torch.tensor(1.0))))
    check("torch.masked_fill", pair[0], pair[1].bool(), value)
    check("Tensor.masked_fill_", pair[0].clone(), pair[1].bool(), value)


@given(tensors())
def test_filling_keeps_shape_and_dtype(tensor: torch.Tensor) -> None:
    check_exact("torch.fill", tensor, 1)
    check_exact("Tensor.fill_", tensor, torch.tensor(1))


def test_a_mask_that_is_not_bool_is_refused() -> None:
    check_refused("Tensor.masked_fill", torch.ones(2), torch.ones(2, dtype=torch.int64), 0.0)


def test_a_mask_that_enlarges_its_target_is_refused() -> None:
    check_refused("Tensor.masked_fill_", torch.ones(3), torch.ones(2, 3, dtype=torch.bool), 0.0)


def test_a_fill_value_with_axes_is_refused() -> None:
    check_refused("Tensor.fill_", torch.ones(3), torch.ones(3))
    check_refused("torch.masked_fill", torch.ones(3), torch.ones(3).bool(), torch.ones(3))


def test_a_quotient_of_integers_is_not_added() -> None:
    check_refused("torch.addcdiv", *[torch.ones(2, dtype=torch.int64)] * 3)
