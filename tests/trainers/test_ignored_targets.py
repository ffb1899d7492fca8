"""A batch without a target that counts: a loss of NaN with its reason, or a batch that is skipped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from shaped.trainers import fit, supervised
from shaped.trainers.fitting.passes import NotFiniteError
from shaped.trainers.ignored_targets import why_not_finite

REASON = "every target is ignore_index"


def batch(*targets: int) -> tuple[Tensor, Tensor]:
    return torch.ones(len(targets), 3), torch.tensor(targets)


@pytest.mark.parametrize(
    "criterion, targets",
    [
        (nn.CrossEntropyLoss(), (-100, -100)),
        (nn.CrossEntropyLoss(ignore_index=0), (0, 0)),
        (nn.NLLLoss(ignore_index=2), (2,)),
        (F.cross_entropy, (-100,)),
        (F.nll_loss, (-100, -100)),
    ],
)
def test_a_batch_that_counts_no_target_is_told_as_the_reason(criterion: Callable[..., Any], targets: Any) -> None:
    loss = supervised(criterion)
    value = loss(nn.Identity(), batch(*targets))
    assert isinstance(value, Tensor)
    assert value.isnan()  # as torch has it
    assert REASON in why_not_finite(loss, batch(*targets))


@pytest.mark.parametrize(
    "criterion, targets",
    [
        (nn.CrossEntropyLoss(), (-100, 1)),
        (nn.CrossEntropyLoss(ignore_index=0), (-100, -100)),
        (nn.CrossEntropyLoss(reduction="sum"), (-100, -100)),
        (nn.MSELoss(), (-100, -100)),
        (lambda output, target: F.cross_entropy(output, target), (-100, -100)),
    ],
)
def test_another_loss_has_another_reason(criterion: Callable[..., Any], targets: Any) -> None:
    assert why_not_finite(supervised(criterion), batch(*targets)) == ""


@pytest.mark.parametrize("given", [None, (), (torch.ones(2, 3), torch.full((2, 3), -100.0)), {"x": 1}])
def test_what_has_no_classes_for_targets_has_no_such_reason(given: object) -> None:
    assert why_not_finite(supervised(nn.CrossEntropyLoss()), given) == ""
    assert why_not_finite(lambda model, batch: batch, given) == ""


def test_fit_stops_with_the_reason_and_leaves_the_weights() -> None:
    model = nn.Linear(3, 3)
    before = model.weight.clone()
    with pytest.raises(NotFiniteError, match=rf"epoch 1, batch 1: the loss is nan \({REASON}, -100, .*after 0 updates"):
        fit(model, supervised(nn.CrossEntropyLoss()), [batch(-100, -100)], epochs=1, optimizer=torch.optim.Adam)
    assert torch.equal(model.weight, before)


def test_fit_leaves_the_batch_out_where_that_is_chosen() -> None:
    one, other = nn.Linear(3, 3), nn.Linear(3, 3)
    other.load_state_dict(one.state_dict())
    loss, options = supervised(nn.CrossEntropyLoss()), {"epochs": 1, "optimizer": torch.optim.Adam}
    history = fit(one, loss, [batch(-100), batch(0, -100)], not_finite="skip", **options)  # type: ignore[arg-type]  # mixed
    fit(other, loss, [batch(0, -100)], **options)  # type: ignore[arg-type]  # mixed
    assert history[0].skipped == 1
    assert torch.equal(one.weight, other.weight)
