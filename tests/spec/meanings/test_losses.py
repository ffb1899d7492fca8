"""Losses mean what torch computes, for every reduction, with weights, and so do their gradients."""

from __future__ import annotations

import pytest
import torch

from shaped.spec.tensor import variable
from tests.spec.meanings.three_ways import Fixed, agree, compare, random, values

F = "torch.nn.functional."
X, Y, W = random(3, 4), random(3, 4, seed=1), random(3, 4, seed=2, low=0.5)
REDUCTIONS = ["mean", "sum", "none"]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_a_loss_of_differences(name: str, reduction: str) -> None:
    agree(F + name, X, Y, reduction=reduction)
    if name != "smooth_l1_loss":
        agree(F + name, X, Y, reduction=reduction, weight=W)


@pytest.mark.filterwarnings("ignore:Using a target size")
def test_a_loss_broadcasts_its_operands() -> None:
    agree(F + "mse_loss", X, random(4, seed=1))
    agree(F + "huber_loss", random(3, 1), Y)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_the_joint_of_a_square_and_a_line(reduction: str) -> None:
    x, y = values(0, 0.5, 2, -0.5, 1), values(0, 0, 0, 0, 1)
    agree(F + "smooth_l1_loss", x, y, reduction=reduction, beta=0.5)
    agree(F + "smooth_l1_loss", x, y, reduction=reduction, beta=0.0)
    agree(F + "huber_loss", x, y, reduction=reduction, delta=0.5)
    agree(F + "l1_loss", x, y, reduction=reduction)


@pytest.mark.filterwarnings("ignore:size_average")
@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("older", [{"size_average": False}, {"size_average": True}, {"reduce": False}])
def test_the_older_arguments_of_a_reduction(older: dict[str, bool]) -> None:
    for name in ("mse_loss", "l1_loss", "kl_div"):
        agree(F + name, X, Y.abs(), **older)
    agree(F + "soft_margin_loss", X, Fixed(Y), **older)


def test_an_unknown_reduction_is_refused() -> None:
    with pytest.raises(ValueError, match="'none', 'mean' or 'sum'"):
        torch.nn.functional.mse_loss(variable("x", ("n",)), variable("y", ("n",)), reduction="average")


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("reduction", [*REDUCTIONS, "batchmean"])
@pytest.mark.parametrize("log_target", [False, True])
def test_a_divergence(reduction: str, log_target: bool) -> None:
    agree(F + "kl_div", X, Y if log_target else Y.abs(), reduction=reduction, log_target=log_target)
    compare(F + "kl_div", X, torch.zeros_like(Y), reduction=reduction, log_target=log_target).values_agree()


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_binary_cross_entropy(reduction: str) -> None:
    inside, targets = random(3, 4, low=0.1, high=0.9), random(3, 4, seed=1, low=0, high=1)
    agree(F + "binary_cross_entropy", inside, targets, reduction=reduction)
    compare(F + "binary_cross_entropy", inside, targets, Fixed(W), reduction=reduction).values_agree()
    at_ends = compare(F + "binary_cross_entropy", values(0, 1, 0, 1), values(0, 1, 1, 0), reduction=reduction)
    at_ends.values_agree()


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weight", [None, Fixed(W)])
@pytest.mark.parametrize("pos_weight", [None, Fixed(random(4, seed=3, low=0.5))])
def test_a_binary_cross_entropy_of_logits(reduction: str, weight: Fixed | None, pos_weight: Fixed | None) -> None:
    targets = random(3, 4, seed=1, low=0, high=1)
    name = F + "binary_cross_entropy_with_logits"
    agree(name, X, targets, weight, reduction=reduction, pos_weight=pos_weight)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_likelihoods_of_counts_and_of_normal_variables(reduction: str) -> None:
    for full in (False, True):
        agree(F + "poisson_nll_loss", X, Y.abs() * 3, full=full, reduction=reduction)
        agree(F + "poisson_nll_loss", X.abs(), Y.abs() * 3, log_input=False, full=full, reduction=reduction)
        agree(F + "gaussian_nll_loss", X, Y, W, full=full, reduction=reduction)
    agree(F + "gaussian_nll_loss", X, Y, W[:, 0], reduction=reduction)
    agree(F + "gaussian_nll_loss", X, Y, W[:, :1], reduction=reduction)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_margins(reduction: str) -> None:
    sides = torch.tensor([1, -1, 1, -1])
    agree(F + "soft_margin_loss", X, sides, reduction=reduction)
    agree(F + "hinge_embedding_loss", X, sides, 0.5, reduction=reduction)
    agree(F + "hinge_embedding_loss", values(0.5, 0.5, 1, 3), torch.tensor([1, -1, -1, 2]), 0.5, reduction=reduction)
    agree(F + "margin_ranking_loss", X, Y, torch.ones_like(X), 0.5, reduction=reduction)
    agree(F + "margin_ranking_loss", values(1, 1), values(0, 0), torch.tensor([1, -1]), 1.0, reduction=reduction)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_distances_and_angles(reduction: str) -> None:
    z = random(3, 4, seed=5)
    for options in ({}, {"p": 1}, {"swap": True}, {"margin": 0.1}):
        agree(F + "triplet_margin_loss", X, Y, z, reduction=reduction, **options)
    agree(F + "triplet_margin_with_distance_loss", X, Y, z, reduction=reduction, swap=True)
    agree(F + "cosine_embedding_loss", X, Y, torch.tensor([1, -1, -1]), 0.1, reduction=reduction)


@pytest.mark.parametrize("p", [2, 1, 3])
def test_distances_of_vectors(p: float) -> None:
    agree(F + "pairwise_distance", X, Y, p)
    agree(F + "pairwise_distance", X, random(4, seed=1), p, keepdim=True)
    agree("torch.cdist", X, random(2, 4, seed=1), p)
    agree("torch.cdist", values([0, 0], [1, 1]), values([0, 0]), p)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cosines(dim: int) -> None:
    agree(F + "cosine_similarity", X, Y, dim)
    agree(F + "cosine_similarity", random(3, 4, 2), random(4, 1, seed=1), dim)
