"""What `fit` does with a model, its data and its settings."""

from __future__ import annotations

import copy
import math
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.optim import SGD, Adam
from torch.optim import lr_scheduler as schedules
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from shaped.errors import DeviceError, DtypeError, ShapeError
from shaped.trainers import EarlyStop, Epoch, NotFiniteError, accuracy, supervised
from shaped.trainers import fit as fit_showing

if TYPE_CHECKING:
    from pathlib import Path

fit = partial(fit_showing, progress=False)
PLAIN = partial(SGD, lr=0.1)
SQUARED = supervised(nn.MSELoss())


def line(rows: int = 10, batch: int = 4) -> DataLoader[Any]:
    """Points of y = 2x - 1, the last batch smaller than the others."""
    x = torch.linspace(-1, 1, rows).unsqueeze(1)
    return DataLoader(TensorDataset(x, 2 * x - 1), batch)


def linear() -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(1, 1)


# The loop


def test_fit_is_the_loop_that_one_writes_by_hand() -> None:
    expected, model = linear(), linear()
    optimizer = SGD(expected.parameters(), lr=0.1, momentum=0.9)
    scheduler = schedules.StepLR(optimizer, 2, gamma=0.5)
    for _ in range(5):
        for x, y in line():
            optimizer.zero_grad()
            nn.functional.mse_loss(expected(x), y).backward()
            torch.nn.utils.clip_grad_norm_(expected.parameters(), 1.0)
            optimizer.step()
        scheduler.step()
    fit(
        model,
        SQUARED,
        line(),
        epochs=5,
        optimizer=partial(SGD, lr=0.1, momentum=0.9),
        scheduler=lambda o: schedules.StepLR(o, 2, gamma=0.5),
        clip_norm=1.0,
    )
    assert torch.equal(model.weight, expected.weight)
    assert torch.equal(model.bias, expected.bias)


def test_means_are_over_examples_not_over_batches() -> None:
    model = linear()
    frozen = partial(SGD, lr=0.0)
    history = fit(model, SQUARED, line(), validation=line(batch=3), epochs=1, optimizer=frozen)
    x, y = next(iter(line(batch=10)))
    expected = nn.functional.mse_loss(model(x), y).item()
    assert history[0].training["loss"] == pytest.approx(expected, rel=1e-6)
    assert history[0].validation["loss"] == pytest.approx(expected, rel=1e-6)


def test_a_loss_may_give_metrics_beside_it() -> None:
    def loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> dict[str, Tensor | float]:
        x, y = batch
        error = model(x) - y
        return {"loss": error.square().mean(), "largest error": error.abs().max(), "size": float(len(x))}

    history = fit(linear(), loss, line(), validation=line(), epochs=2, optimizer=PLAIN)
    assert history[0].training.keys() == history[0].validation.keys() == {"loss", "largest error", "size"}
    assert history[0].training["size"] == pytest.approx((4 * 4 + 4 * 4 + 2 * 2) / 10)
    assert history["validation size"] == history["training size"]


def test_the_history_has_steps_and_the_learning_rate_of_each_epoch() -> None:
    history = fit(
        linear(), SQUARED, line(), epochs=3, optimizer=PLAIN, scheduler=lambda o: schedules.ExponentialLR(o, 0.5)
    )
    assert [epoch.number for epoch in history] == [1, 2, 3]
    assert [epoch.step for epoch in history] == [3, 6, 9]
    assert [epoch.learning_rate for epoch in history] == [0.1, 0.05, 0.025]
    assert all(epoch.seconds > 0 for epoch in history)


def test_a_schedule_may_step_after_each_batch() -> None:
    model = linear()
    optimizer = PLAIN(model.parameters())
    scheduler = schedules.LambdaLR(optimizer, lambda step: 1 / (1 + step))
    history = fit(model, SQUARED, line(), epochs=2, optimizer=optimizer, scheduler=scheduler, scheduler_every="batch")
    assert scheduler.last_epoch == 6
    assert [epoch.learning_rate for epoch in history] == pytest.approx([0.1 / 3, 0.1 / 6])


@pytest.mark.parametrize("has_validation", [False, True])
def test_a_plateau_is_looked_for_in_the_validation_loss_if_there_is_one(has_validation: bool) -> None:
    seen: list[float] = []

    class Plateau(schedules.ReduceLROnPlateau):
        def step(self, metrics: Any, epoch: int | None = None) -> None:
            seen.append(float(metrics))
            super().step(metrics)

    history = fit(
        linear(),
        SQUARED,
        line(),
        validation=line(4) if has_validation else None,
        epochs=3,
        optimizer=PLAIN,
        scheduler=lambda o: Plateau(o),
    )
    assert seen == history["validation loss" if has_validation else "training loss"]


