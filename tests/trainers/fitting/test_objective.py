"""Losses from criteria, and metrics beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from shaped.errors import DtypeError, Fault, ShapeError
from shaped.runtime.data import pad_targets
from shaped.trainers import accuracy, supervised


def test_a_criterion_is_asked_about_output_and_target() -> None:
    model, x, y = nn.Linear(3, 2), torch.randn(4, 3), torch.randint(2, (4,))
    loss = supervised(nn.CrossEntropyLoss())(model, (x, y))
    assert torch.equal(loss, F.cross_entropy(model(x), y))  # type: ignore[arg-type]
    assert torch.equal(supervised(F.cross_entropy)(model, [x, y]), loss)  # type: ignore[arg-type]


def test_a_model_of_several_inputs_is_given_all_but_the_last_entry() -> None:
    class Sum(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return x + 10 * y

    loss = supervised(nn.L1Loss())(Sum(), (torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor([20.0])))
    assert loss == 1.0


def test_metrics_see_the_output_without_gradients() -> None:
    seen: list[bool] = []

    def metric(output: Tensor, target: Tensor) -> Tensor:
        seen.append(output.requires_grad or torch.is_grad_enabled())
        return (output - target).abs().max()

    loss = supervised(nn.MSELoss(), worst=metric)
    measured = loss(nn.Identity(), (torch.tensor([1.0, 4.0], requires_grad=True), torch.tensor([0.0, 0.0])))
    assert isinstance(measured, dict)
    assert measured["loss"].item() == 8.5
    assert measured["loss"].requires_grad
    assert measured["worst"].item() == 4.0
    assert seen == [False]
    assert torch.is_grad_enabled()


ELEMENTWISE = [
    nn.MSELoss(),
    nn.L1Loss(),
    nn.SmoothL1Loss(),
    nn.HuberLoss(),
    nn.BCEWithLogitsLoss(),
    F.mse_loss,
    F.l1_loss,
    F.huber_loss,
]


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("criterion", ELEMENTWISE, ids=lambda one: getattr(one, "__name__", type(one).__name__))
def test_a_loss_of_pairs_is_not_taken_over_operands_that_would_be_broadcast(criterion: Any) -> None:
    name = getattr(criterion, "__name__", type(criterion).__name__)
    with pytest.raises(ShapeError) as raised:
        supervised(criterion)(nn.Identity(), (torch.zeros(4, 1), torch.zeros(4)))
    assert (
        str(raised.value) == f"{name}: (4, 1) and (4,): output and target have to be of one shape, element by element"
    )


def test_other_losses_may_have_operands_of_different_shapes() -> None:
    batch = (torch.zeros(4, 3), torch.zeros(4, dtype=torch.long))
    assert isinstance(supervised(nn.CrossEntropyLoss())(nn.Identity(), batch), Tensor)
    assert isinstance(
        supervised(lambda output, target: (output - target[:, None]).mean())(nn.Identity(), batch), Tensor
    )


@pytest.mark.parametrize(
    "batch, kind", [(torch.zeros(2), "Tensor"), ({"x": 1}, "dict"), ((torch.zeros(2),), "tuple of 1")]
)
def test_a_batch_without_a_target_is_an_error_that_says_what_to_do(batch: Any, kind: str) -> None:
    with pytest.raises(TypeError, match=rf"a batch is a {kind}, not \(input, target\): give fit a function"):
        supervised(nn.MSELoss())(nn.Identity(), batch)


def test_no_metric_may_be_called_loss() -> None:
    metrics: dict[str, Callable[[Any, Any], float]] = {"loss": lambda output, target: 0.0}
    with pytest.raises(ValueError, match="a metric is called 'loss'"):
        supervised(nn.MSELoss(), **metrics)


def test_accuracy_is_the_share_of_right_answers() -> None:
    scores = torch.tensor([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]])
    assert accuracy(scores, torch.tensor([1, 0, 0])).item() == pytest.approx(2 / 3)
    images = torch.randn(2, 5, 3, 3)
    assert accuracy(images, images.argmax(1)) == 1
    assert accuracy(images, (images.argmax(1) + 1) % 5) == 0


def test_padded_targets_are_neither_right_nor_wrong() -> None:
    scores = torch.eye(3)[None].repeat(2, 1, 1)  # (batch, classes, len): the class at each position is its number
    targets = pad_targets([torch.tensor([0, 1, 2]), torch.tensor([0])])
    assert accuracy(scores, targets) == 1
    assert accuracy(scores, torch.where(targets == -100, 7, targets), ignore_index=7) == 1
    assert accuracy(scores, torch.where(targets == 2, 0, targets)) == 0.75
    assert accuracy(scores, torch.full_like(targets, -100)).isnan()


@pytest.mark.parametrize(
    "output, target, error, message",
    [
        (torch.zeros(4), torch.zeros(4, dtype=torch.long), ShapeError, r"\(4,\) and \(4,\)"),
        (torch.zeros(4, 3), torch.zeros(4, 1, dtype=torch.long), ShapeError, r"\(4, 3\) and \(4, 1\)"),
        (torch.zeros(4, 3, 2), torch.zeros(4, 3, dtype=torch.long), ShapeError, r"\(4, 3, 2\) and \(4, 3\)"),
        (torch.zeros(4, 3), torch.zeros(4, 3), DtypeError, "target is torch.float32, but classes are integers"),
    ],
)
def test_accuracy_of_what_is_no_classes_is_an_error(
    output: Tensor, target: Tensor, error: type[Fault], message: str
) -> None:
    with pytest.raises(error, match=message):
        accuracy(output, target)


def test_what_is_no_function_of_output_and_target_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"supervised: criterion is the class MSELoss: write MSELoss\(\)"):
        supervised(nn.MSELoss)
    with pytest.raises(TypeError, match="supervised: criterion is 'mse': a function of an output and a target is"):
        supervised("mse")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="supervised: accuracy is True"):
        supervised(nn.CrossEntropyLoss(), accuracy=True)  # type: ignore[arg-type]
