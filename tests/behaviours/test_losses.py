"""Cross-entropy: its values, the two kinds of targets, what is ignored, and what `reduction` leaves of the shape."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from shaped.static.check import Checker
from shaped.trainers import ScalarTrainer, fit, supervised

GENERATOR = torch.Generator().manual_seed(0)
HEAD = "import torch.nn.functional as F; from torch import Tensor, nn; from jaxtyping import Float, Int\n"


def errors(program: str) -> list[str]:
    return [one.message for one in Checker().check(Path("program.py"), HEAD + program).diagnostics]


def test_the_cross_entropy_of_two_equal_scores_is_the_logarithm_of_two() -> None:
    value = F.cross_entropy(torch.zeros(1, 2, dtype=torch.float64), torch.tensor([0]))
    assert value.item() == 0.6931471805599453 == math.log(2)


def test_so_it_is_as_the_loss_of_a_trainer() -> None:
    of = ScalarTrainer(
        lambda params, inputs, nats: F.cross_entropy(inputs[0] + params[0], nats[0]),
        [()],
        [("n", "c")],
        [("n",)],
        dtype=torch.float64,
    )
    assert of.forward([[0, 0]], [0]).item() == math.log(2)


@settings(max_examples=50)
@given(n=st.integers(1, 5), c=st.integers(1, 6), dtype=st.sampled_from([torch.float32, torch.float64]), data=st.data())
def test_index_targets_equal_their_one_hot_distribution_exactly(
    n: int, c: int, dtype: torch.dtype, data: st.DataObject
) -> None:
    scores = torch.randn(n, c, generator=GENERATOR).to(dtype)
    index = torch.tensor(data.draw(st.lists(st.integers(0, c - 1), min_size=n, max_size=n)))
    one_hot = F.one_hot(index, c).to(dtype)
    by_index, by_distribution = (F.cross_entropy(scores, target, reduction="none") for target in (index, one_hot))
    assert torch.equal(by_index, by_distribution)


def test_an_ignored_target_leaves_the_sum_and_the_denominator_of_the_mean() -> None:
    scores = torch.randn(3, 4, generator=GENERATOR)
    target, kept = torch.tensor([1, -100, 3]), [0, 2]
    for reduction in ("sum", "mean"):
        value = F.cross_entropy(scores, target, reduction=reduction)
        assert torch.equal(value, F.cross_entropy(scores[kept], target[kept], reduction=reduction))
    assert F.cross_entropy(scores, target, reduction="none")[1] == 0


def test_its_scores_have_gradients_of_zero() -> None:
    scores = torch.randn(2, 4, generator=GENERATOR).requires_grad_()
    F.cross_entropy(scores, torch.tensor([1, 0]), ignore_index=0).backward()
    assert scores.grad is not None
    assert (scores.grad[1] == 0).all()
    assert (scores.grad[0] != 0).all()


def test_a_batch_with_every_target_ignored_is_nan_in_torch_and_an_error_with_the_reason_in_fit() -> None:
    assert F.cross_entropy(torch.zeros(2, 3), torch.tensor([-100, -100])).isnan()
    batches = [(torch.ones(2, 3), torch.tensor([-100, -100]))]
    with pytest.raises(ArithmeticError, match="every target is ignore_index, -100"):
        fit(nn.Linear(3, 3), supervised(nn.CrossEntropyLoss()), batches, epochs=1, optimizer=torch.optim.SGD)


def test_its_sum_is_zero() -> None:
    assert F.cross_entropy(torch.zeros(2, 3), torch.tensor([-100, -100]), reduction="sum") == 0


# Kinds of targets


def test_soft_targets_are_told_from_index_targets_by_dtype() -> None:
    assert not errors(
        'def f(x: Float[Tensor, "n c"], y: Int[Tensor, "n"]) -> Float[Tensor, ""]:\n    return F.cross_entropy(x, y)\n'
        'def g(x: Float[Tensor, "n c"], y: Float[Tensor, "n c"]) -> Float[Tensor, ""]:\n'
        "    return F.cross_entropy(x, y)\n"
    )
    one_hot = torch.tensor([[0.0, 1.0]])
    scores = torch.tensor([[0.5, 1.5]])
    assert torch.equal(F.cross_entropy(scores, one_hot), F.cross_entropy(scores, torch.tensor([1])))


@pytest.mark.parametrize(
    "target, message",
    [
        (torch.tensor([1.0, 0.0]), "cross_entropy: input (n, c), target (n,): class indices are Float, int64 expected"),
        (
            torch.tensor([[0, 1], [1, 0]]),
            "class indices (n,) expected, or float probabilities (n, c); the target is Int",
        ),
    ],
)
def test_the_wrong_dtype_for_the_shape_is_an_error_in_both(target: Tensor, message: str) -> None:
    with pytest.raises((RuntimeError, ValueError)):
        F.cross_entropy(torch.zeros(2, 2), target)
    kind, axes = ("Float", "n") if target.is_floating_point() else ("Int", "n c")
    [found] = errors(
        f'def f(x: Float[Tensor, "n c"], y: {kind}[Tensor, "{axes}"]) -> Tensor:\n    return F.cross_entropy(x, y)\n'
    )
    assert message in found


# Reductions


LOSSES = {
    "F.cross_entropy(x, y{})": "Int",
    "F.nll_loss(x, y{})": "Int",
    "nn.CrossEntropyLoss({})(x, y)": "Int",
}
ELEMENTWISE = ["F.mse_loss(x, x{})", "F.l1_loss(x, x{})", "F.huber_loss(x, x{})", "nn.BCEWithLogitsLoss({})(x, x)"]


def program(call: str, reduction: str, shape: str) -> str:
    option = f"reduction='{reduction}'"
    call = call.format(option if "({})" in call else f", {option}")
    return f'def f(x: Float[Tensor, "n c"], y: Int[Tensor, "n"]) -> Float[Tensor, "{shape}"]:\n    return {call}\n'


@pytest.mark.parametrize("call, whole", [*((call, "n") for call in LOSSES), *((call, "n c") for call in ELEMENTWISE)])
def test_a_reduction_changes_the_shape_of_the_result(call: str, whole: str) -> None:
    for reduction in ("mean", "sum"):
        assert not errors(program(call, reduction, ""))
        assert errors(program(call, reduction, whole))
    assert not errors(program(call, "none", whole))
    assert errors(program(call, "none", ""))


def test_a_loss_that_is_not_reduced_is_refused_by_fit() -> None:
    batches = [(torch.ones(2, 3), torch.tensor([0, 1]))]
    with pytest.raises(Exception, match=r"\(2,\): a scalar is wanted: loss.mean\(\)\?"):
        fit(
            nn.Linear(3, 3),
            supervised(nn.CrossEntropyLoss(reduction="none")),
            batches,
            epochs=1,
            optimizer=torch.optim.SGD,
        )
