"""What a reading of a graph decided by its float64 shadow: which way comparisons went, and where two values met."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.exact.value import Value, lift

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Shadows this near are rounded forms of one number, if their residues are equal too.
_ROUNDING = 1e-9


@dataclass
class Branches:
    """What the comparisons of one or more readings gave.

    Args:
        node: the operation that is being read.
        depends: whether its operands depend on the inputs; else it decides the same everywhere and is not recorded.
        true: the comparisons that held somewhere.
        false: those that did not hold somewhere.
        kinks: where different values met.
        undefined: the comparisons of NaN.
        roots: of how many entries a root of even degree was taken.
        rootless: whether one of them had none.
    """

    node: str = ""
    depends: bool = False
    true: set[str] = field(default_factory=set)
    false: set[str] = field(default_factory=set)
    kinks: dict[str, None] = field(default_factory=dict)
    undefined: dict[str, None] = field(default_factory=dict)
    roots: int = 0
    rootless: bool = False

    def record(self, outcome: Tensor) -> None:
        """Keep which ways a comparison went."""
        if self.depends and outcome.numel():
            if bool(outcome.any()):
                self.true.add(self.node)
            if not bool(outcome.all()):
                self.false.add(self.node)

    def kink(self, what: str) -> None:
        """Keep that two different values met, where the derivative may not exist."""
        if self.depends:
            self.kinks[f"{self.node.partition(':')[2]}: {what}"] = None

    def took_roots(self, true: Tensor) -> None:
        """Keep how many roots of even degree were taken, and whether each was one."""
        if self.depends:
            self.roots += true.numel()
            self.rootless = self.rootless or not bool(true.all())

    def undecided(self) -> None:
        """Keep that the shadow was NaN where it had to decide."""
        if self.depends:
            self.undefined[self.node.partition(":")[2]] = None

    @property
    def one_sided(self) -> list[tuple[str, bool]]:
        """The comparisons that always went one way, with that way."""
        return [(node, node in self.true) for node in sorted(self.true ^ self.false)]

    def visited_more(self, earlier: Branches) -> bool:
        """Whether a comparison went a way here that it did not go earlier."""
        return not (self.true <= earlier.true and self.false <= earlier.false)

    def add(self, other: Branches) -> None:
        """Join what another reading visited."""
        self.true |= other.true
        self.false |= other.false


_CURRENT: ContextVar[Branches] = ContextVar("branches")


@contextmanager
def recording(branches: Branches) -> Iterator[None]:
    """Record the comparisons of a block."""
    token = _CURRENT.set(branches)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current() -> Branches:
    """Where comparisons are recorded now."""
    return _CURRENT.get()


def compare(function: Callable[[Tensor, Tensor], Tensor], left: object, right: object) -> Tensor:
    """A comparison, decided by the shadows; values with equal residues are equal.

    Args:
        function: one of torch.gt, ge, lt, le, eq, ne.
        left: a value, a tensor or a number.
        right: likewise.
    """
    one, other = lift(left), lift(right)
    branches = current()
    outcome = function(one.shadow, other.shadow)
    if branches.depends:
        if bool((torch.isnan(one.shadow) | torch.isnan(other.shadow)).any()):
            branches.undecided()
        same = is_same(one, other)
        if bool(((one.shadow == other.shadow) & ~same).any()):
            branches.kink("two values met")
        zero = torch.zeros(())
        outcome = torch.where(same, function(zero, zero), outcome)
        # Numbers that vary are equal at single points, which are kinks; counts are equal on whole branches.
        if function not in (torch.eq, torch.ne) or (_is_whole(one.shadow) and _is_whole(other.shadow)):
            branches.record(outcome)
    return outcome


def _is_whole(shadow: Tensor) -> bool:
    return bool((shadow == shadow.round()).all())


def is_same(one: Value, other: Value) -> Tensor:
    """Where two values are equal as functions: their residues are equal, and so are their shadows but for rounding."""
    size = torch.maximum(one.shadow.abs(), other.shadow.abs()).clamp(min=1)
    near = (one.shadow - other.shadow).abs() <= _ROUNDING * size
    return (one.residue == other.residue) & (near | (one.shadow == other.shadow))