def test_gradients_are_clipped_by_their_norm_together_and_a_shared_weight_counts_once() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(2, 2, bias=False)
            self.second = nn.Linear(2, 2, bias=False)
            self.second.weight = self.first.weight
            nn.init.zeros_(self.first.weight)

        def forward(self, x: Tensor) -> Tensor:
            return self.first(x) + self.second(x)

    model = Twice()
    data = [torch.ones(1, 2)]
    fit(model, lambda model, x: model(x).sum(), data, epochs=1, optimizer=partial(SGD, lr=1.0), clip_norm=1.0)
    # The gradient is 2 in each of four elements: its norm is 4, and 1 after it was clipped.
    assert torch.allclose(model.first.weight, torch.full((2, 2), -0.5), atol=1e-6)


def test_batches_may_be_of_any_kind_that_can_be_gone_through() -> None:
    class Stream(IterableDataset[Any]):
        def __iter__(self) -> Iterator[Any]:
            return iter(line().dataset)

    class Indexed:
        def __getitem__(self, index: int) -> Any:
            return list(line())[index]

    expected = fit(linear(), SQUARED, line(), epochs=2, optimizer=PLAIN)["training loss"]
    kinds: list[Iterable[Any]] = [list(line()), tuple(line()), DataLoader(Stream(), 4), Indexed()]  # type: ignore[list-item]
    for kind in kinds:
        assert fit(linear(), SQUARED, kind, epochs=2, optimizer=PLAIN)["training loss"] == expected
    assert fit(linear(), SQUARED, iter(line()), epochs=1, optimizer=PLAIN)["training loss"] == expected[:1]


def test_an_optimizer_may_be_a_class_a_function_or_an_instance() -> None:
    model = linear()
    instance = PLAIN(model.parameters())
    weights = []
    for one, optimizer in ((linear(), PLAIN), (linear(), lambda p: SGD(p, lr=0.1)), (model, instance)):
        fit(one, SQUARED, line(), epochs=1, optimizer=optimizer)
        weights.append(one.weight.item())
    assert len(set(weights)) == 1
    fit(linear(), SQUARED, line(), epochs=1, optimizer=Adam)


def test_a_factory_is_given_the_trainable_parameters_alone() -> None:
    model = linear()
    model.bias.requires_grad_(False)
    before = model.bias.clone()
    given: list[nn.Parameter] = []

    def factory(parameters: Iterable[nn.Parameter]) -> SGD:
        given.extend(parameters)
        return SGD(given, lr=0.1)

    fit(model, SQUARED, line(), epochs=1, optimizer=factory)
    assert len(given) == 1
    assert given[0] is model.weight
    assert torch.equal(model.bias, before)


# Modes and gradients


