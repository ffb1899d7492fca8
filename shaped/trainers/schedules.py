"""Schedules of the learning rate, each a closed form of the number of steps: a resumed run has the rates to the bit.

They are schedulers of torch's, for each of an optimiser's groups by itself, and go where `torch.optim.lr_scheduler`'s
own go, into `fit(scheduler=...)` too. Their state is plain data.
"""

from __future__ import annotations

import math
import operator
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterable
from typing import SupportsFloat

from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler


class ClosedForm(LRScheduler):
    """A schedule that says the rate at step `t`, counted from 0, without those before it."""

    @abstractmethod
    def rate(self, base: float | Tensor, t: int) -> float | Tensor:
        """The rate at step `t` of a group whose own is `base`. A tensor gives a new tensor."""

    def get_lr(self) -> list[float | Tensor]:
        """The rates at the step that is under way, one for each group; called by torch."""
        return [self.rate(base, self.last_epoch) for base in self.base_lrs]


class ClampedCosine(ClosedForm):
    """Half a cosine down to `eta_min`, where it stays: `eta_min + (base - eta_min) * (1 + cos(pi * t / t_max)) / 2`.

    `torch.optim.lr_scheduler.CosineAnnealingLR` has the same rates up to `t_max`, but rises again behind it.
    Source: I. Loshchilov, F. Hutter, "SGDR: stochastic gradient descent with warm restarts" (2017), equation 5.

    Args:
        optimizer: whose rates are set.
        t_max: the step at which `eta_min` is reached.
        eta_min: the last rate.

    Raises:
        ValueError: `t_max` is below 1, or `eta_min` is negative or above a group's rate.
        TypeError: `t_max` is no whole number, or `optimizer` is none.

    >>> import torch
    >>> sgd = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = ClampedCosine(sgd, t_max=2, eta_min=0.5)
    >>> [(sgd.step(), schedule.step(), round(schedule.get_last_lr()[0], 3))[2] for _ in range(4)]
    [0.75, 0.5, 0.5, 0.5]
    """

    def __init__(self, optimizer: Optimizer, t_max: int, eta_min: float = 0.0) -> None:
        self.t_max = _steps(self, "t_max", t_max)
        self.eta_min = _last_rate(self, optimizer, eta_min)
        super().__init__(optimizer)

    def rate(self, base: float | Tensor, t: int) -> float | Tensor:
        """The rate at step `t`."""
        return _cosine(base, self.eta_min, t, self.t_max)


class LinearWarmup(ClosedForm):
    """In equal steps up to the group's own rate, where it stays: `base * min(1, (t + 1) / steps)`.

    It begins above 0, so that the first update is one. It is `torch.optim.lr_scheduler.LinearLR(optimizer,
    start_factor=1 / steps, total_iters=steps - 1)`, which multiplies from step to step instead.

    Args:
        optimizer: whose rates are set.
        steps: how many steps it takes: the rate of the last of them is the group's own.

    Raises:
        ValueError: `steps` is below 1.
        TypeError: `steps` is no whole number, or `optimizer` is none.

    >>> import torch
    >>> sgd = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = LinearWarmup(sgd, steps=4)
    >>> [schedule.rate(1.0, t) for t in range(6)]
    [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]
    """

    def __init__(self, optimizer: Optimizer, steps: int) -> None:
        self.steps = _steps(self, "steps", steps)
        super().__init__(optimizer)

    def rate(self, base: float | Tensor, t: int) -> float | Tensor:
        """The rate at step `t`."""
        return _warming(base, t, self.steps)


