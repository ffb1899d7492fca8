"""Distances and the losses of vectors against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.ops.modules import (
    check_function,
    check_module,
    nearly,
    several,
    sizes,
)

shapes = st.lists(sizes, min_size=1, max_size=3).map(tuple)


reductions = st.sampled_from(["none", "mean", "sum"])


@pytest.mark.parametrize("name", ["MarginRankingLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss"])
@several
@given(st.data(), shapes, reductions)
def test_losses_of_triples_agree_with_torch(name, data, shape, reduction):
    triple = tuple(torch.zeros(data.draw(nearly(shape))) for _ in range(3))
    margin = {} if name == "MarginRankingLoss" else {"margin": 1.0}
    function = {"MarginRankingLoss": "margin_ranking_loss", "TripletMarginLoss": "triplet_margin_loss"}.get(name)
    if function:
        check_function(f"torch.nn.functional.{function}", *triple, margin=1.0, reduction=reduction)
    if margin:
        check_module(f"torch.nn.{name}", **margin, reduction=reduction, input=triple)


@several
@given(st.data(), sizes, sizes, reductions, st.booleans())
def test_cosine_embedding_loss_agrees_with_torch(data, batch, width, reduction, batched):
    leading = (batch,) if batched else ()
    pair = [torch.zeros(data.draw(nearly((*leading, width)))) for _ in range(2)]
    target = torch.zeros(data.draw(nearly(leading)))
    check_module("torch.nn.CosineEmbeddingLoss", reduction=reduction, input=(*pair, target))


@several
@given(st.data(), shapes, st.integers(-3, 3))
def test_cosine_similarity_agrees_with_torch(data, shape, axis):
    pair = (torch.zeros(data.draw(nearly(shape))), torch.zeros(data.draw(nearly(shape))))
    check_module("torch.nn.CosineSimilarity", axis, input=pair)


@several
@given(st.data(), shapes, st.booleans())
def test_pairwise_distance_agrees_with_torch(data, shape, kept):
    pair = (torch.zeros(data.draw(nearly(shape))), torch.zeros(data.draw(nearly(shape))))
    check_module("torch.nn.PairwiseDistance", keepdim=kept, input=pair)


@several
@given(st.data(), sizes, sizes)
def test_distances_of_all_pairs_agree_with_torch(data, rows, width):
    check_function("torch.nn.functional.pdist", torch.zeros(data.draw(nearly((rows, width)))))
