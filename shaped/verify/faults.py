"""A fault of a gradient at concrete inputs, and how it becomes a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.verdict import Level, Verdict, Witness

if TYPE_CHECKING:
    from shaped.verify.samples import Sample
    from shaped.verify.subject import Subject, Tensors

_MOST_SHOWN = 48  # numbers of one tensor in a message


@dataclass(frozen=True)
class Fault:
    """What is wrong at one sample.

    Args:
        level: REFUTED for another function, HAZARD for floats and effects.
        reason: why, in one clause.
        gradient: the input whose gradient is wrong.
        index: the entry of it.
        expected: the true gradient there, None if it is not known.
        actual: what was returned there.
    """

    level: Level
    reason: str
    gradient: str = ""
    index: tuple[int, ...] = ()
    expected: float | complex | None = None
    actual: float | complex | None = None

    @property
    def has_entry(self) -> bool:
        """Whether it is about one number."""
        return self.actual is not None


@dataclass(frozen=True)
class Counterexample:
    """A fault with the inputs that show it."""

    fault: Fault
    sample: Sample
    upstream: Tensors

    def verdict(self, subject: Subject) -> Verdict:
        """The answer that shows it."""
        fault, upstream = self.fault, self.upstream
        inputs = {name: shown(value) for name, value in subject.named_upstream(upstream).items()}
        inputs |= {parameter.name: shown(value) for parameter, value in zip(subject.inputs, self.sample.inputs)}
        reason = f"{fault.reason} where {self.sample.point}" if self.sample.point else fault.reason
        sizes = dict(self.sample.sizes)
        if not fault.has_entry:
            return Verdict(fault.level, subject.name, reason, witness=Witness(sizes, inputs))
        # -0.0 + 0.0 is 0.0: a sign of zero would only puzzle.
        expected = None if fault.expected is None else fault.expected + 0.0
        witness = Witness(sizes, inputs, fault.gradient, fault.index, expected, fault.actual)
        return Verdict(fault.level, subject.name, reason, witness=witness)


def shown(value: object) -> object:
    """A value as a message shows it: nested lists, or the shape of a tensor that is too large for one."""
    if isinstance(value, Tensor):
        if value.numel() > _MOST_SHOWN:
            return f"a tensor of shape {tuple(value.shape)}"
        listed = value.detach().tolist()
        return listed if value.dtype in (torch.float64, torch.complex128) else _rounded(listed)
    return tuple(shown(part) for part in value) if isinstance(value, tuple) else value


def _rounded(value: object) -> object:
    """Without the digits that a number of a lower precision does not have."""
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def number(value: Tensor) -> float | complex:
    """The only entry of a tensor as a Python number."""
    found = value.item()
    return complex(found) if isinstance(found, complex) else float(found)


def is_nan(value: float | complex | None) -> bool:
    """Whether it is NaN, or has a part that is."""
    return value is not None and (math.isnan(value.real) or math.isnan(value.imag))
