"""Checkpoints: all that a training run needs to go on as if it had never stopped, whole or not at all.

A file holds the weights and buffers, the states of the optimiser, the schedule and the random generators, and what the
caller adds. It is read with `weights_only=True`: loading runs no code of the file's.
"""

from __future__ import annotations

import copy
import os
import pickle
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from shaped.runtime import random_state
from shaped.runtime.atomic import replacing
from shaped.runtime.optimizer_state import load_optimizer_state, optimizer_state_problems
from shaped.runtime.plain_data import require_plain
from shaped.runtime.tensor_types import dtype_name

FORMAT = "shaped checkpoint 1"
_PARTS = ("model", "optimizer", "scheduler", "generators", "random", "extra")


class CheckpointError(ValueError):
    """A file that is no checkpoint, or a checkpoint of something else.

    Args:
        path: the file.
        problems: every difference between the file and what it is loaded into.
    """

    def __init__(self, path: str | os.PathLike[str], problems: Sequence[str]) -> None:
        self.path = Path(path)
        self.problems = tuple(problems)
        lines = "".join(f"\n  {problem}" for problem in problems)
        super().__init__(f"{os.fspath(path)} cannot be loaded, and nothing was changed:{lines}")


def save(
    path: str | os.PathLike[str],
    model: nn.Module,
    optimizer: Optimizer | None = None,
    scheduler: LRScheduler | None = None,
    *,
    generators: Mapping[str, torch.Generator] | None = None,
    extra: object = None,
) -> None:
    """Write a checkpoint. Whoever reads the file finds the one before or this one, whole.

    Args:
        generators: the generators of the run beside the global ones, such as a data loader's, by name.
        extra: anything else, of plain data: tensors, numbers, texts, None, and lists, tuples and dicts of them.

    Raises:
        TypeError: something is no plain data, and could not be loaded again; its place is named.
    """
    contents = {
        "format": FORMAT,
        "model": model.state_dict(),
        "optimizer": _state_with_class(optimizer),
        "scheduler": _state_with_class(scheduler),
        "generators": {name: generator.get_state() for name, generator in (generators or {}).items()},
        "random": random_state.capture(),
        "extra": extra,
    }
    require_plain(contents, "checkpoint")
    had_checksums = torch.serialization.get_crc32_options()
    torch.serialization.set_crc32_options(True)  # `read` looks at them
    try:
        with replacing(path) as new:
            torch.save(contents, new)
    finally:
        torch.serialization.set_crc32_options(had_checksums)


def _state_with_class(part: Optimizer | LRScheduler | None) -> dict[str, object] | None:
    return None if part is None else {"class": type(part).__name__, "state": part.state_dict()}


def load(
    path: str | os.PathLike[str],
    model: nn.Module,
    optimizer: Optimizer | None = None,
    scheduler: LRScheduler | None = None,
    *,
    generators: Mapping[str, torch.Generator] | None = None,
    random: bool = True,
) -> object:
    """Load a checkpoint into a model and what trains it; gives what was saved as `extra`.

    Everything is compared first: names, shapes and dtypes of parameters and buffers, the optimiser's settings and
    moments, the schedule, the generators. Where anything differs nothing is changed.

    Args:
        random: whether to put back the global random generators as well.

    Raises:
        CheckpointError: with every difference, by name.
        FileNotFoundError: there is no such file.
    """
    checkpoint = read(path)
    checkpoint.restore(model, optimizer, scheduler, generators=generators, random=random)
    return checkpoint.extra