class WarmupCosine(ClosedForm):
    """`LinearWarmup` for `warmup` steps, then `ClampedCosine` until step `t_max` of all: what GPTs are trained with.

    The rates are those of `SequentialLR` of torch's `LinearLR` and `CosineAnnealingLR`, up to `t_max`.

    Args:
        optimizer: whose rates are set.
        warmup: how many steps the warmup takes; the cosine begins at step `warmup`.
        t_max: the step at which `eta_min` is reached, those of the warmup counted in.
        eta_min: the last rate.

    Raises:
        ValueError: `warmup` is below 1 or not below `t_max`, or `eta_min` is negative or above a group's rate.
        TypeError: `warmup` or `t_max` is no whole number, or `optimizer` is none.

    >>> import torch
    >>> sgd = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = WarmupCosine(sgd, warmup=2, t_max=6, eta_min=0.0)
    >>> [round(schedule.rate(1.0, t), 3) for t in range(8)]
    [0.5, 1.0, 1.0, 0.854, 0.5, 0.146, 0.0, 0.0]
    """

    def __init__(self, optimizer: Optimizer, warmup: int, t_max: int, eta_min: float = 0.0) -> None:
        self.warmup = _steps(self, "warmup", warmup)
        self.t_max = _steps(self, "t_max", t_max)
        if self.warmup >= self.t_max:
            raise ValueError(
                f"WarmupCosine: warmup is {warmup}, but t_max, which counts its steps in, is {t_max}: no step is left "
                "for the cosine"
            )
        self.eta_min = _last_rate(self, optimizer, eta_min)
        super().__init__(optimizer)

    def rate(self, base: float | Tensor, t: int) -> float | Tensor:
        """The rate at step `t`."""
        if t < self.warmup:
            return _warming(base, t, self.warmup)
        return _cosine(base, self.eta_min, t - self.warmup, self.t_max - self.warmup)


class MultiStep(ClosedForm):
    """The rate times `gamma` at each milestone: `base * gamma ** (how many milestones are at or before t)`.

    A milestone that is there twice counts twice, as in `torch.optim.lr_scheduler.MultiStepLR`, which multiplies from
    step to step instead.

    Args:
        optimizer: whose rates are set.
        milestones: steps, counted from 0, in any order.
        gamma: what the rate is multiplied by.

    Raises:
        ValueError: a milestone is below 1, or `gamma` is not above 0.
        TypeError: a milestone is no whole number, or `optimizer` is none.

    >>> import torch
    >>> sgd = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = MultiStep(sgd, milestones=[1, 3, 3], gamma=0.5)
    >>> [schedule.rate(1.0, t) for t in range(5)]
    [1.0, 0.5, 0.5, 0.125, 0.125]
    """

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1) -> None:
        if not isinstance(milestones, Iterable):
            raise TypeError(f"MultiStep: milestones is {milestones!r}: a list of steps is needed")
        self.milestones = sorted(_steps(self, "a milestone", one) for one in milestones)
        self.gamma = _number(self, "gamma", gamma)
        if not 0 < self.gamma < math.inf:
            raise ValueError(f"MultiStep: gamma is {gamma!r}: a number above 0 is needed")
        super().__init__(optimizer)

    def rate(self, base: float | Tensor, t: int) -> float | Tensor:
        """The rate at step `t`."""
        return base * self.gamma ** bisect_right(self.milestones, t)


def _warming(base: float | Tensor, t: int, steps: int) -> float | Tensor:
    return base * min(1.0, (t + 1) / steps)


def _cosine(base: float | Tensor, eta_min: float, t: int, t_max: int) -> float | Tensor:
    # cos(pi) is -1 exactly, so the last rate is eta_min itself.
    return eta_min + (base - eta_min) * (1 + math.cos(math.pi * min(t, t_max) / t_max)) / 2


def _steps(schedule: LRScheduler, name: str, value: int) -> int:
    """A number of steps, as an int."""
    who = type(schedule).__name__
    try:
        steps = operator.index(value)
    except TypeError:
        raise TypeError(f"{who}: {name} is {value!r}: a whole number of steps is needed") from None
    if isinstance(value, bool) or steps < 1:
        raise ValueError(f"{who}: {name} is {value!r}: 1 step or more is needed")
    return steps


def _number(schedule: LRScheduler, name: str, value: object) -> float:
    if not isinstance(value, SupportsFloat):
        raise TypeError(f"{type(schedule).__name__}: {name} is {value!r}: a number is needed")
    return float(value)


def _last_rate(schedule: LRScheduler, optimizer: Optimizer, eta_min: float) -> float:
    """The rate that a schedule falls to: no group may begin below it."""
    who, last = type(schedule).__name__, _number(schedule, "eta_min", eta_min)
    if not 0 <= last < math.inf:
        raise ValueError(f"{who}: eta_min is {eta_min!r}: a rate of 0 or more is needed")
    for number, group in enumerate(getattr(optimizer, "param_groups", ())):  # what has none is refused by torch
        if (base := float(group.get("initial_lr", group["lr"]))) < last:
            raise ValueError(
                f"{who}: eta_min is {eta_min!r}, above the rate of group {number}, {base!r}: the rate would rise"
            )
    return last