class Watching(nn.Module):
    """Takes down in which modes it is called."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(1, 1)
        self.frozen = nn.BatchNorm1d(1)
        self.seen: list[tuple[bool, bool, bool, bool]] = []

    def forward(self, x: Tensor) -> Tensor:
        modes = (self.training, self.frozen.training, torch.is_grad_enabled(), torch.is_inference_mode_enabled())
        self.seen.append(modes)
        return self.frozen(self.layer(x))


TRAINING, FROZEN = (True, True, True, False), (True, False, True, False)
VALIDATION = (False, False, False, True)


@pytest.mark.parametrize("was_training", [True, False])
def test_training_and_validation_have_their_modes_and_both_are_put_back(was_training: bool) -> None:
    model = Watching().train(was_training)
    with torch.no_grad():
        fit(model, SQUARED, line(batch=10), validation=line(batch=10), epochs=2, optimizer=PLAIN)
        assert not torch.is_grad_enabled()
    assert model.seen == [TRAINING, VALIDATION] * 2
    assert model.training is model.frozen.training is was_training


def test_a_part_in_evaluation_mode_stays_in_it_while_the_rest_is_trained() -> None:
    model = Watching()
    model.frozen.eval()
    fit(model, SQUARED, line(batch=10), validation=line(batch=10), epochs=2, optimizer=PLAIN)
    assert model.seen == [FROZEN, VALIDATION] * 2
    assert (model.training, model.frozen.training) == (True, False)
    assert model.frozen.num_batches_tracked == 0


@pytest.mark.parametrize("calls", [1, 2], ids=["in training", "in validation"])
def test_modes_are_put_back_after_an_exception(calls: int) -> None:
    model = Watching()
    model.frozen.eval()

    def loss(model: Watching, batch: Any) -> Tensor:
        value = SQUARED(model, batch)
        if len(model.seen) == calls:
            raise KeyError("mine")
        assert isinstance(value, Tensor)
        return value

    with pytest.raises(KeyError, match="mine"):
        fit(model, loss, line(batch=10), validation=line(batch=10), epochs=2, optimizer=PLAIN)
    assert (model.training, model.frozen.training) == (True, False)
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()


def test_fit_trains_under_inference_mode_too() -> None:
    model, batches = linear(), list(line())
    with torch.inference_mode():
        history = fit(model, SQUARED, batches, epochs=20, optimizer=PLAIN)
        assert torch.is_inference_mode_enabled()
    assert history[-1].training["loss"] < history[0].training["loss"] / 10


# Errors


def broken_loss(value: Callable[[Tensor], Any]) -> Callable[[nn.Module, Any], Any]:
    return lambda model, batch: value(model(batch[0]) - batch[1])


@pytest.mark.parametrize(
    "loss, error, message",
    [
        (nn.MSELoss(), TypeError, r"loss is nn\.MSELoss\(\), which takes .*: write supervised\(nn\.MSELoss\(\)\)"),
        (nn.functional.l1_loss, TypeError, r"write supervised\(F\.l1_loss\)"),
        (None, TypeError, "loss is a NoneType: a function of the model and a batch is wanted"),
        (lambda model, x, y: x, TypeError, r"with the model and a batch, but takes \(model, x, y\): missing .*'y'"),
        (lambda batch: 0, TypeError, r"but takes \(batch\): too many positional arguments"),
        (broken_loss(lambda e: e.square()), ShapeError, r"epoch 1, batch 1: loss: \(4, 1\): a scalar is wanted"),
        (broken_loss(lambda e: e.square().mean().item()), TypeError, "epoch 1, batch 1: the loss is a float"),
        (broken_loss(lambda e: e.square().mean().detach()), ValueError, "epoch 1, batch 1: the loss depends on no"),
        (broken_loss(lambda e: e.sum() + 0j), DtypeError, "complex64 has no order"),
        (broken_loss(lambda e: {"cost": e.sum()}), TypeError, "a dict without 'loss': 'cost'"),
        (broken_loss(lambda e: {"loss": e.sum(), "all": e}), ShapeError, r"batch 1: all: \(4, 1\): a scalar is"),
        (broken_loss(lambda e: {"loss": e.sum(), "note": "x"}), TypeError, "note is a str: a number is wanted"),
        (supervised(nn.CrossEntropyLoss(), accuracy=accuracy), DtypeError, "accuracy: target is torch.float32"),
    ],
)
def test_a_loss_that_cannot_be_minimised_is_an_error_that_says_why(
    loss: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        fit(linear(), loss, line(), epochs=1, optimizer=PLAIN)


def test_a_loss_with_parameters_of_its_own_is_refused_by_name() -> None:
    class Centers(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.centers = nn.Parameter(torch.zeros(1))

        def forward(self, model: nn.Module, batch: Any) -> Tensor:
            return (model(batch[0]) - self.centers).square().mean()

    with pytest.raises(TypeError, match=r"parameters to train \(centers\).*make it a part of the model"):
        fit(linear(), Centers(), line(), epochs=1, optimizer=PLAIN)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"epochs": 0}, "epochs is 0"),
        ({"epochs": 1.5}, "epochs is 1.5"),
        ({"clip_norm": 0.0}, "clip_norm is 0.0"),
        ({"clip_norm": float("nan")}, "clip_norm is nan"),
        ({"not_finite": "ignore"}, "not_finite is 'ignore', not 'stop' or 'skip'"),
        ({"scheduler_every": "step"}, "scheduler_every is 'step', not 'epoch' or 'batch'"),
        ({"early_stop": EarlyStop(2)}, "EarlyStop watches 'validation loss', but fit was given no validation"),
        (
            {"early_stop": EarlyStop(2, monitor="training accuracy")},
            "monitor is 'training accuracy', but an epoch has 'training loss'",
        ),
        ({"train": []}, "train has no batch: its length is 0"),
        ({"train": iter(line())}, "train is an iterator, which is empty after one of 2 epochs"),
        ({"validation": []}, "validation has no batch: its length is 0"),
        ({"validation": iter(line())}, "validation is an iterator"),
        ({"train": iter([]), "epochs": 1}, "epoch 1: train gave no batch"),
        ({"validation": iter([]), "epochs": 1}, "epoch 1: validation gave no batch"),
        (
            {"scheduler": lambda o: schedules.ReduceLROnPlateau(o), "scheduler_every": "batch"},
            "ReduceLROnPlateau watches a value of each epoch",
        ),
        (
            {"scheduler": lambda o: schedules.OneCycleLR(o, 0.1, total_steps=5), "scheduler_every": "batch"},
            "OneCycleLR has total_steps=5, but 2 epochs are 6 steps",
        ),
        ({"clip_norm": "1"}, "clip_norm is '1': a number above 0 is needed"),
        ({"curve": "curve.mp4"}, r"curve: curve\.mp4 ends in \.mp4, which is none of .*png"),
        ({"scheduler": schedules.StepLR(PLAIN(linear().parameters()), 1)}, "the scheduler is that of another optim"),
    ],
)
def test_settings_that_do_not_fit_together_are_errors(settings: dict[str, Any], message: str) -> None:
    rest = {name: value for name, value in settings.items() if name != "train"}
    with pytest.raises(ValueError, match=message):
        fit(linear(), SQUARED, settings.get("train", line()), **{"epochs": 2, "optimizer": PLAIN, **rest})


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"train": 5}, "train is a int: batches are wanted"),
        ({"train": torch.zeros(4, 2)}, "train is a Tensor: batches are wanted"),
        ({"train": line().dataset}, r"train is a TensorDataset, which gives examples: give DataLoader\(train, batch_"),
        ({"validation": line().dataset}, r"give DataLoader\(validation, batch_size=32\)"),
        ({"seed": 0.5}, r"seed is 0\.5: a whole number is needed"),
        ({"early_stop": 5}, r"early_stop is 5: an EarlyStop is needed, such as EarlyStop\(patience=5\)"),
        ({"on_epoch": 3}, "on_epoch is 3: a function of an epoch is needed"),
        ({"optimizer": "adam"}, "optimizer is or made a str"),
        ({"optimizer": lambda parameters: None}, "optimizer is or made a NoneType"),
        ({"optimizer": torch.optim.LBFGS}, "LBFGS, which evaluates the loss many times"),
        ({"scheduler": lambda optimizer: 3}, "scheduler is or made a int"),
    ],
)
def test_things_of_another_kind_are_errors(settings: dict[str, Any], message: str) -> None:
    rest = {name: value for name, value in settings.items() if name != "train"}
    with pytest.raises(TypeError, match=message):
        fit(linear(), SQUARED, settings.get("train", line()), **{"epochs": 2, "optimizer": PLAIN, **rest})


@pytest.mark.parametrize("name, reason", [("cuda:99", ".*"), ("gpu", "there is no such kind of device")])
def test_a_device_that_is_not_there_is_named_before_training_begins(name: str, reason: str) -> None:
    with pytest.raises(DeviceError, match=f"device {name}: {reason}; here are .*cpu"):
        fit(linear(), SQUARED, line(), epochs=1, optimizer=PLAIN, device=name)


@pytest.mark.parametrize("model", [None, nn.Linear, [linear()], lambda x: x])
def test_what_is_no_module_is_no_model(model: Any) -> None:
    with pytest.raises(TypeError, match=r"model is (a \w+|the class Linear): a torch\.nn\.Module is needed"):
        fit(model, SQUARED, line(), epochs=1, optimizer=PLAIN)


@pytest.mark.parametrize("name", ["checkpoint", "curve"])
def test_a_file_that_cannot_be_written_is_told_before_training_begins(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    model = linear()
    before = copy.deepcopy(model.state_dict())
    settings: Any = {name: tmp_path / "file" / "a.png"}
    with pytest.raises(OSError, match=rf"{name}: .*a\.png cannot be written"):
        fit(model, SQUARED, line(), epochs=1, optimizer=PLAIN, **settings)
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())


@pytest.mark.parametrize("seed", [-1, 2**70, np.int64(3)])
def test_any_int_is_a_seed(seed: Any) -> None:
    fit(linear(), SQUARED, line(), epochs=1, optimizer=PLAIN, seed=seed)
    assert torch.initial_seed() == int(seed) % 2**64


def test_an_optimizer_of_parameters_that_were_replaced_is_an_error_that_names_one() -> None:
    model = nn.Sequential(nn.Linear(1, 3), nn.Linear(3, 1))
    optimizer = PLAIN(model.parameters())
    model.load_state_dict({name: value.clone() for name, value in model.state_dict().items()}, assign=True)
    with pytest.raises(
        ValueError, match=r"parameter 0 of the optimizer's group 0, \(3, 1\) \(the shape of 0\.weight\)"
    ):
        fit(model, SQUARED, line(), epochs=1, optimizer=optimizer)


def test_an_optimizer_made_before_to_made_new_parameters_is_an_error() -> None:
    model = linear()
    optimizer = PLAIN(model.parameters())
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        model.to(torch.float64)
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)
    with pytest.raises(ValueError, match=r"before the model's parameters were replaced \(\.to"):
        fit(model, SQUARED, line(), epochs=1, optimizer=optimizer)


def test_a_model_without_trainable_parameters_is_an_error() -> None:
    with pytest.raises(ValueError, match="Linear has no parameter to train"):
        fit(linear().requires_grad_(False), SQUARED, line(), epochs=1, optimizer=PLAIN)


# Warnings


def test_parameters_that_the_optimizer_leaves_out_are_named() -> None:
    model = linear()
    with pytest.warns(UserWarning, match="the optimizer leaves out bias: set requires_grad to False") as caught:
        fit(model, SQUARED, line(), epochs=1, optimizer=SGD([model.weight], lr=0.1))
    assert caught[0].filename == __file__


def test_parameters_that_the_loss_never_reaches_are_named_once() -> None:
    class Detached(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head, self.encoder = nn.Linear(1, 1), nn.Linear(1, 1)

        def forward(self, x: Tensor) -> Tensor:
            return self.head(self.encoder(x).detach())

    with pytest.warns(UserWarning, match=r"never reached encoder\.weight, encoder\.bias in this epoch") as caught:
        fit(Detached(), SQUARED, line(), epochs=3, optimizer=PLAIN)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_parameter_that_only_the_first_batch_reaches_is_reached() -> None:
    class FirstAlone(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head, self.extra, self.calls = nn.Linear(1, 1), nn.Linear(1, 1), 0

        def forward(self, x: Tensor) -> Tensor:
            self.calls += 1
            return self.head(x) + (self.extra(x) if self.calls == 1 else 0)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(FirstAlone(), SQUARED, line(), epochs=2, optimizer=PLAIN)


def test_one_cycle_stepped_once_an_epoch_is_warned_of() -> None:
    cycle: Any = lambda o: schedules.OneCycleLR(o, 0.1, total_steps=300)  # noqa: E731
    with pytest.warns(
        UserWarning, match="300 steps, and takes 2, one an epoch: is scheduler_every='batch' meant"
    ) as caught:
        fit(linear(), SQUARED, line(), epochs=2, optimizer=PLAIN, scheduler=cycle)
    assert caught[0].filename == __file__


# Values that are not finite


def exploding(at: int, value: float = math.nan) -> Callable[[nn.Module, Any], Tensor]:
    """A loss that is not finite the time that it is asked for the `at`th time."""
    calls = 0

    def loss(model: nn.Module, batch: Any) -> Tensor:
        nonlocal calls
        calls += 1
        measured = SQUARED(model, batch)
        assert isinstance(measured, Tensor)
        return measured * value if calls == at else measured

    return loss


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_stops_before_it_spoils_the_weights(value: float) -> None:
    model = linear()
    with pytest.raises(NotFiniteError, match=rf"epoch 2, batch 3: the loss is {value}, after 5 updates"):
        fit(model, exploding(6, value), line(), epochs=3, optimizer=PLAIN)
    assert bool(model.weight.isfinite().all())


def test_a_batch_whose_loss_is_not_finite_may_be_skipped() -> None:
    model, expected = linear(), linear()
    history = fit(model, exploding(2), line(), epochs=1, optimizer=PLAIN, not_finite="skip")
    batches = list(line())
    fit(expected, SQUARED, [batches[0], batches[2]], epochs=1, optimizer=PLAIN)
    assert torch.equal(model.weight, expected.weight)
    assert (history[0].skipped, history[0].step) == (1, 2)
    assert math.isfinite(history[0].training["loss"])
    assert "1 batch skipped" in str(history[0])


def test_no_batch_left_is_an_error_even_if_batches_are_skipped() -> None:
    with pytest.raises(NotFiniteError, match="epoch 1: no batch has a finite loss"):
        fit(linear(), exploding(1), line(batch=10), epochs=1, optimizer=PLAIN, not_finite="skip")


@pytest.mark.parametrize("not_finite", ["stop", "skip"])
def test_a_finite_loss_whose_gradient_is_not_is_seen_where_gradients_are_clipped(not_finite: Any) -> None:
    def loss(model: nn.Module, batch: Any) -> Tensor:
        return (model(batch[0]) * 0).sqrt().mean()  # 0 * inf in the gradient

    model = linear()
    before = model.weight.clone()
    message = "the norm of its gradients is nan" if not_finite == "stop" else "no batch has a finite loss and finite"
    with pytest.raises(NotFiniteError, match=message):
        fit(model, loss, line(), epochs=1, optimizer=PLAIN, clip_norm=1.0, not_finite=not_finite)
    assert torch.equal(model.weight, before)


# Interruption and callbacks


def test_a_keyboard_interrupt_arrives_says_how_far_the_run_came_and_leaves_the_checkpoint(tmp_path: Path) -> None:
    calls, model, path = 0, linear(), tmp_path / "a.pt"

    def interrupted(model: nn.Module, batch: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 8:
            raise KeyboardInterrupt
        return SQUARED(model, batch)

    model.eval()
    with pytest.raises(KeyboardInterrupt) as raised:
        fit(model, interrupted, line(), epochs=4, optimizer=PLAIN, checkpoint=path, curve=tmp_path / "a.png")
    assert raised.value.__notes__ == [
        f"fit was broken off after 2 of 4 epochs; the same call goes on from there with {path}"
    ]
    assert not model.training
    assert (tmp_path / "a.png").exists()
    assert len(fit(linear(), SQUARED, line(), epochs=4, optimizer=PLAIN, checkpoint=path)) == 4


def test_a_function_is_called_with_each_epoch() -> None:
    seen: list[Epoch] = []
    history = fit(linear(), SQUARED, line(), epochs=3, optimizer=PLAIN, on_epoch=seen.append)
    assert seen == list(history)


# Devices and extras


class SeenError(Exception):
    """A loss that has seen enough."""


def test_the_model_the_loss_and_the_batches_are_moved_to_the_device() -> None:
    class Weighted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("weight", torch.ones(1))

        def forward(self, model: nn.Linear, batch: dict[str, Any]) -> Tensor:
            assert {one.device.type for one in (batch["x"], self.weight, model.weight)} == {"meta"}
            assert batch["names"] == ["a"]
            raise SeenError  # there is no value: the device has none

    with pytest.raises(SeenError):
        fit(linear(), Weighted(), [{"x": torch.ones(2, 1), "names": ["a"]}], epochs=1, optimizer=PLAIN, device="meta")


def test_fit_runs_where_the_extras_are_not_installed() -> None:
    program = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(['tqdm', 'matplotlib', 'tensorboard', 'torch.utils.tensorboard']))\n"
        "import torch\n"
        "from torch import nn\n"
        "from shaped.trainers import fit, supervised\n"
        "sys.stderr.isatty = lambda: True\n"
        "data = [(torch.ones(2, 1), torch.ones(2, 1))]\n"
        "fit(nn.Linear(1, 1), supervised(nn.MSELoss()), data, epochs=1, optimizer=torch.optim.Adam)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.startswith("epoch 1/1: training loss ")


@pytest.mark.parametrize(
    "settings, module, message",
    [
        ({"curve": "a.png"}, "matplotlib", "a curve of the loss needs matplotlib"),
        ({"tensorboard": "log"}, "torch.utils.tensorboard", "a log for TensorBoard needs tensorboard"),
    ],
)
def test_a_missing_package_is_told_before_training_begins(
    settings: dict[str, str], module: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    model = linear()
    before = model.weight.clone()
    with pytest.raises(ImportError, match=message + r".*pip install 'shaped\[fit\]'"):
        fit(model, SQUARED, line(), epochs=1, optimizer=PLAIN, **{k: tmp_path / v for k, v in settings.items()})  # type: ignore[arg-type]
    assert torch.equal(model.weight, before)
    assert not list(tmp_path.iterdir())
