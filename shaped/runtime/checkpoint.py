"""Checkpoints: all that a training run needs to go on as if it had never stopped, whole or not at all.

A file holds the weights and buffers, the states of the optimiser, the schedule and the random generators, and what the
caller adds. It is read with `weights_only=True`: loading runs no code of the file's.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from shaped.runtime import random_state
from shaped.runtime.model_state import load_model_state, model_problems
from shaped.runtime.optimizer_state import load_optimizer_state, optimizer_state_problems
from shaped.runtime.plain_data import require_plain
from shaped.runtime.torch_file import LoadError, read_plain, write_plain

FORMAT = "shaped checkpoint 1"
_PARTS = ("model", "optimizer", "scheduler", "generators", "random", "extra")


class CheckpointError(LoadError):
    """A file that is no checkpoint, or a checkpoint of something else: `path`, and `problems`, every difference."""


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
    write(path, contents(model, optimizer, scheduler, generators=generators, extra=extra))


def contents(
    model: nn.Module,
    optimizer: Optimizer | None = None,
    scheduler: LRScheduler | None = None,
    *,
    generators: Mapping[str, torch.Generator] | None = None,
    extra: object = None,
) -> dict[str, object]:
    """What `save` writes; for whoever writes it elsewhere, or has to gather its parts from several processes first."""
    return {
        "format": FORMAT,
        "model": model.state_dict(),
        "optimizer": _state_with_class(optimizer),
        "scheduler": _state_with_class(scheduler),
        "generators": {name: generator.get_state() for name, generator in (generators or {}).items()},
        "random": random_state.capture(),
        "extra": extra,
    }


def write(path: str | os.PathLike[str], contents: Mapping[str, object]) -> None:
    """Write what `contents` gave.

    Raises:
        TypeError: something is no plain data.
    """
    require_plain(contents, "checkpoint")
    write_plain(path, contents)


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
    contents = read_plain(path, CheckpointError)
    if not isinstance(contents, dict) or contents.get("format") != FORMAT:
        hint = (
            " (weights alone are loaded by shaped.runtime.weights.load_weights)" if isinstance(contents, dict) else ""
        )
        raise CheckpointError(path, [f"it does not say that it is a {FORMAT!r}{hint}"])
    if missing := [part for part in _PARTS if part not in contents]:
        raise CheckpointError(path, [f"it has no {', '.join(missing)}"])
    return Checkpoint(Path(path), contents)


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
        load_model_state(model, self.contents["model"])
        if optimizer is not None:
            load_optimizer_state(optimizer, self.contents["optimizer"]["state"], _names_of_parameters(model))
        if scheduler is not None:
            scheduler.load_state_dict(copy.deepcopy(self.contents["scheduler"]["state"]))
        for name, generator in (generators or {}).items():
            generator.set_state(self.contents["generators"][name])
        if random:
            random_state.restore(self.contents["random"])


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
