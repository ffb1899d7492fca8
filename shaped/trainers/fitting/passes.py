"""One pass over batches: to train on them, or to measure them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, TypeAlias, TypeVar

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from shaped.trainers.clipping import clip_grad_norm
from shaped.trainers.fitting.batches import batch_size, to_device
from shaped.trainers.fitting.objective import Mean, Measured, scalar_of
from shaped.trainers.fitting.parallel import Parallel
from shaped.trainers.fitting.precision import Precision
from shaped.trainers.fitting.progress import Progress
from shaped.trainers.fitting.ranks import Ranks
from shaped.trainers.fitting.updates import Schedule, warn_of_unreached
from shaped.trainers.ignored_targets import why_not_finite
from shaped.trainers.not_finite import NotFiniteError

NotFinite: TypeAlias = Literal["stop", "skip"]
Loss: TypeAlias = Callable[[Any, Any], Measured]
Item = TypeVar("Item")


@dataclass(frozen=True)
class Trained:
    """What training on the batches of an epoch came to."""

    means: dict[str, float]
    step: int
    learning_rate: float
    skipped: int


@dataclass
class Gathered:
    """The batches whose gradients are there, before the update that they make together.

    Args:
        first: the examples of the first one, over all processes.
        examples: those of all of them.
        values: the loss and the metrics of this process's part of each, with its examples.
        last: the last of them, as it was given.
    """

    first: int = 0
    examples: int = 0
    values: list[tuple[dict[str, float], int]] = field(default_factory=list)
    last: object = None


@dataclass
class Trainer:
    """Trains a model on batches.

    Args:
        parallel: the model, and the processes that train it.
        device: where the batches go; None leaves them where they are.
        precision: the dtype in which the loss is computed.
        accumulate: how many batches make an update.
        clip_norm: the largest norm of all gradients together.
        not_finite: what to do with a batch whose loss or gradients are not finite.
    """

    parallel: Parallel
    loss: Loss
    optimizer: Optimizer
    schedule: Schedule
    device: torch.device | None
    precision: Precision
    accumulate: int
    clip_norm: float | None
    not_finite: NotFinite
    # The parameters that no gradient has reached yet, by name; looked at in the first epoch alone.
    _unreached: dict[str, Tensor] | None = field(default=None, init=False)

    def run(self, batches: Iterable[tuple[object, bool]], epoch: int, step: int, progress: Progress) -> Trained:
        """Train on each batch once.

        Args:
            batches: each with whether it counts (see `Feed`).
            epoch: the number of the epoch, for messages.
            step: how many updates there were before.

        Raises:
            ValueError: there is no batch.
            NotFiniteError: see `not_finite`; also where no batch is left.
        """
        is_first = self._unreached is None
        if is_first:
            optimised = {id(parameter) for parameter in self._parameters()}
            named = self.parallel.inner.named_parameters()
            self._unreached = {name: one for name, one in named if id(one) in optimised and one.requires_grad}
        mean, lost, left_out, number = Mean(), 0, 0, 0
        learning_rate = _learning_rate(self.optimizer)
        gathered = Gathered()
        # Whatever the caller computes without gradients, training needs them.
        with torch.inference_mode(False), torch.enable_grad():
            for number, ((batch, is_counted), ends_update) in enumerate(grouped(batches, self.accumulate), start=1):
                place = f"epoch {epoch}, batch {number}"
                if not gathered.values:
                    self.optimizer.zero_grad()
                if not self._add(batch, is_counted, ends_update, gathered, place, step):
                    lost += 1
                if not ends_update:
                    continue
                if gathered.values:
                    if (is_done := self._update(gathered, place, step)) is None:
                        lost += len(gathered.values)
                    else:
                        for values, size in gathered.values:
                            mean.add(values, size)
                        step += is_done
                        left_out += 0 if is_done else len(gathered.values)
                        progress.batch(mean["loss"])
                    gathered = Gathered()
                learning_rate = _learning_rate(self.optimizer)
                self.schedule.after_update()
        if number == 0:
            raise ValueError(f"epoch {epoch}: train gave no batch; an iterator is empty after it was gone through once")
        if lost == number:
            raise NotFiniteError(f"epoch {epoch}: no batch has a finite loss and finite gradients")
        if is_first and self._unreached:
            warn_of_unreached(list(self._unreached))
        self._unreached = {}
        return Trained(mean.over(self.parallel.ranks).values(), step, learning_rate, lost + left_out)

    def _add(
        self, batch: object, is_counted: bool, ends_update: bool, gathered: Gathered, place: str, step: int
    ) -> bool:
        """Add the gradients of a batch to those gathered; whether its loss is finite, and that was done."""
        if self.device is not None:
            batch = to_device(batch, self.device)
        with nullcontext() if ends_update else self.parallel.gradients_kept():
            with self.precision.computing():
                measured, metrics = scalar_of(self.loss(self.parallel.model, batch), place)
            loss = self.precision.whole_loss(measured)
            value = float(loss.detach())
            size = batch_size(batch) if is_counted else 0
            by_rank = self.parallel.ranks.agree(size, value)
            bad = next((rank for rank, (_, other) in enumerate(by_rank) if not math.isfinite(other)), None)
            if bad is None:
                if not loss.requires_grad:
                    raise ValueError(
                        f"{place}: the loss depends on no parameter: it was computed without gradients (no_grad, "
                        "detach, item, argmax), or not by the model"
                    )
                examples = int(sum(other for other, _ in by_rank))
                gathered.first = gathered.first or examples
                # The wrapper takes the mean over the processes: right where all have as many examples. With this weight
                # it is the mean over the examples, times those of this batch by those of the update's first one.
                weight = size * len(by_rank) / gathered.first if gathered.first else 1.0
                self.precision.backward(loss if weight == 1 else loss * weight)
                gathered.examples += examples
                gathered.values.append(({"loss": value, **_numbers(metrics)}, size))
                gathered.last = batch
                return True
        where = "" if len(by_rank) == 1 else f" on rank {bad}"
        why = "" if math.isfinite(value) else why_not_finite(self.loss, batch)
        self._stop(f"{place}: the loss{where} is {by_rank[bad][1]}{why}", step)
        if ends_update and gathered.values and self.parallel.kind != "alone":
            # What the processes have gathered on their own goes to the others with the update's last backward pass,
            # and this batch has none: a batch that had one adds nothing to it.
            with self.precision.computing():
                again, _ = scalar_of(self.loss(self.parallel.model, gathered.last), place)
            self.precision.backward(self.precision.whole_loss(again) * 0)
        return False

    def _update(self, gathered: Gathered, place: str, step: int) -> bool | None:
        """Update the weights by the gradients gathered; whether that was done. None: their norm is not finite."""
        if self._unreached:
            self._unreached = {name: one for name, one in self._unreached.items() if one.grad is None}
        self.precision.unscale(self.optimizer)
        if gathered.examples != gathered.first:
            for parameter in self._parameters():
                if parameter.grad is not None:
                    parameter.grad.mul_(gathered.first / gathered.examples)
        reached = [] if self.clip_norm is None else [one for one in self._parameters() if one.grad is not None]
        if self.clip_norm is not None and reached:
            norm = float(clip_grad_norm(reached, self.clip_norm, error_if_nonfinite=False))
            if not math.isfinite(norm) and not self.precision.expects_overflow:
                value = gathered.values[-1][0]["loss"]
                self._stop(f"{place}: the loss is {value}, but the norm of its gradients is {norm}", step)
                return None
        return self.precision.step(self.optimizer)

    def _stop(self, what: str, step: int) -> None:
        """Raise the error, if such a batch is not to be skipped."""
        if self.not_finite == "stop":
            raise NotFiniteError(
                f"{what}, after {step} updates. A lower learning rate, clip_norm, or not_finite='skip'? "
                "torch.autograd.set_detect_anomaly(True) tells which operation gives a NaN gradient"
            )

    def _parameters(self) -> list[Tensor]:
        """What is optimised, each once."""
        return list(dict.fromkeys(one for group in self.optimizer.param_groups for one in group["params"]))


def grouped(items: Iterable[Item], size: int) -> Iterator[tuple[Item, bool]]:
    """Each item with whether it is the last of a group of `size`; the last group may have fewer.

    >>> [ends for _, ends in grouped("abcde", 2)]
    [False, True, False, True, True]
    """
    if size == 1:
        # The next one is not asked for before this one is used: it may draw from the same random generator.
        for item in items:
            yield item, True
        return
    ahead = iter(items)
    for first in ahead:
        previous = first
        for item in islice(ahead, size - 1):
            yield previous, False
            previous = item
        yield previous, True


def measure(
    model: nn.Module,
    loss: Loss,
    batches: Iterable[tuple[object, bool]],
    device: torch.device | None,
    precision: Precision,
    epoch: int,
    ranks: Ranks,
) -> dict[str, float]:
    """The means of the loss and the metrics over batches, without gradients. The modes are the caller's.

    Raises:
        ValueError: there is no batch.
    """
    mean, number = Mean(), 0
    with torch.inference_mode():
        for number, (batch, is_counted) in enumerate(batches, start=1):
            if device is not None:
                batch = to_device(batch, device)
            with precision.computing():
                value, metrics = scalar_of(loss(model, batch), f"epoch {epoch}, validation batch {number}")
            if is_counted:
                mean.add({"loss": float(value), **_numbers(metrics)}, batch_size(batch))
    if number == 0:
        raise ValueError(
            f"epoch {epoch}: validation gave no batch; an iterator is empty after it was gone through once"
        )
    return mean.over(ranks).values()


def _numbers(metrics: Mapping[str, Tensor | float]) -> dict[str, float]:
    """Metrics as numbers."""
    return {name: float(one.detach() if isinstance(one, Tensor) else one) for name, one in metrics.items()}


def _learning_rate(optimizer: Optimizer) -> float:
    """That of the first group."""
    return float(optimizer.param_groups[0]["lr"])
