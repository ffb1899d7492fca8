"""One pass over batches: to train on them, or to measure them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from shaped.trainers.fitting.batches import batch_size, to_device
from shaped.trainers.fitting.objective import Mean, Measured, scalar_of
from shaped.trainers.fitting.progress import Progress
from shaped.trainers.fitting.updates import Schedule, warn_of_unreached
from shaped.trainers.ignored_targets import why_not_finite

NotFinite: TypeAlias = Literal["stop", "skip"]
Loss: TypeAlias = Callable[[Any, Any], Measured]


class NotFiniteError(ArithmeticError):
    """A loss, or the norm of its gradients, that is NaN or infinite: in which epoch and batch, after which update."""


@dataclass(frozen=True)
class Trained:
    """What training on the batches of an epoch came to."""

    means: dict[str, float]
    step: int
    learning_rate: float
    skipped: int


@dataclass
class Trainer:
    """Trains a model on batches, one update for each.

    Args:
        device: where the batches go; None leaves them where they are.
        clip_norm: the largest norm of all gradients together.
        not_finite: what to do with a batch whose loss or gradients are not finite.
    """

    model: nn.Module
    loss: Loss
    optimizer: Optimizer
    schedule: Schedule
    device: torch.device | None
    clip_norm: float | None
    not_finite: NotFinite
    # The parameters that no gradient has reached yet, by name; looked at in the first epoch alone.
    _unreached: dict[str, Tensor] | None = field(default=None, init=False)

    def run(self, batches: Iterable[object], epoch: int, step: int, progress: Progress) -> Trained:
        """Train on each batch once.

        Args:
            epoch: the number of the epoch, for messages.
            step: how many updates there were before.

        Raises:
            ValueError: there is no batch.
            NotFiniteError: see `not_finite`; also where no batch is left.
        """
        is_first = self._unreached is None
        if is_first:
            optimised = {id(parameter) for parameter in self._parameters()}
            named = self.model.named_parameters()
            self._unreached = {name: one for name, one in named if id(one) in optimised and one.requires_grad}
        mean, skipped, number = Mean(), 0, 0
        learning_rate = _learning_rate(self.optimizer)
        # Whatever the caller computes without gradients, training needs them.
        with torch.inference_mode(False), torch.enable_grad():
            for number, batch in enumerate(batches, start=1):
                place = f"epoch {epoch}, batch {number}"
                values, size = self._update(batch, place, step)
                learning_rate = _learning_rate(self.optimizer)
                self.schedule.after_batch()
                if values is None:
                    skipped += 1
                    continue
                step += 1
                mean.add(values, size)
                progress.batch(mean["loss"])
        if number == 0:
            raise ValueError(f"epoch {epoch}: train gave no batch; an iterator is empty after it was gone through once")
        if skipped == number:
            raise NotFiniteError(f"epoch {epoch}: no batch has a finite loss and finite gradients")
        if is_first and self._unreached:
            warn_of_unreached(list(self._unreached))
        self._unreached = {}
        return Trained(mean.values(), step, learning_rate, skipped)

    def _update(self, batch: object, place: str, step: int) -> tuple[dict[str, float] | None, int]:
        """One update; gives the loss before it, the metrics and the number of examples, or None for a skipped batch."""
        if self.device is not None:
            batch = to_device(batch, self.device)
        self.optimizer.zero_grad()
        loss, metrics = scalar_of(self.loss(self.model, batch), place)
        value = float(loss.detach())
        if not math.isfinite(value):
            self._stop(f"{place}: the loss is {value}{why_not_finite(self.loss, batch)}", step)
            return None, 0
        if not loss.requires_grad:
            raise ValueError(
                f"{place}: the loss depends on no parameter: it was computed without gradients (no_grad, detach, item, "
                "argmax), or not by the model"
            )
        loss.backward()  # type: ignore[no-untyped-call]  # torch's own
        if self._unreached:
            self._unreached = {name: one for name, one in self._unreached.items() if one.grad is None}
        if self.clip_norm is not None:
            norm = float(torch.nn.utils.clip_grad_norm_(self._parameters(), self.clip_norm))
            if not math.isfinite(norm):
                self._stop(f"{place}: the loss is {value}, but the norm of its gradients is {norm}", step)
                return None, 0
        self.optimizer.step()
        return {"loss": value, **_numbers(metrics)}, batch_size(batch)

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


def measure(
    model: nn.Module, loss: Loss, batches: Iterable[object], device: torch.device | None, epoch: int
) -> dict[str, float]:
    """The means of the loss and the metrics over batches, without gradients. The modes are the caller's.

    Raises:
        ValueError: there is no batch.
    """
    mean, number = Mean(), 0
    with torch.inference_mode():
        for number, batch in enumerate(batches, start=1):
            if device is not None:
                batch = to_device(batch, device)
            value, metrics = scalar_of(loss(model, batch), f"epoch {epoch}, validation batch {number}")
            mean.add({"loss": float(value), **_numbers(metrics)}, batch_size(batch))
    if number == 0:
        raise ValueError(
            f"epoch {epoch}: validation gave no batch; an iterator is empty after it was gone through once"
        )
    return mean.values()


def _numbers(metrics: Mapping[str, Tensor | float]) -> dict[str, float]:
    """Metrics as numbers."""
    return {name: float(one.detach() if isinstance(one, Tensor) else one) for name, one in metrics.items()}


def _learning_rate(optimizer: Optimizer) -> float:
    """That of the first group."""
    return float(optimizer.param_groups[0]["lr"])
