"""Norms and covariances mean what torch computes, with torch's gradients at 0 and at ties."""

from __future__ import annotations

import math

import pytest
import torch

from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.three_ways import Fixed, agree, compare, random, values

X = random(2, 3, 4)
WITH_ZEROS = values([0, 0, 0], [0, 1, -2], [3, -3, 1])
COMPLEX = torch.complex(random(2, 3), random(2, 3, seed=1))
ORDERS = [2, 1, 3, 4, 1.5, 0.5, math.inf, -math.inf, -1]


@pytest.mark.parametrize("order", ORDERS)
def test_the_norm_of_vectors(order: float) -> None:
    agree("torch.linalg.vector_norm", X, order)
    agree("torch.linalg.vector_norm", X, order, 1)
    agree("torch.linalg.vector_norm", X, order, (0, -1), keepdim=True)


@pytest.mark.parametrize("order", [2, 1, 3, 4, 1.5, math.inf])
def test_the_gradient_of_a_norm_at_zeros_and_ties(order: float) -> None:
    agree("torch.linalg.vector_norm", WITH_ZEROS, order, 1)


def test_the_norm_of_order_0_counts() -> None:
    compare("torch.linalg.vector_norm", WITH_ZEROS, 0, 1).values_agree()


def test_the_norm_of_complex_vectors() -> None:
    compare("torch.linalg.vector_norm", COMPLEX, 2, 1).gradients_agree(closed_form=True)
    compare("torch.linalg.vector_norm", COMPLEX, 1, 1).gradients_agree(closed_form=True)
    compare("torch.linalg.vector_norm", COMPLEX, 3, 1).gradients_agree(closed_form=True)


def test_the_older_norm() -> None:
    agree("torch.norm", X)
    agree("torch.norm", X, 1, 1)
    agree("torch.norm", X, "fro", (0, 1), keepdim=True)
    with pytest.raises(NotExpressible, match="nuclear"):
        variable("x", ("n", "m")).norm("nuc")


@pytest.mark.parametrize("order", ["fro", 1, -1, math.inf, -math.inf])
def test_the_norm_of_matrices(order: float | str) -> None:
    agree("torch.linalg.matrix_norm", X, order)
    agree("torch.linalg.matrix_norm", X, order, (0, 2), True)
    agree("torch.linalg.norm", X[0], order)


def test_linalg_norm_of_vectors() -> None:
    agree("torch.linalg.norm", X)
    agree("torch.linalg.norm", X, 3, 1)
    agree("torch.linalg.norm", X[0, 0], 1)


def test_covariances_and_correlations() -> None:
    agree("torch.cov", X[0])
    agree("torch.cov", X[0], correction=0)
    agree("torch.cov", X[0, 0])
    agree("torch.corrcoef", X[0])
    for one_variable in (X[0, 0], X[0, :1]):
        agree("torch.cov", one_variable)
        compare("torch.corrcoef", one_variable).values_agree()


@pytest.mark.parametrize("correction", [0, 1])
def test_a_covariance_weighs_its_observations(correction: int) -> None:
    counts, weights = torch.tensor([1, 2, 3, 1]), Fixed(random(4, low=0.5))
    agree("torch.cov", X[0], correction=correction, fweights=counts)
    agree("torch.cov", X[0], correction=correction, aweights=weights)
    agree("torch.cov", X[0], correction=correction, fweights=counts, aweights=weights)
