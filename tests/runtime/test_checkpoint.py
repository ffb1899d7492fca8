"""A checkpoint is written and loaded whole or not at all."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pytest
import torch
from torch import nn
from torch.optim import SGD, Adam, Optimizer
from torch.optim import lr_scheduler as schedules
from torch.optim.lr_scheduler import LRScheduler

from shaped.runtime import checkpoint
from shaped.runtime.checkpoint import CheckpointError, load, model_problems, save
from tests.equality import same

if TYPE_CHECKING:
    from pathlib import Path


def small(seed: int = 0, width: int = 4, dtype: torch.dtype = torch.float32) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, width), nn.BatchNorm1d(width), nn.Linear(width, 2)).to(dtype)


def trained(model: nn.Module, optimizer: Optimizer, steps: int = 2) -> None:
    dtype = next(model.parameters()).dtype
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(8, 3, dtype=dtype)).square().mean().backward()
        optimizer.step()


def snapshot(model: nn.Module, optimizer: Optimizer | None = None) -> Any:
    return copy.deepcopy((model.state_dict(), None if optimizer is None else optimizer.state_dict()))


def test_all_that_was_saved_is_loaded_into_new_objects(tmp_path: Path) -> None:
    model = small()
    optimizer = Adam(model.parameters(), lr=0.1)
    scheduler = schedules.StepLR(optimizer, 1, gamma=0.5)
    generator = torch.Generator().manual_seed(7)
    trained(model, optimizer)
    scheduler.step()
    save(tmp_path / "a.pt", model, optimizer, scheduler, generators={"data": generator}, extra={"epoch": 3})
    expected = torch.rand(3), torch.rand(3, generator=generator)

    other = small(seed=1)
    other_optimizer = Adam(other.parameters(), lr=0.7)
    other_scheduler = schedules.StepLR(other_optimizer, 1, gamma=0.25)
    other_generator = torch.Generator()
    extra = load(tmp_path / "a.pt", other, other_optimizer, other_scheduler, generators={"data": other_generator})
    assert extra == {"epoch": 3}
    assert same(snapshot(other, other_optimizer), snapshot(model, optimizer))
    assert other_scheduler.state_dict() == scheduler.state_dict()
    assert same((torch.rand(3), torch.rand(3, generator=other_generator)), expected)


def test_the_global_generators_stay_as_they_are_if_that_is_wanted(tmp_path: Path) -> None:
    model = small()
    save(tmp_path / "a.pt", model)
    torch.manual_seed(5)
    before = torch.get_rng_state()
    load(tmp_path / "a.pt", model, random=False)
    assert torch.equal(torch.get_rng_state(), before)


def test_parameters_stay_the_same_objects(tmp_path: Path) -> None:
    model = small()
    save(tmp_path / "a.pt", model)
    before = list(model.parameters())
    load(tmp_path / "a.pt", model)
    assert all(one is other for one, other in zip(model.parameters(), before))


def test_a_checkpoint_that_was_read_can_be_loaded_again_after_training(tmp_path: Path) -> None:
    model = small()
    optimizer = Adam(model.parameters())
    trained(model, optimizer)
    save(tmp_path / "a.pt", model, optimizer)
    before = snapshot(model, optimizer)
    found = checkpoint.read(tmp_path / "a.pt")
    for _ in range(2):
        found.restore(model, optimizer)
        assert same(snapshot(model, optimizer), before)
        trained(model, optimizer)


RESUMED: dict[str, Callable[[Any], Optimizer]] = {
    "SGD with momentum": lambda parameters: SGD(parameters, lr=0.1, momentum=0.9, nesterov=True),
    "Adam with amsgrad": lambda parameters: Adam(parameters, lr=0.05, amsgrad=True),
    "AdamW": lambda parameters: torch.optim.AdamW(parameters, lr=0.05),
    "RMSprop": lambda parameters: torch.optim.RMSprop(parameters, lr=0.05, momentum=0.5, centered=True),
    "Adagrad": lambda parameters: torch.optim.Adagrad(parameters, lr=0.05, lr_decay=0.1),
}


@pytest.mark.parametrize("name", RESUMED)
def test_a_resumed_run_is_the_run_that_was_never_stopped_bit_for_bit(name: str, tmp_path: Path) -> None:
    def run(seed: int) -> tuple[nn.Module, Optimizer, LRScheduler, torch.Generator]:
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.3), nn.Linear(4, 2))
        optimizer = RESUMED[name](model.parameters())
        return model, optimizer, schedules.StepLR(optimizer, 2, gamma=0.5), torch.Generator().manual_seed(seed)

    def steps(parts: tuple[nn.Module, Optimizer, LRScheduler, torch.Generator], count: int) -> None:
        model, optimizer, scheduler, generator = parts
        for _ in range(count):
            optimizer.zero_grad()
            model(torch.randn(8, 3, generator=generator)).square().mean().backward()
            optimizer.step()
            scheduler.step()

    whole = run(0)
    steps(whole, 3)
    model, optimizer, scheduler, generator = whole
    save(tmp_path / "a.pt", model, optimizer, scheduler, generators={"data": generator})
    steps(whole, 4)

    resumed = run(1)
    model, optimizer, scheduler, generator = resumed
    load(tmp_path / "a.pt", model, optimizer, scheduler, generators={"data": generator})
    steps(resumed, 4)
    assert same(snapshot(*resumed[:2]), snapshot(*whole[:2]))
    assert resumed[2].state_dict() == whole[2].state_dict()


class Two(nn.Module):
    """Two layers, named by the caller, with a buffer."""

    def __init__(self, **layers: nn.Module) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(2))
        for name, layer in layers.items():
            self.add_module(name, layer)


def test_every_difference_of_the_weights_is_told_by_name_and_nothing_is_changed(tmp_path: Path) -> None:
    saved = Two(encoder=nn.Linear(3, 4), head=nn.Linear(4, 2, bias=False), old=nn.Linear(1, 1, bias=False))
    saved.scale = torch.ones(3)
    model = Two(encoder=nn.Linear(3, 4).double(), head=nn.Linear(4, 2))
    save(tmp_path / "a.pt", saved)
    before = snapshot(model)
    with pytest.raises(CheckpointError) as raised:
        load(tmp_path / "a.pt", model)
    assert raised.value.problems == (
        "scale is (3,) float32 in the file, (2,) float32 in the model",
        "encoder.weight is (4, 3) float32 in the file, (4, 3) float64 in the model",
        "encoder.bias is (4,) float32 in the file, (4,) float64 in the model",
        "head.bias is missing: (2,) float32",
        "old.weight is in the file alone: (1, 1) float32",
    )
    assert str(raised.value).startswith(f"{tmp_path / 'a.pt'} cannot be loaded, and nothing was changed:\n  scale is")
    assert same(snapshot(model), before)


def drop_scheduler(contents: dict[str, Any]) -> None:
    contents["scheduler"] = None


def another_scheduler(contents: dict[str, Any]) -> None:
    contents["scheduler"]["class"] = "CosineAnnealingLR"


def scheduler_without_last_epoch(contents: dict[str, Any]) -> None:
    del contents["scheduler"]["state"]["last_epoch"]


def scheduler_of_two_groups(contents: dict[str, Any]) -> None:
    contents["scheduler"]["state"]["base_lrs"] = [0.1, 0.1]


def scheduler_between_epochs(contents: dict[str, Any]) -> None:
    contents["scheduler"]["state"]["last_epoch"] = 1.5


def drop_optimizer(contents: dict[str, Any]) -> None:
    contents["optimizer"] = None


def nan_moment(contents: dict[str, Any]) -> None:
    contents["optimizer"]["state"]["state"][3]["exp_avg"].fill_(float("nan"))


def another_optimizer(contents: dict[str, Any]) -> None:
    # Whose settings and moments have the same names: torch would load them, and step Adam as AdamW.
    contents["optimizer"]["class"] = "AdamW"


def drop_generator(contents: dict[str, Any]) -> None:
    contents["generators"] = {}


def rename_generator(contents: dict[str, Any]) -> None:
    contents["generators"] = {"validation": contents["generators"]["data"]}


def short_generator(contents: dict[str, Any]) -> None:
    contents["generators"]["data"] = torch.zeros(3, dtype=torch.uint8)


def short_random_state(contents: dict[str, Any]) -> None:
    contents["random"]["torch"] = torch.zeros(3, dtype=torch.uint8)


SPOILED = {
    drop_scheduler: "scheduler: there is none in the file",
    another_scheduler: "scheduler: it is CosineAnnealingLR in the file, StepLR here",
    scheduler_without_last_epoch: "scheduler (StepLR): last_epoch is missing",
    scheduler_of_two_groups: "scheduler (StepLR): base_lrs has 2 entries in the file, 1 here",
    scheduler_between_epochs: "scheduler (StepLR): last_epoch is 1.5, which is no number of steps",
    drop_optimizer: "optimizer: there is none in the file",
    nan_moment: "optimizer (Adam): 1.bias: exp_avg has NaN",
    drop_generator: "the generator of data is missing",
    another_optimizer: "optimizer: it is AdamW in the file, Adam here",
    rename_generator: "the generator of validation is in the file alone",
    short_generator: "the state of the generator of data is refused",
    short_random_state: "the random state of torch is refused",
}


@pytest.mark.parametrize("spoil", SPOILED, ids=lambda spoil: spoil.__name__)
def test_one_part_that_does_not_fit_leaves_all_parts_unchanged(
    spoil: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    path = tmp_path / "a.pt"

    def run(seed: int) -> tuple[nn.Module, Optimizer, LRScheduler, torch.Generator]:
        model = small(seed)
        optimizer = Adam(model.parameters(), lr=0.1)
        scheduler = schedules.StepLR(optimizer, 1)
        trained(model, optimizer)
        scheduler.step()
        return model, optimizer, scheduler, torch.Generator().manual_seed(seed)

    model, optimizer, scheduler, generator = run(0)
    save(path, model, optimizer, scheduler, generators={"data": generator})
    contents = torch.load(path, weights_only=True)
    spoil(contents)
    torch.save(contents, path)

    model, optimizer, scheduler, generator = run(1)
    before = snapshot(model, optimizer), copy.deepcopy(scheduler.state_dict())
    states = torch.get_rng_state(), generator.get_state()
    with pytest.raises(CheckpointError) as raised:
        load(path, model, optimizer, scheduler, generators={"data": generator})
    assert any(problem.startswith(SPOILED[spoil]) for problem in raised.value.problems), raised.value
    assert same((snapshot(model, optimizer), scheduler.state_dict()), before)
    assert same((torch.get_rng_state(), generator.get_state()), states)


@pytest.mark.parametrize(
    "contents, problem",
    [
        (b"", "it is not a file that torch.save wrote, or not all of it"),
        (b"weights", "it is not a file that torch.save wrote, or not all of it"),
        (b"PK\x03\x04 and then nothing", "it is not a file that torch.save wrote, or not all of it"),
    ],
)
def test_a_file_that_is_no_checkpoint_is_refused(contents: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    path.write_bytes(contents)
    with pytest.raises(CheckpointError, match=problem):
        load(path, small())


def test_a_checkpoint_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    save(path, small())
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(CheckpointError, match="or not all of it"):
        load(path, small())


def test_a_checkpoint_with_one_wrong_bit_is_refused(tmp_path: Path) -> None:
    path, model = tmp_path / "a.pt", small()
    had_checksums = torch.serialization.get_crc32_options()
    torch.serialization.set_crc32_options(False)  # the checkpoint has its own all the same
    try:
        save(path, model)
        assert not torch.serialization.get_crc32_options()
    finally:
        torch.serialization.set_crc32_options(had_checksums)
    contents = bytearray(path.read_bytes())
    weight = next(model.parameters()).detach().numpy().tobytes()
    contents[contents.index(weight)] ^= 1
    path.write_bytes(contents)
    with pytest.raises(CheckpointError, match=r"it is damaged: the checksum of .* is wrong"):
        load(path, small(1))


def test_weights_alone_are_no_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    torch.save(small().state_dict(), path)
    with pytest.raises(CheckpointError, match=r"weights alone are loaded by shaped\.runtime\.weights\.load_weights"):
        load(path, small())


def test_a_checkpoint_without_one_of_its_parts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    save(path, small())
    contents = torch.load(path, weights_only=True)
    del contents["optimizer"], contents["extra"]
    torch.save(contents, path)
    with pytest.raises(CheckpointError) as raised:
        load(path, small())
    assert raised.value.problems == ("it has no optimizer, extra",)


class Intruder:
    """Code that a file would run when it is loaded the unsafe way."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.putenv, ("SHAPED_TEST_INTRUDER", "1")


