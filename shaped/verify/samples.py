"""Concrete inputs: generic values where the forward is finite, the same ones on every run.

Floats are standard normal; where the forward is not finite there, they are positive, in the unit interval, above one,
probabilities, negative or positive definite. The range of integers is found by trying: indices below a size that the
forward accepts.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from shaped.verify.layouts import Layout, Slot
    from shaped.verify.subject import Inputs, Subject, Tensors

    Regime = Callable[[tuple[int, ...], torch.Generator], Tensor]

_TRIES = 6  # draws of a regime: all must be finite; half of them, if no regime has that


@dataclass(frozen=True)
class Sample:
    """Inputs for one run.

    Args:
        inputs: one value for each parameter of the forward.
        sizes: the dims, for messages.
        point: what is special about them (`x has one entry 0`), empty for generic values.
    """

    inputs: Inputs
    sizes: Mapping[str, int] = field(default_factory=dict)
    point: str = ""


def readable(values: Tensor) -> Tensor:
    """Two digits behind the point, for messages; none of them 0, which would be special."""
    rounded = values.round(decimals=2)
    return torch.where(rounded == 0, 0.01, rounded)


def _normal(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return readable(torch.randn(shape, generator=generator, dtype=torch.float64))


def _positive(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return _normal(shape, generator).abs() + 0.1


def _unit(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return readable(0.05 + 0.9 * torch.rand(shape, generator=generator, dtype=torch.float64))


def _above_one(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return _positive(shape, generator) + 1


def _probabilities(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    drawn = _normal(shape, generator)
    return drawn.softmax(-1) if shape else drawn.sigmoid()


def _negative(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return -_positive(shape, generator)


def _positive_definite(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    drawn = _normal(shape, generator)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        return drawn
    return drawn @ drawn.mT + torch.eye(shape[-1], dtype=torch.float64)


_REGIMES: tuple[Regime, ...] = (
    _normal,
    _positive,
    _unit,
    _above_one,
    _probabilities,
    _negative,
    _positive_definite,
)


@dataclass
class Sampler:
    """Draws inputs of one layout.

    Args:
        subject: whose forward says what is accepted and finite.
        layout: the shapes.
        seed: equal seeds draw equal inputs.
    """

    subject: Subject
    layout: Layout
    seed: int = 0
    problem: str = field(default="", init=False)  # why the forward refuses the layout, empty if it does not
    regimes: list[Regime] = field(default_factory=list, init=False)
    tops: dict[int, int] = field(default_factory=dict, init=False)  # integers are below it, by the place of the slot
    _companions: dict[tuple[int, Regime | None], Inputs] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.regimes = [_normal] * len(self.layout.slots)
        self._find_integers()
        if not self.problem:
            self._find_regimes()

    @property
    def accepts(self) -> bool:
        """Whether the forward accepts the layout and is finite at most samples."""
        return not self.problem

    def draw(self, number: int, *, scale: float = 1.0) -> Sample:
        """The sample of a number. `scale` stretches normal values, so that they reach both sides of a threshold."""
        generator = torch.Generator().manual_seed(1000 * self.seed + number)
        values = [self.value(i, generator) for i in range(len(self.layout.slots))]
        if scale != 1:
            values = [self._scaled(i, value, scale) for i, value in enumerate(values)]
        return Sample(tuple(values), self.layout.sizes)

    def _scaled(self, index: int, value: object, scale: float) -> object:
        if not isinstance(value, Tensor) or self.regimes[index] is not _normal:
            return value
        if self.layout.slots[index].kind == "float":
            return readable(value * scale)
        return value * scale if value.is_complex() else value

    def companions(self, number: int) -> Iterator[list[object]]:
        """Values for the inputs that are not special: as found, then all of one regime, in turn."""
        for regime in (None, *_REGIMES[:4]):
            if (number, regime) not in self._companions:
                found = self.regimes
                self.regimes = found if regime is None else [regime] * len(found)
                self._companions[number, regime] = self.draw(number).inputs
                self.regimes = found
            yield list(self._companions[number, regime])

    def value(self, index: int, generator: torch.Generator) -> object:
        """A value for one slot."""
        slot = self.layout.slots[index]
        if slot.kind is None:
            return slot.value
        if slot.kind == "float":
            return self.regimes[index](slot.shape, generator)
        if slot.kind == "complex":
            return torch.complex(self.regimes[index](slot.shape, generator), _normal(slot.shape, generator))
        top = self.tops.get(index, 2)
        drawn = torch.randint(0, max(top, 1), slot.shape, generator=generator)
        if slot.kind == "bool":
            return _mixed(drawn == 1)
        return drawn.to(slot.dtype)

    def is_finite(self, inputs: Inputs) -> bool:
        """Whether the forward accepts the inputs and each output is finite."""
        try:
            return all_finite(self.subject.outputs(inputs))
        except Exception:  # whatever the user's forward raises for inputs that it does not take
            return False

    def _find_integers(self) -> None:
        """The largest range of each integer input for which the forward accepts its ends."""
        places = [i for i, slot in enumerate(self.layout.slots) if slot.kind == "int"]
        self.tops = dict.fromkeys(places, 1)
        if not self._accepts(self.draw(0).inputs) and places:
            self.tops = dict.fromkeys(places, 2)
        values = list(self.draw(0).inputs)
        if not self._accepts(tuple(values)):
            return
        for i in places:
            self.tops[i] = next((top for top in self._candidates(i) if self._accepts_range(values, i, top)), 1)
            self.problem = ""

    def _candidates(self, index: int) -> list[int]:
        slot = self.layout.slots[index]
        if isinstance(slot.value, Tensor):
            return [int(slot.value.max()) + 1] if slot.value.numel() and slot.value.min() >= 0 else []
        sizes = {size for other in self.layout.slots for size in other.shape} | set(self.layout.sizes.values()) | {2}
        return sorted(sizes | {size + 1 for size in sizes}, reverse=True)

    def _accepts_range(self, values: list[object], index: int, top: int) -> bool:
        shape = self.layout.slots[index].shape
        dtype = getattr(values[index], "dtype", torch.int64)
        count = int(torch.Size(shape).numel())
        ends = torch.full(shape, top - 1, dtype=dtype)
        spread = (torch.arange(count, dtype=dtype) % max(top, 1)).reshape(shape)
        return all(self._accepts((*values[:index], one, *values[index + 1 :])) for one in (ends, spread))

    def _accepts(self, inputs: Inputs) -> bool:
        try:
            self.subject.outputs(inputs)
        except Exception as problem:  # whatever the user's forward raises for inputs that it does not take
            self.problem = f"{type(problem).__name__}: {problem}"
            return False
        self.problem = ""
        return True

    def _find_regimes(self) -> None:
        floats = [i for i, slot in enumerate(self.layout.slots) if slot.kind in ("float", "complex")]
        for wanted, regime in itertools.product((_TRIES, _TRIES // 2), _REGIMES):
            self.regimes = [regime] * len(self.layout.slots)
            if self._is_finite_at(wanted):
                break
        else:
            self.problem = self.problem or "the forward is not finite at most samples"
            return
        self.problem = ""
        for i in floats if len(floats) > 1 else ():
            kept, self.regimes[i] = self.regimes[i], _normal
            if kept is not _normal and not self._is_finite_at(wanted):
                self.regimes[i] = kept

    def _is_finite_at(self, wanted: int) -> bool:
        """Whether the forward is finite at `wanted` of the draws."""
        missing = _TRIES - wanted
        for number in range(_TRIES):
            if not self.is_finite(self.draw(number).inputs):
                missing -= 1
                if missing < 0:
                    return False
        return True


def _mixed(mask: Tensor) -> Tensor:
    """A mask with both values in each row that is long enough, as rows of one value are special."""
    if not mask.ndim or mask.shape[-1] < 2:
        return mask
    mask[..., 0] |= ~mask.any(-1)
    mask[..., -1] &= ~mask.all(-1)
    return mask


def draw_upstream(outputs: tuple[object, ...], number: int) -> Tensors:
    """A generic upstream gradient for each output of floats, None for the others."""
    generator = torch.Generator().manual_seed(7919 + number)
    drawn: list[Tensor | None] = []
    for output in outputs:
        if not isinstance(output, Tensor) or not (output.is_floating_point() or output.is_complex()):
            drawn.append(None)
            continue
        shape = tuple(output.shape)
        value = _normal(shape, generator)
        if output.is_complex():
            value = torch.complex(value, _normal(shape, generator))
        drawn.append(value.to(output.dtype))
    return tuple(drawn)


def all_finite(values: tuple[object, ...]) -> bool:
    """Whether every tensor is finite."""
    return all(bool(value.isfinite().all()) for value in values if isinstance(value, Tensor))


def positions(slot: Slot) -> int:
    """How many entries a slot has."""
    return int(torch.Size(slot.shape).numel())
