"""Several batches that make one update are one large batch."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.optim import SGD
from torch.optim import lr_scheduler as schedules
from torch.utils.data import DataLoader, TensorDataset

from shaped.trainers import NotFiniteError, fit, supervised
from shaped.trainers.fitting.passes import grouped

LOSS = supervised(nn.MSELoss())
PLAIN = partial(SGD, lr=0.1)


def data(rows: int) -> TensorDataset:
    x = torch.randn(rows, 4, generator=torch.Generator().manual_seed(rows))
    return TensorDataset(x, x.sum(1, keepdim=True))


def net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def fitted(rows: int, batch: int, accumulate: int, **settings: Any) -> tuple[nn.Module, Any]:
    model = net()
    settings = {"epochs": 2, "optimizer": PLAIN, "progress": False, "loss": LOSS, **settings}
    history = fit(model, train=DataLoader(data(rows), batch), accumulate=accumulate, **settings)
    return model, history


@given(st.integers(1, 30), st.integers(1, 6), st.integers(1, 4))
def test_batches_together_are_one_large_batch(rows: int, batch: int, accumulate: int) -> None:
    model, history = fitted(rows, batch, accumulate, clip_norm=0.5)
    expected, of_large = fitted(rows, batch * accumulate, 1, clip_norm=0.5)
    for one, other in zip(model.parameters(), expected.parameters()):
        # The sum over the rows is made in another order: some units in the last place of float32 (6e-8 at 1).
        assert torch.allclose(one, other, rtol=0, atol=2e-6)
    assert [epoch.step for epoch in history] == [epoch.step for epoch in of_large]
    assert history["training loss"] == pytest.approx(of_large["training loss"], abs=1e-5)


def test_it_is_the_loop_that_one_writes_by_hand() -> None:
    model, _ = fitted(16, 4, 2)
    expected = net()
    optimizer = PLAIN(expected.parameters())
    for _ in range(2):
        for number, (x, y) in enumerate(DataLoader(data(16), 4)):
            (nn.functional.mse_loss(expected(x), y) / 2).backward()  # type: ignore[no-untyped-call]  # torch's own
            if number % 2 == 1:
                optimizer.step()
                optimizer.zero_grad()
    # To the bit: halving is exact, before a sum as after it.
    assert all(torch.equal(one, other) for one, other in zip(model.parameters(), expected.parameters()))


def test_a_schedule_steps_once_an_update_and_is_told_of_how_many_there_are() -> None:
    settings: dict[str, Any] = {"scheduler_every": "batch"}
    _, history = fitted(20, 4, 2, scheduler=lambda o: schedules.ExponentialLR(o, 0.5), **settings)
    assert [epoch.learning_rate for epoch in history] == [0.1 / 4, 0.1 / 32]
    assert [epoch.step for epoch in history] == [3, 6]
    fitted(20, 4, 2, scheduler=lambda o: schedules.OneCycleLR(o, 0.1, total_steps=6), **settings)
    with pytest.raises(ValueError, match="total_steps=5, but 2 epochs are 6 steps"):
        fitted(20, 4, 2, scheduler=lambda o: schedules.OneCycleLR(o, 0.1, total_steps=5), **settings)


@pytest.mark.parametrize("bad", [1, 2, 3, 4])
def test_a_batch_that_is_not_finite_is_left_out_of_its_update_and_the_others_make_it(bad: int) -> None:
    calls = 0

    def loss(model: nn.Module, batch: Any) -> Any:
        nonlocal calls
        calls += 1
        measured: Any = LOSS(model, batch)
        return measured * math.nan if calls == bad else measured

    model, history = fitted(16, 4, 4, loss=loss, not_finite="skip", epochs=1)
    batches = list(DataLoader(data(16), 4))
    rest = [batch for number, batch in enumerate(batches, start=1) if number != bad]
    expected = net()
    fit(expected, LOSS, rest, accumulate=3, epochs=1, optimizer=PLAIN, progress=False)
    assert all(torch.equal(one, other) for one, other in zip(model.parameters(), expected.parameters()))
    assert (history[0].step, history[0].skipped) == (1, 1)


def test_an_update_whose_norm_is_not_finite_is_left_out_with_all_of_its_batches() -> None:
    calls = 0

    def loss(model: nn.Module, batch: Any) -> Any:
        nonlocal calls
        calls += 1
        # The square root's slope at 0 is infinite, its value is not.
        return (model(batch[0]) * 0).sqrt().mean() if calls == 2 else LOSS(model, batch)

    _, history = fitted(16, 4, 2, loss=loss, not_finite="skip", clip_norm=1.0, epochs=1)
    assert (history[0].step, history[0].skipped) == (1, 2)
    calls = 0
    with pytest.raises(NotFiniteError, match=r"batch 2: the loss is 0\.0, but the norm of its gradients is nan"):
        fitted(16, 4, 2, loss=loss, clip_norm=1.0)


@pytest.mark.parametrize("accumulate, error", [(0, ValueError), (-1, ValueError), (1.5, TypeError), ("2", TypeError)])
def test_less_than_one_batch_makes_no_update(accumulate: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="accumulate is"):
        fitted(8, 4, accumulate)


@given(st.lists(st.integers()), st.integers(1, 5))
def test_groups_hold_every_item_and_end_where_they_are_full_or_the_items_end(items: list[int], size: int) -> None:
    pairs = list(grouped(items, size))
    assert [item for item, _ in pairs] == items
    ends = [position for position, (_, is_last) in enumerate(pairs, start=1) if is_last]
    assert ends == sorted({*range(size, len(items) + 1, size), *([len(items)] if items else [])})


def test_no_item_beyond_a_group_is_asked_for_before_the_group_is_used() -> None:
    asked: list[int] = []

    def source() -> Any:
        for number in range(6):
            asked.append(number)
            yield number

    seen = {item: list(asked) for item, ends in grouped(source(), 3) if ends}
    assert seen == {2: [0, 1, 2], 5: [0, 1, 2, 3, 4, 5]}
