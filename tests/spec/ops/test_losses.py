"""Losses of elements and distances against torch, and their messages."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.op import find_op
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.modules import (
    B,
    N,
    T,
    check_function,
    check_module,
    make,
    message,
    module_message,
    nearly,
    several,
    sizes,
)

shapes = st.lists(sizes, min_size=1, max_size=3).map(tuple)


reductions = st.sampled_from(["none", "mean", "sum"])


ELEMENTWISE = [
    "MSELoss",
    "L1Loss",
    "SmoothL1Loss",
    "HuberLoss",
    "BCELoss",
    "BCEWithLogitsLoss",
    "KLDivLoss",
    "PoissonNLLLoss",
    "SoftMarginLoss",
    "HingeEmbeddingLoss",
]


@pytest.mark.parametrize("name", ELEMENTWISE)
@several
@given(st.data(), shapes, reductions)
def test_losses_of_pairs_agree_with_torch(name, data, shape, reduction):
    pair = (torch.zeros(data.draw(nearly(shape))), torch.zeros(data.draw(nearly(shape))))
    check_module(f"torch.nn.{name}", reduction=reduction, input=pair)


@several
@given(st.data(), shapes, reductions)
def test_gaussian_nll_loss_agrees_with_torch(data, shape, reduction):
    pair = [torch.zeros(data.draw(nearly(shape))) for _ in range(2)]
    variance = data.draw(nearly(data.draw(st.sampled_from([shape, shape[:-1], (*shape[:-1], 1), (1, *shape[1:])]))))
    check_module("torch.nn.GaussianNLLLoss", reduction=reduction, input=(*pair, torch.ones(variance)))


@pytest.mark.parametrize("name", ["binary_cross_entropy", "binary_cross_entropy_with_logits"])
@several
@given(st.data(), shapes, reductions)
def test_weights_of_binary_losses_broadcast_as_in_torch(name, data, shape, reduction):
    weight = torch.zeros(data.draw(nearly(shape[data.draw(st.integers(0, len(shape) - 1)) :])))
    pair = (torch.zeros(shape), torch.zeros(shape))
    check_function(f"torch.nn.functional.{name}", *pair, weight=weight, reduction=reduction)


def test_the_older_arguments_say_the_reduction():
    pair = (torch.zeros(2, 3), torch.zeros(2, 3))
    for options in ({"size_average": False}, {"reduce": False}, {"size_average": True, "reduce": True}):
        check_function("torch.nn.functional.mse_loss", *pair, **options)


def test_a_word_that_is_no_reduction_is_refused():
    pair = (torch.zeros(2, 3), torch.zeros(2, 3))
    check_function("torch.nn.functional.mse_loss", *pair, reduction="men")
    check_function("torch.nn.functional.kl_div", *pair, reduction="batchmean")


def test_a_reduction_that_was_not_followed_leaves_the_rank_open():
    operation = find_op("torch.nn.functional.mse_loss")
    result = operation.apply(Context(), [TensorType.of(B), TensorType.of(B)], {"reduction": UNKNOWN})
    assert result.shape.rank is None


def test_the_messages_name_both_operands():
    made = make("torch.nn.BCEWithLogitsLoss")
    assert module_message(made, TensorType.of(B, 1), TensorType.of(B)) == (
        "binary_cross_entropy_with_logits: input (b, 1), target (b,): 2 and 1 axes, equal shapes expected",
        "target.unsqueeze(1)?",
    )
    assert module_message(made, TensorType.of(B), TensorType.of(B, 1))[1] == "target.squeeze(1)?"
    assert message("torch.nn.functional.binary_cross_entropy", TensorType.of(N, 3), TensorType.of(N, 4))[0] == (
        "binary_cross_entropy: input (n, 3), target (n, 4): sizes 3 and 4 of axis 1 differ"
    )
    assert message("torch.nn.functional.mse_loss", TensorType.of(B, 3), TensorType.of(B, 4))[0] == (
        "mse_loss: input (b, 3), target (b, 4): sizes 3 and 4 of axis -1 differ"
    )
    assert message("torch.nn.functional.triplet_margin_loss", *[TensorType.of(B, T)] * 2, TensorType.of(B))[0] == (
        "triplet_margin_loss: anchor (b, t), positive (b, t), negative (b,): 2, 2, 1 axes, equal ranks expected"
    )
