"""The optimiser and the schedule of a run: that they belong to the model, and when they step."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

from torch import nn
from torch.optim import LBFGS, Optimizer
from torch.optim.lr_scheduler import LRScheduler, OneCycleLR, ReduceLROnPlateau

from shaped.runtime.optimized import require_optimized

OptimizerLike: TypeAlias = Optimizer | Callable[[Iterable[nn.Parameter]], Optimizer]
SchedulerLike: TypeAlias = LRScheduler | Callable[[Any], LRScheduler]
Every: TypeAlias = Literal["epoch", "batch"]


def optimizer_of(given: OptimizerLike, model: nn.Module) -> Optimizer:
    """The optimiser, made over the model's trainable parameters if a factory is given, and checked against them.

    Raises:
        TypeError: it is neither an optimiser nor makes one.
        ValueError: it optimises what is no parameter of the model.
    """
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not trainable:
        raise ValueError(
            f"{type(model).__name__} has no parameter to train (requires_grad is False for all, or it has none)"
        )
    made = _made(given, Optimizer, trainable)
    if not isinstance(made, Optimizer):
        raise TypeError(
            f"optimizer is or made a {type(made).__name__}: give an optimizer, or a function from parameters to one, "
            "such as lambda parameters: torch.optim.Adam(parameters, lr=1e-3)"
        )
    if isinstance(made, LBFGS):
        raise TypeError("optimizer is LBFGS, which evaluates the loss many times in a step: fit evaluates it once")
    _require_own(made, model)
    return made


def _made(given: object, kind: type, argument: object) -> object:
    """What is given, if it is of a kind, else what it makes of an argument."""
    return given(argument) if callable(given) and not isinstance(given, kind) else given


def _require_own(optimizer: Optimizer, model: nn.Module) -> None:
    """Refuse an optimiser of other parameters; warn of parameters that nobody optimises."""
    require_optimized(optimizer, model)
    optimised = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
    left_out = [name for name, one in model.named_parameters() if one.requires_grad and id(one) not in optimised]
    if left_out:
        warnings.warn(
            f"the optimizer leaves out {_listed(left_out)}: set requires_grad to False there if that is meant",
            stacklevel=4,
        )


def warn_of_unreached(names: Sequence[str]) -> None:
    """Say that the loss depends on no element of these parameters."""
    warnings.warn(
        f"the loss never reached {_listed(names)} in this epoch: they get no gradient and stay as they are",
        stacklevel=4,
    )


def _listed(names: Sequence[str], most: int = 10) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


class Schedule:
    """The learning rate's schedule: steps after each epoch or each update; one that watches a value is given it.

    Args:
        given: a scheduler, or a function that makes one for the optimiser.
        every: when it steps.
        epochs: how many epochs the run has.
        updates: how many updates an epoch has; None where it is not known.

    Raises:
        TypeError: it is neither a scheduler nor makes one.
        ValueError: it schedules another optimiser, or cannot step when it should.
    """

    def __init__(
        self, given: SchedulerLike | None, optimizer: Optimizer, every: Every, epochs: int, updates: int | None
    ) -> None:
        if every not in ("epoch", "batch"):
            raise ValueError(f"scheduler_every is {every!r}, not 'epoch' or 'batch'")
        made = None if given is None else _made(given, LRScheduler, optimizer)
        if made is not None and not isinstance(made, LRScheduler):
            raise TypeError(
                f"scheduler is or made a {type(made).__name__}: give a scheduler, or a function that makes one"
            )
        if made is not None and getattr(made, "optimizer", optimizer) is not optimizer:
            raise ValueError(
                "the scheduler is that of another optimizer: give a function from the optimizer to the scheduler, "
                "such as lambda optimizer: StepLR(optimizer, 10)"
            )
        if isinstance(made, ReduceLROnPlateau) and every == "batch":
            raise ValueError("ReduceLROnPlateau watches a value of each epoch: it cannot step after each batch")
        if isinstance(made, OneCycleLR) and every == "epoch" and made.total_steps > epochs:
            warnings.warn(
                f"OneCycleLR goes through its cycle in {made.total_steps} steps, and takes {epochs}, one an epoch: "
                "is scheduler_every='batch' meant?",
                stacklevel=3,
            )
        steps = epochs if every == "epoch" else None if updates is None else epochs * updates
        if isinstance(made, OneCycleLR) and steps is not None and steps > made.total_steps:
            raise ValueError(
                f"OneCycleLR has total_steps={made.total_steps}, but {epochs} epochs are {steps} steps: it refuses to "
                "step past its cycle"
            )
        self.scheduler: LRScheduler | None = made
        self._every = every

    def after_update(self) -> None:
        """A batch, or as many as make an update, is done."""
        if self.scheduler is not None and self._every == "batch":
            self.scheduler.step()

    def after_epoch(self, watched: float) -> None:
        """An epoch is done; `watched` is the loss that a plateau is looked for in."""
        if isinstance(self.scheduler, ReduceLROnPlateau):
            self.scheduler.step(watched)
        elif self.scheduler is not None and self._every == "epoch":
            self.scheduler.step()
