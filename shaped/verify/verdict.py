"""What was found out about a gradient: one answer, which prints as a sentence."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Level(enum.Enum):
    """How much is known, the first five from the strongest."""

    PROVED = "proved"  # for every size and value of the domain
    EXACT = "exact"  # checked at sample sizes, with no tolerance
    ENCLOSED = "enclosed"  # the true gradient at sample inputs lies in an interval that allows the computed one
    REFUTED = "refuted"  # another function than the derivative
    HAZARD = "hazard"  # right over the reals, wrong in floats or in its effects: NaN, underflow, a mutated input
    KINK = "kink"  # right wherever the derivative exists; the samples only met points where it does not
    UNSUPPORTED = "unsupported"  # nothing was decided: a construct that is not followed


ACCEPTED = frozenset({Level.PROVED, Level.EXACT, Level.ENCLOSED})


@dataclass(frozen=True)
class Witness:
    """Inputs that show a fault.

    Args:
        sizes: the dims.
        inputs: each input, and each upstream gradient, as nested lists or numbers, by name.
        gradient: the input whose gradient is wrong.
        index: the entry of it.
        expected: the true gradient there.
        actual: what the backward returned there.
    """

    sizes: Mapping[str, int]
    inputs: Mapping[str, object]
    gradient: str = ""
    index: tuple[int, ...] = ()
    expected: float | complex | None = None
    actual: float | complex | None = None

    def __str__(self) -> str:
        given = ", ".join(f"{name} = {value}" for name, value in [*self.sizes.items(), *self.inputs.items()])
        if not self.gradient:
            return f"at {given}"
        entry = f"{self.gradient}{list(self.index)}" if self.index else self.gradient
        return f"at {given}: the gradient of {entry} is {_number(self.expected)}, not {_number(self.actual)}"


@dataclass(frozen=True)
class Verdict:
    """The answer to "is this gradient right?".

    Args:
        level: how much is known.
        subject: the function, as the user calls it.
        reason: why, in one clause (`the term g[i]*y[i] is missing`); empty where there is nothing to add.
        domain: what the answer is about: conditions on sizes and values (`n >= 2`, `x[i] != 0`).
        kinks: where the derivative does not exist, and what is taken there.
        notes: what else a reader of the answer should know: branches not visited, facts used.
        witness: inputs that show the fault.
        place: `file:line` of what is not supported or wrong; empty if unknown.
    """

    level: Level
    subject: str
    reason: str = ""
    domain: tuple[str, ...] = ()
    kinks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    witness: Witness | None = None
    place: str = ""
    parts: tuple[Verdict, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Whether the gradient is right as far as the level goes."""
        return self.level in ACCEPTED

    def __bool__(self) -> bool:
        raise TypeError("a Verdict has no truth value: use verdict.ok")

    def __str__(self) -> str:
        """The answer as a sentence, without its details."""
        sentence = f"{self.subject}: {_OPENING[self.level]}"
        if self.reason:
            sentence += f": {self.reason}"
        if self.witness is not None:
            sentence += f", {self.witness}"
        return sentence

    def explain(self) -> str:
        """The answer with what it rests on, a line each."""
        lines = [str(self)]
        lines += [f"  for {condition}" for condition in self.domain]
        lines += [f"  kink: {kink}" for kink in self.kinks]
        lines += [f"  note: {note}" for note in self.notes]
        if self.place:
            lines.append(f"  at {self.place}")
        for part in self.parts:
            lines += [f"  {line}" for line in part.explain().splitlines()]
        return "\n".join(lines)


_OPENING = {
    Level.PROVED: "proved for every size and value",
    Level.EXACT: "exact, with no tolerance",
    Level.ENCLOSED: "inside the enclosure of the true gradient at every sample",
    Level.REFUTED: "refuted",
    Level.HAZARD: "right over the reals, but not as computed",
    Level.KINK: "only met points without a derivative",
    Level.UNSUPPORTED: "not decided",
}


def _number(value: float | complex | None) -> str:
    return "unknown" if value is None else f"{value:.6g}"
