"""Losses over classes against torch, and their messages."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.spec.dtypes import FLOAT32, INT64
from shaped.spec.values import TensorType
from tests.spec.ops.modules import (
    B,
    H,
    T,
    V,
    W,
    check_function,
    check_module,
    make,
    message,
    module_message,
    nearly,
    several,
    sizes,
)

reductions = st.sampled_from(["none", "mean", "sum"])


@st.composite
def logits(draw):
    """The shape of logits with at least one class axis, and that of their class indices."""
    classes, rest = draw(sizes), draw(st.lists(sizes, max_size=2))
    batch = draw(sizes)
    return draw(st.sampled_from([((classes,), ()), ((batch, classes, *rest), (batch, *rest))]))


@pytest.mark.parametrize("name", ["CrossEntropyLoss", "NLLLoss"])
@several
@given(st.data(), logits(), reductions)
def test_class_indices_agree_with_torch(name, data, shapes, reduction):
    input, target = (data.draw(nearly(shape)) for shape in shapes)
    pair = (torch.zeros(input), torch.zeros(target, dtype=torch.int64))
    check_module(f"torch.nn.{name}", reduction=reduction, input=pair)


@several
@given(st.data(), logits(), reductions)
def test_class_probabilities_agree_with_torch(data, shapes, reduction):
    input, target = data.draw(nearly(shapes[0])), data.draw(nearly(shapes[0]))
    kind = data.draw(st.sampled_from([torch.float32, torch.float32, torch.int64]))
    pair = (torch.zeros(input), torch.zeros(target, dtype=kind))
    check_module("torch.nn.CrossEntropyLoss", reduction=reduction, input=pair)


@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss"])
@several
@given(st.data(), logits())
def test_weights_of_classes_agree_with_torch(name, data, shapes):
    input, target = shapes
    weight = torch.zeros(data.draw(nearly((input[min(1, len(input) - 1)],))))
    pair = (torch.zeros(input), torch.zeros(target, dtype=torch.int64))
    check_function(f"torch.nn.functional.{name}", *pair, weight=weight)


@several
@given(st.data(), sizes, sizes, reductions)
def test_margins_of_classes_agree_with_torch(data, batch, classes, reduction):
    input, indices, labels = (data.draw(nearly(shape)) for shape in ((batch, classes), (batch,), (batch, classes)))
    pair = (torch.zeros(input), torch.zeros(indices, dtype=torch.int64))
    check_module("torch.nn.MultiMarginLoss", reduction=reduction, input=pair)
    pair = (torch.zeros(input), torch.zeros(labels, dtype=torch.int64))
    check_module("torch.nn.MultiLabelMarginLoss", reduction=reduction, input=pair)
    check_module(
        "torch.nn.MultiLabelSoftMarginLoss", reduction=reduction, input=(torch.zeros(input), torch.zeros(labels))
    )


@several
@given(sizes, sizes, reductions)
def test_ctc_loss_agrees_with_torch(steps, batch, reduction):
    inputs = (
        torch.zeros(steps, batch, 4),
        torch.ones(batch, 1, dtype=torch.int64),
        torch.full((batch,), steps),
        torch.ones(batch, dtype=torch.int64),
    )
    check_module("torch.nn.CTCLoss", reduction=reduction, input=inputs)


def test_the_messages_say_what_target_is_expected():
    made = make("torch.nn.CrossEntropyLoss")
    logits_type = TensorType.of(B * T, V, dtype=FLOAT32)
    assert module_message(made, logits_type, TensorType.of(B * T, 1, dtype=INT64)) == (
        "cross_entropy: input (b*t, v), target (b*t, 1): "
        "class indices (b*t,) or probabilities (b*t, v) expected: sizes 1 and v differ",
        "target.squeeze(1)?",
    )
    assert module_message(made, TensorType.of(B, T, V), TensorType.of(B, T, dtype=INT64)) == (
        "cross_entropy: input (b, t, v), target (b, t): "
        "class indices (b, v) or probabilities (b, t, v) expected: sizes t and v differ",
        "input.transpose(1, 2)?",
    )
    assert module_message(made, TensorType.of(B, H, W, 10), TensorType.of(B, H, W, dtype=INT64))[1] == (
        "input.permute(0, 3, 1, 2)?"
    )
    assert module_message(made, TensorType.of(B, 10), TensorType.of(B, 10, dtype=INT64)) == (
        "cross_entropy: input (b, 10), target (b, 10): class indices (b,) expected, "
        "or float probabilities (b, 10); the target is int64",
        "target.argmax(1)?",
    )
    assert module_message(made, TensorType.of(B, 10), TensorType.of(B, dtype=FLOAT32))[0] == (
        "cross_entropy: input (b, 10), target (b,): class indices are float32, int64 expected"
    )
    weight = TensorType.of(4)
    target = TensorType.of(B, dtype=INT64)
    assert message("torch.nn.functional.nll_loss", TensorType.of(B, 10), target, weight)[0] == (
        "nll_loss: input (b, 10), weight (4,): 4 weights for 10 classes"
    )