def read(path: str | os.PathLike[str]) -> Checkpoint:
    """Read a checkpoint into memory.

    Raises:
        CheckpointError: the file is no checkpoint.
        FileNotFoundError: there is no such file.
    """
    with Path(path).open("rb") as file:  # whose own errors (no such file, no permission) say enough
        if problem := _damage(file):
            raise CheckpointError(path, [problem])
        file.seek(0)
        try:
            contents = torch.load(file, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:
            problem = "it holds more than plain data (a whole model?), which is loaded only by running its code"
            raise CheckpointError(path, [problem]) from error
        except (RuntimeError, OSError, EOFError, LookupError, ValueError, AttributeError) as error:
            problem = f"it is not a file that torch.save wrote: {str(error) or type(error).__name__}"
            raise CheckpointError(path, [problem]) from error
    if not isinstance(contents, dict) or contents.get("format") != FORMAT:
        hint = " (weights alone are loaded by model.load_state_dict)" if isinstance(contents, dict) else ""
        raise CheckpointError(path, [f"it does not say that it is a {FORMAT!r}{hint}"])
    if missing := [part for part in _PARTS if part not in contents]:
        raise CheckpointError(path, [f"it has no {', '.join(missing)}"])
    return Checkpoint(Path(path), contents)


def _damage(file: BinaryIO) -> str:
    """What is wrong with a file as torch.save writes it, a zip archive. torch itself takes wrong bits for numbers."""
    try:
        with zipfile.ZipFile(file) as archive:
            damaged = archive.testzip()
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return "it is not a file that torch.save wrote, or not all of it"
    return f"it is damaged: the checksum of {damaged} is wrong" if damaged else ""


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read, and is not loaded into anything yet."""

    path: Path
    contents: Mapping[str, Any]

    @property
    def extra(self) -> Any:
        """What the caller of `save` added."""
        return self.contents["extra"]

    def problems(
        self,
        model: nn.Module,
        optimizer: Optimizer | None = None,
        scheduler: LRScheduler | None = None,
        *,
        generators: Mapping[str, torch.Generator] | None = None,
        random: bool = True,
    ) -> list[str]:
        """Every difference between the checkpoint and what it would be loaded into."""
        found = model_problems(model, self.contents["model"])
        if optimizer is not None:
            found += _optimizer_problems(optimizer, self.contents["optimizer"], model)
        if scheduler is not None:
            found += _scheduler_problems(scheduler, self.contents["scheduler"])
        if generators is not None:
            found += _generator_problems(generators, self.contents["generators"])
        if random:
            found += random_state.problems(self.contents["random"])
        return found

    def restore(
        self,
        model: nn.Module,
        optimizer: Optimizer | None = None,
        scheduler: LRScheduler | None = None,
        *,
        generators: Mapping[str, torch.Generator] | None = None,
        random: bool = True,
    ) -> None:
        """Load it, all or nothing: see `load`."""
        if found := self.problems(model, optimizer, scheduler, generators=generators, random=random):
            raise CheckpointError(self.path, found)
        model.load_state_dict(self.contents["model"])
        if optimizer is not None:
            load_optimizer_state(optimizer, self.contents["optimizer"]["state"], _names_of_parameters(model))
        if scheduler is not None:
            scheduler.load_state_dict(copy.deepcopy(self.contents["scheduler"]["state"]))
        for name, generator in (generators or {}).items():
            generator.set_state(self.contents["generators"][name])
        if random:
            random_state.restore(self.contents["random"])


def model_problems(model: nn.Module, saved: object) -> list[str]:
    """Every difference between a model and saved weights and buffers: names, shapes, dtypes.

    >>> model_problems(nn.Linear(2, 3), nn.Linear(2, 4, bias=False).state_dict())
    ['weight is (4, 2) float32 in the file, (3, 2) float32 in the model', 'bias is missing: (3,) float32']
    """
    if not isinstance(saved, Mapping):
        return [f"the weights are a {type(saved).__name__}, not a dict"]
    own = model.state_dict(keep_vars=True)
    found = []
    for name, value in own.items():
        if name not in saved:
            found.append(f"{name} is missing: {_kind(value)}")
        elif _kind(saved[name]) != _kind(value):
            found.append(f"{name} is {_kind(saved[name])} in the file, {_kind(value)} in the model")
    found += [f"{name} is in the file alone: {_kind(saved[name])}" for name in saved if name not in own]
    return found or _tied_problems(own, saved)


def _tied_problems(own: Mapping[str, object], saved: Mapping[str, Any]) -> list[str]:
    """Names of one parameter whose saved values differ: one of them would be lost without a word."""
    first: dict[int, str] = {}
    found = []
    for name, value in own.items():
        if not isinstance(value, Tensor):
            continue
        other = first.setdefault(id(value), name)
        if other != name and not _same_bits(saved[name], saved[other]):
            found.append(f"{other} and {name} are one parameter of the model, but differ in the file")
    return found


def _same_bits(one: Tensor, other: Tensor) -> bool:
    """Whether tensors are equal, NaN being equal to itself."""
    return bool(((one == other) | ((one != one) & (other != other))).all())


def _kind(value: object) -> str:
    """The shape and dtype of a tensor. The extra state of a module may be anything else."""
    if isinstance(value, Tensor) and is_lazy(value):
        return "not initialised (call the model once on a batch first)"
    if isinstance(value, Tensor):
        return f"{tuple(value.shape)} {dtype_name(value.dtype)}"
    return "no tensor"


def _class_problems(name: str, own: object, saved: object) -> list[str]:
    """Whether an optimiser or a scheduler is of the class that was saved, and has a state."""
    if saved is None:
        return [f"{name}: there is none in the file"]
    if (
        not isinstance(saved, Mapping)
        or not {"class", "state"} <= set(saved)
        or not isinstance(saved["state"], Mapping)
    ):
        return [f"{name}: its state is no dict"]
    if saved["class"] != type(own).__name__:
        return [f"{name}: it is {saved['class']} in the file, {type(own).__name__} here"]
    return []


def _names_of_parameters(model: nn.Module) -> dict[Tensor, str]:
    return {parameter: name for name, parameter in model.named_parameters()}


def _optimizer_problems(optimizer: Optimizer, saved: Any, model: nn.Module) -> list[str]:
    """Whether an optimiser is the one that was saved: its class, its settings, its moments."""
    if found := _class_problems("optimizer", optimizer, saved):
        return found
    problems = optimizer_state_problems(optimizer, saved["state"], _names_of_parameters(model))
    return [f"optimizer ({type(optimizer).__name__}): {problem}" for problem in problems]


def _scheduler_problems(scheduler: LRScheduler, saved: Any) -> list[str]:
    """Whether a schedule is the one that was saved: its class, its settings, the number of groups."""
    if found := _class_problems("scheduler", scheduler, saved):
        return found
    own_class, own, state = type(scheduler).__name__, scheduler.state_dict(), saved["state"]
    found = [f"scheduler ({own_class}): {name} is missing" for name in own if name not in state]
    found += [f"scheduler ({own_class}): {name} is in the file alone" for name in state if name not in own]
    for name in ("base_lrs", "_last_lr", "_schedulers"):
        value, now = state.get(name), own.get(name)
        if isinstance(now, Sequence) and not (isinstance(value, Sequence) and len(value) == len(now)):
            count = len(value) if isinstance(value, Sequence) else "no"
            found.append(f"scheduler ({own_class}): {name} has {count} entries in the file, {len(now)} here")
    epoch = state.get("last_epoch", 0)
    if isinstance(epoch, bool) or not isinstance(epoch, int) or epoch < -1:
        found.append(f"scheduler ({own_class}): last_epoch is {epoch!r}, which is no number of steps")
    return found


def _generator_problems(generators: Mapping[str, torch.Generator], saved: object) -> list[str]:
    """Whether the generators of the run are those that were saved."""
    if not isinstance(saved, Mapping):
        return ["the generators are no dict"]
    found = []
    for name, also in zip_longest([*generators], [one for one in saved if one not in generators]):
        if name is not None and name not in saved:
            found.append(f"the generator of {name} is missing")
        elif name is not None:
            try:
                torch.Generator(generators[name].device).set_state(saved[name])
            except Exception as error:  # whatever the generator says
                found.append(f"the state of the generator of {name} is refused: {error}")
        if also is not None:
            found.append(f"the generator of {also} is in the file alone")
    return found
