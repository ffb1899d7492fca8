"""The value that graphs are read with: residues, their tangent, and a float64 shadow that decides branches.

Nothing ties the residues of the inputs to their shadows. A shadow only says which of two formulas is meant; the
residues tell whether formulas are equal.

exp and log are functions of which only laws are used. A value may carry *images*: residues that stand for its exp or
its log, computed when asked for. `exp(a + b)` is the product of the images; where no law applies the image is an
arbitrary function of the value, with `exp(-v) = 1 / exp(v)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.exact import constants, field
from shaped.verify.exact.constants import LOG_SALT

if TYPE_CHECKING:
    from collections.abc import Callable

_EXP_SALT = 11
_DEEPEST = 100  # laws are followed through this many operations


class Image:
    """Residues computed when asked for.

    Args:
        compute: gives them.
        depth: how many images it asks for in a row.
    """

    __slots__ = ("_compute", "_residue", "depth")

    def __init__(self, compute: Callable[[], Tensor], depth: int = 0) -> None:
        self._compute: Callable[[], Tensor] | None = compute
        self._residue: Tensor | None = None
        self.depth = depth

    @property
    def residue(self) -> Tensor:
        """The residues."""
        if self._residue is None:
            assert self._compute is not None
            self._residue, self._compute = self._compute(), None
        return self._residue


class Value:
    """A tensor of real numbers, read exactly.

    Args:
        shadow: a float64 example of the same function at some input; it decides comparisons.
        residue: the value modulo the prime.
        tangent: its derivative along the direction that is tested; None for 0.
        exp: the image of its exp; None where it follows from the value alone.
        log: the image of its log; likewise.
        shift: `(base, k)` where the value is `base + k`, for powers with such exponents.
        square_of: the value that it is the square of, whose absolute value is its root.
    """

    __slots__ = ("_without_tangent", "exp", "log", "residue", "shadow", "shift", "square_of", "tangent")

    def __init__(
        self,
        shadow: Tensor,
        residue: Tensor,
        tangent: Tensor | None = None,
        *,
        exp: Image | None = None,
        log: Image | None = None,
        shift: tuple[Tensor, int] | None = None,
        square_of: Value | None = None,
    ) -> None:
        self.shadow = shadow
        self.residue = residue
        self.tangent = tangent
        self.exp = exp
        self.log = log
        self.shift = shift
        self.square_of = square_of
        self._without_tangent: Value | None = None

    @property
    def shape(self) -> torch.Size:
        """The sizes of its dims."""
        return self.shadow.shape

    @property
    def ndim(self) -> int:
        """How many dims it has."""
        return self.shadow.dim()

    @property
    def without_tangent(self) -> Value:
        """The same value, taken as a constant."""
        if self.tangent is None:
            return self
        if self._without_tangent is None:
            self._without_tangent = Value(
                self.shadow,
                self.residue,
                exp=self.exp,
                log=self.log,
                shift=self.shift,
                square_of=None if self.square_of is None else self.square_of.without_tangent,
            )
        return self._without_tangent

    def exp_image(self) -> Tensor:
        """Residues that stand for exp of this value."""
        if self.exp is None:
            self.exp = Image(lambda: _exp_by_value(self.residue, self.shadow))
        return self.exp.residue.expand(self.shape)

    def log_image(self) -> Tensor:
        """Residues that stand for log of this value."""
        if self.log is None:
            self.log = Image(lambda: log_by_value(self.residue))
        return self.log.residue.expand(self.shape)

    def move(self, function: Callable[[Tensor], Tensor]) -> Value:
        """Entries picked, repeated or put elsewhere: the same for everything that is carried."""
        return Value(
            function(self.shadow),
            function(self.residue),
            None if self.tangent is None else function(self.tangent),
            exp=self._moved(self.exp, function),
            log=self._moved(self.log, function),
            shift=None if self.shift is None else (function(self.shift[0].expand(self.shape)), self.shift[1]),
            square_of=None if self.square_of is None else self.square_of.move(function),
        )

    def _moved(self, image: Image | None, function: Callable[[Tensor], Tensor]) -> Image | None:
        if image is None or image.depth > _DEEPEST:
            return None
        return Image(lambda: function(image.residue.expand(self.shape)), image.depth + 1)


def law(compute: Callable[[], Tensor], *values: Value, which: str) -> Image | None:
    """An image computed from those of other values, unless they already come from too many.

    Args:
        compute: gives the residues.
        values: whose images are asked for.
        which: `exp` or `log`.
    """
    depth = max((image.depth for value in values if (image := getattr(value, which)) is not None), default=0)
    return Image(compute, depth + 1) if depth <= _DEEPEST else None


def lift(number: object, dtype: torch.dtype = torch.float64) -> Value:
    """A constant as a value.

    Args:
        number: a value (given back), a tensor, or a Python number.
        dtype: the precision that a Python number was rounded to.
    """
    if isinstance(number, Value):
        return number
    if isinstance(number, Tensor):
        shadow = number.detach().double()
        # A program writes the logarithm of a constant as a constant.
        log = Image(lambda: constants.of_tensor(shadow.log())) if bool((shadow > 0).all()) else None
        return Value(shadow, constants.of_tensor(number), log=log)
    assert isinstance(number, (int, float)), f"a number or a tensor was expected, not {number!r}"
    residue = number % field.PRIME if isinstance(number, int) else constants.of_float(number, dtype)
    shadow = torch.tensor(float(number), dtype=torch.float64)
    log = Image(lambda: constants.of_tensor(shadow.log())) if number > 0 else None
    return Value(shadow, torch.tensor(int(residue)), log=log)


def tangent_of(value: Value) -> Tensor:
    """The tangent, zeros where there is none."""
    return torch.zeros_like(value.residue) if value.tangent is None else value.tangent


def log_by_value(residue: Tensor) -> Tensor:
    """log as an arbitrary function with `log(1) = 0`."""
    return torch.where(residue == 1, torch.zeros_like(residue), field.oracle(residue, LOG_SALT))


def _exp_by_value(residue: Tensor, shadow: Tensor) -> Tensor:
    """exp as an arbitrary function with `exp(-v) = 1 / exp(v)`, `exp(0) = 1` and `exp(-inf) = 0`."""
    upper = field.is_upper(residue)
    image = field.oracle(torch.where(upper, field.PRIME - residue, residue), _EXP_SALT)
    if upper.any():
        image = torch.where(upper, field.inverse(image), image)
    image = torch.where(residue == 0, torch.ones_like(image), image)
    # A constant -inf, which hides the entries of a mask.
    hidden = (residue == field.PRIME - constants.INFINITE) & (shadow < -constants.AS_GOOD_AS_INFINITE)
    return torch.where(hidden, torch.zeros_like(image), image)
