"""Norms, quantiles and covariances against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.spec.ops.against_torch import check, check_exact, check_refused
from tests.spec.ops.tensors import axes, filled_shapes, tensors

dims = st.one_of(st.none(), axes, st.lists(axes, min_size=2, max_size=2).map(tuple))
SINGLE = (torch.float32, torch.float64)


@pytest.mark.parametrize("name", ["torch.norm", "torch.linalg.norm", "torch.linalg.vector_norm"])
@given(tensor=tensors(filled_shapes), dim=dims, keepdim=st.booleans())
@settings(max_examples=40)
def test_norms_reduce_as_in_torch(
    name: str, tensor: torch.Tensor, dim: int | tuple[int, ...] | None, keepdim: bool
) -> None:
    check_exact(name, tensor, dim=dim, keepdim=keepdim)
    if isinstance(dim, int) or name == "torch.linalg.vector_norm":
        check_exact(name, tensor, 2, dim, keepdim)


@given(tensors(filled_shapes, SINGLE), st.booleans())
def test_matrix_norms_reduce_the_last_two_axes(tensor: torch.Tensor, keepdim: bool) -> None:
    check_exact("torch.linalg.matrix_norm", tensor, keepdim=keepdim)


@given(
    tensors(filled_shapes),
    st.one_of(st.just(0.5), tensors(st.sampled_from([(), (1,), (3,)]), SINGLE)),
    st.one_of(st.none(), axes),
    st.booleans(),
)
@settings(max_examples=60)
def test_quantiles_come_first(tensor: torch.Tensor, q: float | torch.Tensor, dim: int | None, keepdim: bool) -> None:
    if isinstance(q, torch.Tensor):
        q = q.to(tensor.dtype)
    check_exact("torch.quantile", tensor, q, dim, keepdim)
    check_exact("Tensor.nanquantile", tensor, q, dim, keepdim)


@given(tensors(filled_shapes))
def test_covariances_are_square(tensor: torch.Tensor) -> None:
    check("torch.cov", tensor)
    check("torch.corrcoef", tensor)


def test_the_norm_of_integers_is_refused() -> None:
    check_refused("Tensor.norm", torch.ones(3, dtype=torch.int64))


def test_an_order_without_axes_takes_vectors_and_matrices_only() -> None:
    check_refused("torch.linalg.norm", torch.ones(2, 2, 2), 2)
    check_refused("torch.linalg.matrix_norm", torch.ones(2))
