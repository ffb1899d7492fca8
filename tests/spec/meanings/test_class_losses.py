"""Losses over classes mean what torch computes, whatever is ignored, weighted or smoothed; so do their gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.spec.meanings.three_ways import Fixed, agree, random

F = "torch.nn.functional."
X, TARGET = random(4, 3), torch.tensor([0, 2, 1, 2])
GRID, GRID_TARGET = random(4, 3, 2), torch.tensor([[0, 2], [1, 1], [2, 0], [0, 0]])
WEIGHT = Fixed(random(3, seed=2, low=0.5))
PROBABILITIES = random(4, 3, seed=1, low=0, high=1)
REDUCTIONS = ["mean", "sum", "none"]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("ignore_index", [-100, 2])
@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_class_indices(name: str, weight: Fixed | None, ignore_index: int, reduction: str) -> None:
    options: dict[str, Any] = {"weight": weight, "ignore_index": ignore_index, "reduction": reduction}
    agree(F + name, X, TARGET, **options)
    agree(F + name, GRID, GRID_TARGET, **options)
    agree(F + name, X[0], TARGET[0], weight=weight, reduction=reduction)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("ignore_index", [-100, 2])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_smoothed_labels(weight: Fixed | None, ignore_index: int, reduction: str) -> None:
    options: dict[str, Any] = {
        "weight": weight,
        "ignore_index": ignore_index,
        "reduction": reduction,
        "label_smoothing": 0.1,
    }
    agree(F + "cross_entropy", X, TARGET, **options)
    agree(F + "cross_entropy", GRID, GRID_TARGET, **options)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_probabilities_as_targets(weight: Fixed | None, label_smoothing: float, reduction: str) -> None:
    options: dict[str, Any] = {"weight": weight, "reduction": reduction, "label_smoothing": label_smoothing}
    agree(F + "cross_entropy", X, PROBABILITIES, **options)
    agree(F + "cross_entropy", GRID, random(4, 3, 2, seed=1), **options)
    agree(F + "cross_entropy", X[0], PROBABILITIES[0], **options)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_margins_between_classes(weight: Fixed | None, p: int, reduction: str) -> None:
    options: dict[str, Any] = {"p": p, "margin": 0.5, "weight": weight, "reduction": reduction}
    agree(F + "multi_margin_loss", X, TARGET, **options)
    agree(F + "multi_margin_loss", X[0], TARGET[0], **options)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_several_labels(reduction: str) -> None:
    agree(F + "multilabel_soft_margin_loss", X, PROBABILITIES, reduction=reduction)
    agree(F + "multilabel_soft_margin_loss", X, PROBABILITIES, WEIGHT.tensor, reduction=reduction)
