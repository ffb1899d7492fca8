"""Training in 16 bits is the loop under autocast that one writes by hand."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim import SGD
from torch.utils.data import DataLoader, TensorDataset

from shaped.trainers import fit, supervised
from shaped.trainers.fitting.precision import Precision

X = torch.randn(20, 4, generator=torch.Generator().manual_seed(1))
DATA = DataLoader(TensorDataset(X, X.sum(1, keepdim=True)), 8)


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def test_bfloat16_is_the_loop_under_autocast_that_one_writes_by_hand() -> None:
    expected, model = net(), net()
    optimizer = SGD(expected.parameters(), lr=0.1)
    measured = []
    for _ in range(3):
        for x, y in DATA:
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16):
                loss = nn.functional.mse_loss(expected(x), y)
            loss.backward()  # type: ignore[no-untyped-call]  # torch's own
            optimizer.step()
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
            losses = [float(nn.functional.mse_loss(expected(x), y)) * len(x) for x, y in DATA]
        measured.append(sum(losses) / 20)
    history = fit(
        model,
        supervised(nn.MSELoss()),
        DATA,
        validation=DATA,
        epochs=3,
        optimizer=partial(SGD, lr=0.1),
        precision="bfloat16",
        progress=False,
    )
    assert all(torch.equal(one, other) for one, other in zip(model.parameters(), expected.parameters()))
    assert history["validation loss"] == measured
    assert {one.dtype for one in model.parameters()} == {torch.float32}


def test_a_loss_in_16_bits_is_made_one_of_32() -> None:
    seen: list[torch.dtype] = []

    class Watching(SGD):
        def step(self, closure: Any = None) -> None:
            seen.extend(one.grad.dtype for group in self.param_groups for one in group["params"])
            super().step()

    def loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        measured = (model(batch[0]) - batch[1].bfloat16()).abs().mean()
        assert measured.dtype == torch.bfloat16
        return measured

    fit(net(), loss, DATA, epochs=1, optimizer=partial(Watching, lr=0.1), precision="bfloat16", progress=False)
    assert set(seen) == {torch.float32}
    kept = Precision("bfloat16", net(), None)
    assert kept.whole_loss(torch.tensor(1.0, dtype=torch.bfloat16)).dtype == torch.float32
    assert kept.whole_loss(torch.tensor(1.0, dtype=torch.float64)).dtype == torch.float64


@pytest.mark.parametrize(
    "name, model, device, message",
    [
        ("float16", net(), None, "precision is 'float16', which trains on CUDA alone, and the model is on cpu"),
        ("float32", net(), None, "precision is 'float32', not 'bfloat16' or 'float16', or None for the model's own"),
        (
            "bfloat16",
            net().double(),
            None,
            r"0\.weight is float64: small updates are lost unless weights are float32",
        ),
        ("bfloat16", net().bfloat16(), None, r"but 0\.weight is bfloat16"),
        ("bfloat16", net(), torch.device("meta"), "torch has no autocast on meta"),
        ("bfloat16", nn.Sequential(net(), nn.Linear(1, 1, device="meta")), None, "but the model is on cpu and meta"),
    ],
)
def test_what_cannot_be_computed_in_16_bits_is_an_error(name: Any, model: nn.Module, device: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Precision(name, model, device)


def test_without_16_bits_nothing_is_scaled_or_kept() -> None:
    plain = Precision(None, net().double(), None)
    assert plain.state() is None
    assert not plain.expects_overflow
    value = torch.tensor(1.0, dtype=torch.bfloat16)
    assert plain.whole_loss(value) is value


class Scaler:
    """In place of CUDA's scaler of the loss: it leaves out the first update."""

    def __init__(self) -> None:
        self.scale_now, self.steps = 4.0, 0

    def scale(self, loss: Tensor) -> Tensor:
        return loss * self.scale_now

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        for group in optimizer.param_groups:
            for one in group["params"]:
                one.grad /= self.scale_now

    def get_scale(self) -> float:
        return self.scale_now

    def step(self, optimizer: torch.optim.Optimizer) -> None:
        self.steps += 1
        if self.steps > 1:
            optimizer.step()

    def update(self) -> None:
        if self.steps == 1:
            self.scale_now /= 2


def test_a_scaled_loss_gives_the_same_update_and_one_left_out_is_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    init = Precision.__init__

    def scaling(self: Precision, *args: Any) -> None:
        init(self, *args)
        self._scaler = Scaler()

    expected, model = net(), net()
    batches = list(DATA)
    settings: dict[str, Any] = {"epochs": 1, "optimizer": partial(SGD, lr=0.1), "progress": False, "clip_norm": 0.5}
    fit(expected, supervised(nn.MSELoss()), batches[1:], **settings)
    monkeypatch.setattr(Precision, "__init__", scaling)
    monkeypatch.setattr(Precision, "state", lambda self: None)
    history = fit(model, supervised(nn.MSELoss()), batches, **settings)
    # The scales are powers of two: scaling up and down changes no bit.
    assert all(torch.equal(one, other) for one, other in zip(model.parameters(), expected.parameters()))
    assert (history[0].step, history[0].skipped) == (2, 1)
