"""Trainers: one scalar loss, its parameters and inputs as typed lists, and loops over data.

The names here are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shaped.trainers.clipping import clip_grad_norm as clip_grad_norm
    from shaped.trainers.cycle import mean_loss as mean_loss
    from shaped.trainers.cycle import train_cycle as train_cycle
    from shaped.trainers.cycle import train_cycle_sgd as train_cycle_sgd
    from shaped.trainers.exact import exact_loss_and_gradients as exact_loss_and_gradients
    from shaped.trainers.exact import exact_sgd_step as exact_sgd_step
    from shaped.trainers.fitting.early_stop import EarlyStop as EarlyStop
    from shaped.trainers.fitting.history import Epoch as Epoch
    from shaped.trainers.fitting.history import History as History
    from shaped.trainers.fitting.loop import fit as fit
    from shaped.trainers.fitting.objective import accuracy as accuracy
    from shaped.trainers.fitting.objective import supervised as supervised
    from shaped.trainers.fitting.ranks import RankError as RankError
    from shaped.trainers.not_finite import NotFiniteError as NotFiniteError
    from shaped.trainers.not_finite import NotFiniteGradientsError as NotFiniteGradientsError
    from shaped.trainers.scalar import ScalarTrainer as ScalarTrainer
    from shaped.trainers.schedules import ClampedCosine as ClampedCosine
    from shaped.trainers.schedules import LinearWarmup as LinearWarmup
    from shaped.trainers.schedules import MultiStep as MultiStep
    from shaped.trainers.schedules import WarmupCosine as WarmupCosine

_HOMES = {
    "ClampedCosine": "shaped.trainers.schedules",
    "EarlyStop": "shaped.trainers.fitting.early_stop",
    "Epoch": "shaped.trainers.fitting.history",
    "History": "shaped.trainers.fitting.history",
    "LinearWarmup": "shaped.trainers.schedules",
    "MultiStep": "shaped.trainers.schedules",
    "NotFiniteError": "shaped.trainers.not_finite",
    "NotFiniteGradientsError": "shaped.trainers.not_finite",
    "RankError": "shaped.trainers.fitting.ranks",
    "ScalarTrainer": "shaped.trainers.scalar",
    "WarmupCosine": "shaped.trainers.schedules",
    "accuracy": "shaped.trainers.fitting.objective",
    "clip_grad_norm": "shaped.trainers.clipping",
    "exact_loss_and_gradients": "shaped.trainers.exact",
    "exact_sgd_step": "shaped.trainers.exact",
    "fit": "shaped.trainers.fitting.loop",
    "mean_loss": "shaped.trainers.cycle",
    "supervised": "shaped.trainers.fitting.objective",
    "train_cycle": "shaped.trainers.cycle",
    "train_cycle_sgd": "shaped.trainers.cycle",
}

__all__ = sorted(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
