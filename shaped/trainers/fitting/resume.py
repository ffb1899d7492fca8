"""Where a run stands after an epoch, in a checkpoint and back."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from shaped.runtime import checkpoint, random_state
from shaped.runtime.distributed import is_spread, spread_model_state, spread_optimizer_state, whole
from shaped.trainers.fitting.batches import generators_of
from shaped.trainers.fitting.early_stop import Watch
from shaped.trainers.fitting.history import Epoch, History
from shaped.trainers.fitting.precision import Precision
from shaped.trainers.fitting.ranks import Ranks
from shaped.trainers.fitting.seeds import seed_all


@dataclass
class Run:
    """All that changes while a model is fitted.

    Args:
        model: what is trained, without a wrapper.
        optimizer: what trains it.
        scheduler: the schedule of the learning rate.
        watch: what was seen for an early stop.
        generators: the random generators of the data loaders' own.
        precision: which scales the loss, in float16.
        ranks: the processes that train it.
        history: the epochs that are done.
    """

    model: nn.Module
    optimizer: Optimizer
    scheduler: LRScheduler | None = None
    watch: Watch | None = None
    generators: Mapping[str, torch.Generator] = field(default_factory=dict)
    precision: Precision | None = None
    ranks: Ranks = field(default_factory=Ranks)
    history: History = field(default_factory=History)

    @property
    def step(self) -> int:
        """How many updates the finished epochs made."""
        return self.history[-1].step if self.history else 0

    @property
    def is_stopped(self) -> bool:
        """Whether an early stop ends the run here."""
        return self.watch is not None and self.watch.is_over

    @property
    def _is_spread(self) -> bool:
        """Whether each process has a part of the weights alone."""
        return any(is_spread(parameter) for parameter in self.model.parameters())

    def finish(self, epoch: Epoch) -> None:
        """An epoch is over."""
        if self.watch is not None:
            self.watch.look(epoch.number, epoch.values, self.model)
        self.history.append(epoch)

    def end(self) -> None:
        """The run is over: the model is given its best weights, if they are to be kept."""
        if self.watch is not None:
            self.watch.restore(self.model)
        self.history.stopped_early = self.is_stopped

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint of the run as it is after an epoch: all processes together, by the first one's hand."""
        extra = {
            "history": self.history.state(),
            "early stop": None if self.watch is None else self.watch.state(),
            "loss scale": None if self.precision is None else self.precision.state(),
            "other processes": self._random_of_others(),
        }
        contents = checkpoint.contents(
            self.model, self.optimizer, self.scheduler, generators=self.generators, extra={"fit": extra}
        )
        if self._is_spread:
            contents = whole(contents)
        if self.ranks.is_first:
            checkpoint.write(path, contents)

    def _random_of_others(self) -> list[dict[str, Any]]:
        """The states of the random generators of all processes but the first, whose own are in every checkpoint."""
        if self.ranks.size == 1:
            return []
        self.ranks.agree()
        own = {
            "random": random_state.capture(),
            "generators": {name: one.get_state() for name, one in self.generators.items()},
        }
        return self.ranks.gather(own)[1:]

    def resume(self, path: str | os.PathLike[str]) -> None:
        """Go on from a checkpoint; where it does not fit, nothing is changed.

        Raises:
            shaped.runtime.checkpoint.CheckpointError: with every difference.
        """
        found = checkpoint.read(path)
        extra = found.extra.get("fit") if isinstance(found.extra, dict) else None
        if not isinstance(extra, dict) or not {"history", "early stop"} <= set(extra):
            raise checkpoint.CheckpointError(path, ["it is a checkpoint, but not one that fit wrote"])
        problems = found.problems(self.model, self.optimizer, self.scheduler, generators=self.generators)
        if self.scheduler is None and found.contents["scheduler"] is not None:
            problems.append(f"scheduler: there is a {found.contents['scheduler']['class']} in the file, none here")
        if self.watch is not None and extra["early stop"] is not None:
            problems += self.watch.problems(extra["early stop"], self.model)
        try:
            history = History.from_state(extra["history"])
        except ValueError as error:
            problems.append(f"history: {error}")
        others = extra.get("other processes", [])
        own = others[self.ranks.rank - 1] if 1 <= self.ranks.rank <= len(others) else None
        if own is not None:
            problems += [f"process {self.ranks.rank}: {one}" for one in random_state.problems(own["random"])]
        if problems:
            raise checkpoint.CheckpointError(path, problems)
        self.ranks.agree()  # nothing is changed where another process cannot go on
        if changed := self._changed_settings(found.contents["optimizer"]["state"]["param_groups"]):
            warnings.warn(
                f"{os.fspath(path)} is gone on from with the optimizer's settings in it: {', '.join(changed)}; "
                "resume=False begins anew",
                stacklevel=3,
            )
        self._spread(found).restore(self.model, self.optimizer, self.scheduler, generators=self.generators)
        # An early stop that is new in this run begins to watch now; one that is gone is not asked any more.
        if self.watch is not None and extra["early stop"] is not None:
            best = spread_model_state(extra["early stop"]["best_weights"], self.model)
            self.watch.load({**extra["early stop"], "best_weights": best})
        if self.precision is not None:
            self.precision.load(extra.get("loss scale"))
        self._restore_random(found, own)
        self.history = history

    def _spread(self, found: checkpoint.Checkpoint) -> checkpoint.Checkpoint:
        """The checkpoint with its tensors spread over the processes as those of the model are."""
        if not self._is_spread:
            return found
        optimizer = found.contents["optimizer"]
        spread = {
            **found.contents,
            "model": spread_model_state(found.contents["model"], self.model),
            "optimizer": {**optimizer, "state": spread_optimizer_state(optimizer["state"], self.optimizer)},
        }
        return checkpoint.Checkpoint(found.path, spread)

    def _restore_random(self, found: checkpoint.Checkpoint, own: Mapping[str, Any] | None) -> None:
        """Put back this process's random generators, where it is not the first, whose are put back already."""
        if own is not None:
            random_state.restore(own["random"])
            for name, generator in self.generators.items():
                generator.set_state(own["generators"][name])
        elif self.ranks.rank > 0:
            # There were fewer processes: this one begins with numbers that no other has.
            generator = torch.Generator()
            generator.set_state(found.contents["random"]["torch"])
            seed_all(int(torch.randint(2**62, (), generator=generator)) + self.ranks.rank)

    def _changed_settings(self, saved: Iterable[Mapping[str, Any]]) -> list[str]:
        """The settings of the optimiser that a checkpoint will replace by others, as `lr=0.1, not 0.01`."""
        # A schedule changes these itself; what it began with is in `initial_lr`.
        skipped = {"params"} if self.scheduler is None else {"params", "lr", "momentum", "betas"}
        return [
            f"{name}={group[name]}, not {own[name]}"
            for own, group in zip(self.optimizer.param_groups, saved)
            for name in own
            if name not in skipped and name in group and own[name] != group[name]
        ]


def generators(train: Iterable[object], validation: Iterable[object] | None) -> dict[str, torch.Generator]:
    """The random generators of the loaders' own, by where they were found."""
    found = generators_of(train, "train")
    for name, generator in generators_of(validation, "validation").items():
        if not any(generator is one for one in found.values()):
            found[name] = generator
    return found