def test_loading_runs_no_code_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    torch.save({"format": checkpoint.FORMAT, "model": Intruder()}, path)
    with pytest.raises(CheckpointError, match="which is loaded only by running its code"):
        load(path, small())


def test_a_missing_file_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "a.pt", small())


def test_a_checkpoint_whose_writing_fails_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.pt"
    model = small()
    save(path, model, extra=1)

    def half(contents: object, new: BinaryIO) -> None:
        new.write(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(OSError, match="no space left"):
        save(path, model, extra=2)
    assert load(path, model) == 1
    assert [one.name for one in tmp_path.iterdir()] == ["a.pt"]


@pytest.mark.parametrize(
    "extra, place",
    [
        ({"best": np.float64(0.5)}, r"checkpoint\['extra'\]\['best'\] is a numpy.float64"),
        ({range(2): 1}, r"the key range\(0, 2\) of checkpoint\['extra'\] is a builtins.range"),
        ([1, {2: object()}], r"checkpoint\['extra'\]\[1\]\[2\] is a builtins.object"),
    ],
)
def test_what_could_not_be_loaded_again_is_refused_before_anything_is_written(
    extra: object, place: str, tmp_path: Path
) -> None:
    with pytest.raises(TypeError, match=place):
        save(tmp_path / "a.pt", small(), extra=extra)
    assert not list(tmp_path.iterdir())


def test_tied_weights_that_differ_in_the_file_are_refused() -> None:
    model = nn.ModuleDict({"embedding": nn.Embedding(3, 2), "head": nn.Linear(2, 3, bias=False)})
    saved = copy.deepcopy(model.state_dict())
    assert isinstance(model["embedding"].weight, nn.Parameter)
    model["head"].weight = model["embedding"].weight
    assert model_problems(model, saved) == [
        "embedding.weight and head.weight are one parameter of the model, but differ in the file"
    ]
    nan = torch.full((3, 2), float("nan"))
    assert model_problems(model, {name: nan.clone() for name in saved}) == []


def test_a_lazy_layer_has_to_be_made_first() -> None:
    saved = nn.Linear(3, 2).state_dict()
    assert "not initialised (call the model once on a batch first)" in model_problems(nn.LazyLinear(2), saved)[0]


class Counting(nn.Linear):
    """With an extra state that is no tensor."""

    calls = 0

    def get_extra_state(self) -> int:
        return self.calls

    def set_extra_state(self, state: int) -> None:
        self.calls = state


def test_extra_states_of_modules_are_kept(tmp_path: Path) -> None:
    model = Counting(2, 2)
    model.calls = 5
    save(tmp_path / "a.pt", model)
    other = Counting(2, 2)
    load(tmp_path / "a.pt", other)
    assert other.calls == 5
    saved = model.state_dict()
    assert model_problems(model, {**saved, "_extra_state": None}) == []
    assert model_problems(model, {**saved, "_extra_state": torch.zeros(1)}) == [
        "_extra_state is (1,) float32 in the file, no tensor in the model"
    ]


EVERY_SCHEDULE: dict[str, Callable[[Optimizer], LRScheduler]] = {
    "StepLR": lambda o: schedules.StepLR(o, 2),
    "MultiStepLR": lambda o: schedules.MultiStepLR(o, [1, 1, 3]),
    "ConstantLR": lambda o: schedules.ConstantLR(o),
    "LinearLR": lambda o: schedules.LinearLR(o, 0.1, total_iters=4),
    "ExponentialLR": lambda o: schedules.ExponentialLR(o, 0.9),
    "PolynomialLR": lambda o: schedules.PolynomialLR(o, 6),
    "CosineAnnealingLR": lambda o: schedules.CosineAnnealingLR(o, 6),
    "CosineAnnealingWarmRestarts": lambda o: schedules.CosineAnnealingWarmRestarts(o, 3),
    "OneCycleLR": lambda o: schedules.OneCycleLR(o, 0.5, total_steps=8),
    "CyclicLR": lambda o: schedules.CyclicLR(o, 0.01, 0.1, step_size_up=2),
    "LambdaLR": lambda o: schedules.LambdaLR(o, lambda epoch: 0.5**epoch),
    "MultiplicativeLR": lambda o: schedules.MultiplicativeLR(o, lambda epoch: 0.5),
    "ReduceLROnPlateau": lambda o: schedules.ReduceLROnPlateau(o, patience=0),
    "SequentialLR": lambda o: schedules.SequentialLR(
        o, [schedules.ConstantLR(o, 0.1), schedules.ExponentialLR(o, 0.9)], milestones=[3]
    ),
    "ChainedScheduler": lambda o: schedules.ChainedScheduler(
        [schedules.ConstantLR(o, 0.1), schedules.ExponentialLR(o, 0.9)]
    ),
}


@pytest.mark.parametrize("name", EVERY_SCHEDULE)
def test_every_schedule_of_torch_goes_on_where_it_was(name: str, tmp_path: Path) -> None:
    def rates(optimizer: Optimizer, scheduler: LRScheduler, steps: int) -> list[float]:
        found = []
        for _ in range(steps):
            optimizer.step()
            if isinstance(scheduler, schedules.ReduceLROnPlateau):
                scheduler.step(1.0)
            else:
                scheduler.step()
            found.append(float(optimizer.param_groups[0]["lr"]))
        return found

    model = small()
    optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = EVERY_SCHEDULE[name](optimizer)
    rates(optimizer, scheduler, 2)
    save(tmp_path / "a.pt", model, optimizer, scheduler)
    expected = rates(optimizer, scheduler, 5)

    optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = EVERY_SCHEDULE[name](optimizer)
    load(tmp_path / "a.pt", model, optimizer, scheduler)
    assert rates(optimizer, scheduler, 5) == expected
