"""Comparing what a kernel returned with bounded values, in units of what rounding explains."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from shaped.runtime.compiled.rounding.bounded import Bounded, rounded
from shaped.runtime.compiled.rounding.formats import format_of


@dataclass(frozen=True)
class Budget:
    """How far a result is from the true one.

    Args:
        name: what was compared.
        rho: the greatest `|actual - exact| / bound`; at most 1 for every sound kernel.
        at: the entry with this ratio.
        actual: what was returned there.
        exact: the reference there.
        bound: what rounding explains there.
        compared: how many entries have a bound.
        unbounded: how many entries were left out since rounding may change them without limit.
    """

    name: str
    rho: float
    at: tuple[int, ...]
    actual: float
    exact: float
    bound: float
    compared: int
    unbounded: int

    @property
    def ok(self) -> bool:
        """Whether something was compared and rounding explains every difference."""
        return self.compared > 0 and self.rho <= 1

    def __str__(self) -> str:
        if not self.compared:
            reason = (
                f"rounding may change {self.unbounded} entries without limit" if self.unbounded else "it has no entries"
            )
            return f"nothing of {self.name} was compared: {reason}"
        if self.rho <= 1:
            return (
                f"{self.name}: at most {self.rho:.2g} of the error that rounding explains, in {self.compared} entries"
            )
        entry = f"{self.name}[{', '.join(map(str, self.at))}]" if self.at else self.name
        return (
            f"{entry} is {self.actual!r}, and exactly {self.exact!r}: {abs(self.actual - self.exact):.2g} off,"
            f" where rounding explains {self.bound:.2g}"
        )


def compare(actual: Tensor, expected: Bounded, name: str = "the result") -> Budget:
    """Hold a tensor to bounded values.

    A NaN, and an infinity where the reference has none, is a difference of infinite size. Where the dtype of the tensor
    is narrower than that of the bounds, its rounding is added.

    >>> from shaped.runtime.compiled.rounding.bounded import add, given
    >>> from shaped.runtime.compiled.rounding.formats import format_of
    >>> x = torch.tensor([0.1, 0.2])
    >>> expected = add(given(x), given(x), format_of(torch.float32))
    >>> print(compare(2.0001 * x, expected, "twice"))
    twice[0] is 0.20000998675823212, and exactly 0.20000000298023224: 1e-05 off, where rounding explains 2.4e-08

    Raises:
        ValueError: the shapes differ.
        NoFormat: the dtype has no error bound.
    """
    if tuple(actual.shape) != tuple(expected.value.shape):
        raise ValueError(f"{name} has the shape {tuple(actual.shape)}, but {tuple(expected.value.shape)} is expected")
    to = format_of(actual.dtype)
    expected = rounded(expected, to) if expected.format.is_float else expected
    found, exact = actual.detach().cpu().double(), expected.value.double()
    limited = expected.bound < math.inf
    compared = int(limited.sum())
    unbounded = actual.numel() - compared
    if not compared:
        return Budget(name, 0.0, (), math.nan, math.nan, math.nan, 0, unbounded)
    difference = torch.where(found == exact, 0.0, (found - exact).abs())
    ratio = torch.where(difference == 0, 0.0, difference / expected.bound)
    ratio = torch.where(found.isnan(), math.inf, ratio).nan_to_num(nan=math.inf, posinf=math.inf)
    ratio = torch.where(limited, ratio, -1.0)
    flat = int(ratio.reshape(-1).argmax())
    at = tuple(int(place) for place in torch.unravel_index(torch.tensor(flat), actual.shape)) if actual.ndim else ()
    return Budget(
        name,
        float(ratio.reshape(-1)[flat]),
        at,
        float(found.reshape(-1)[flat]),
        float(exact.reshape(-1)[flat]),
        float(expected.bound.reshape(-1)[flat]),
        compared,
        unbounded,
    )
