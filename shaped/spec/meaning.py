"""What operations mean: a table beside `OPS` with the entry of each result as an index expression.

A meaning is a function of spec tensors with torch's parameters. It says the entry with `build` and `pointwise`, or is
composed of other operations, written as torch code is. Where a closed form of the backward is used in the field, it is
declared beside it, and `proofs/` holds the theorem that it is the adjoint of the derivative.

The meanings stand in `spec/meanings`, one file a family as in `spec/ops`. They are loaded when one is first asked for:
the static checker needs none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from shaped.spec.op import OPS, find_op

P = ParamSpec("P")
R = TypeVar("R")


@dataclass
class Meaning:
    """The meaning of one operation.

    Args:
        name: the operation's name in `OPS`.
        entry: the function of spec tensors, with torch's parameters.
        kinks: where it has no derivative and what torch takes there (`x = 0: 0`); empty where there is none.
        domain: where it is defined (`x > 0`); empty for all numbers.
        backward: the closed form: the upstream gradient (a tuple for several results), then the arguments of `entry`;
            one gradient for each tensor argument, None where it has none. None: derived from `entry`.
    """

    name: str
    entry: Callable[..., Any]
    kinks: str = ""
    domain: str = ""
    backward: Callable[..., Any] | None = None

    @property
    def formula(self) -> str:
        """The operation in one line."""
        return OPS[self.name].formula


MEANINGS: dict[str, Meaning] = {}


def meaning(*names: str, kinks: str = "", domain: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare what operations of the table mean, by a function of spec tensors with torch's parameters."""

    def declare(entry: Callable[P, R]) -> Callable[P, R]:
        for name in names:
            assert name in OPS, f"{name} is no operation of the table"
            assert name not in MEANINGS, f"{name} has two meanings"
            MEANINGS[name] = Meaning(name, entry, kinks, domain)
        return entry

    return declare


def backward(*names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare the closed form of the backward of operations whose meaning stands above."""

    def declare(formula: Callable[P, R]) -> Callable[P, R]:
        for name in names:
            assert MEANINGS[name].backward is None, f"{name} has two backwards"
            MEANINGS[name].backward = formula
        return formula

    return declare


def find_meaning(torch_name: str) -> Meaning | None:
    """The meaning of the operation with this torch name (`torch.softmax`, `Tensor.softmax`), None if it has none."""
    load()
    found = find_op(torch_name)
    return None if found is None else MEANINGS.get(found.name)


def load() -> None:
    """Declare all meanings."""
    import shaped.spec.meanings
    import shaped.spec.ops  # noqa: F401  (importing declares them)
