"""The schemes: from which distribution an element is drawn. A scheme is checked when it is made.

`shaped.init.sampling` says what value a scheme gives at a position of a stream.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import index
from typing import Literal, SupportsIndex, TypeAlias, get_args

NormalMode: TypeAlias = Literal["mixed", "clamped", "unmixed"]


class SchemeError(ValueError):
    """A scheme, a shape or a seed that no tensor can be made of: which argument, what was expected, what was given."""


@dataclass(frozen=True)
class Zeros:
    """All elements 0."""


@dataclass(frozen=True)
class Ones:
    """All elements 1."""


@dataclass(frozen=True)
class Uniform:
    """`low + u*(high - low)`, u in [0, 1).

    >>> Uniform(1, 0)
    Traceback (most recent call last):
    shaped.init.schemes.SchemeError: Uniform: low is 1, high is 0: low <= high is needed
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        _require_finite("Uniform", low=self.low, high=self.high)
        if self.low > self.high:
            raise SchemeError(f"Uniform: low is {self.low}, high is {self.high}: low <= high is needed")
        if not math.isfinite(float(self.high) - float(self.low)):
            raise SchemeError(f"Uniform: high - low overflows, low is {self.low}, high is {self.high}")


@dataclass(frozen=True)
class XavierUniform:
    """Uniform in [-L, L], `L = sqrt(6/(fan_in + fan_out))`; fans not given are those of the tensor's shape.

    Source: Glorot, Bengio, "Understanding the difficulty of training deep feedforward neural networks" (2010), (16).
    """

    fan_in: int | None = None
    fan_out: int | None = None

    def __post_init__(self) -> None:
        _require_fan("XavierUniform", "fan_in", self.fan_in)
        _require_fan("XavierUniform", "fan_out", self.fan_out)


@dataclass(frozen=True)
class KaimingUniform:
    """Uniform in [-L, L], `L = sqrt(6/fan_in)`; a fan not given is that of the tensor's shape.

    Source: He et al., "Delving deep into rectifiers" (2015), (10), for a ReLU, as a uniform distribution.
    """

    fan_in: int | None = None

    def __post_init__(self) -> None:
        _require_fan("KaimingUniform", "fan_in", self.fan_in)


@dataclass(frozen=True)
class Normal:
    """`mean + std*sqrt(-2 ln u1)*cos(2 pi u2)` by the stream's positions 2i and 2i + 1 (Box-Muller).

    Args:
        mean: the mean.
        std: the standard deviation, 0 or more.
        mode: how u1 is made of the stream. `mixed`: `(bits + 1)/(2^32 + 1)`. `clamped`: `max(bits/2^32, 1e-6)`, so no
            element is further than 5.257 std from the mean. `unmixed`: the position is added to the mixed bits, not
            mixed in, so the radius is nearly the same for a whole tensor; only to reproduce weights made that way.

    >>> Normal(std=-1)
    Traceback (most recent call last):
    shaped.init.schemes.SchemeError: Normal: std is -1: 0 or more is needed
    """

    mean: float = 0.0
    std: float = 1.0
    mode: NormalMode = "mixed"

    def __post_init__(self) -> None:
        _require_finite("Normal", mean=self.mean, std=self.std)
        if self.std < 0:
            raise SchemeError(f"Normal: std is {self.std}: 0 or more is needed")
        if self.mode not in get_args(NormalMode):
            raise SchemeError(f"Normal: mode is {self.mode!r}: one of {', '.join(get_args(NormalMode))} is needed")


Scheme: TypeAlias = Zeros | Ones | Uniform | XavierUniform | KaimingUniform | Normal


def valid_scheme(name: str, scheme: object) -> Scheme:
    """A scheme, and nothing else; `name` is what it is called in the error.

    >>> valid_scheme("scheme", Zeros)
    Traceback (most recent call last):
    shaped.init.schemes.SchemeError: scheme is the class Zeros: Zeros() is needed
    """
    if isinstance(scheme, Scheme):
        return scheme
    if isinstance(scheme, type) and issubclass(scheme, Scheme):
        raise SchemeError(f"{name} is the class {scheme.__name__}: {scheme.__name__}() is needed")
    raise SchemeError(f"{name} is {scheme!r}: one of Zeros(), Ones(), Uniform(), ... is needed")


def valid_int(name: str, value: object) -> int:
    """An int, or what counts as one, such as numpy's.

    >>> valid_int("seed", 0.5)
    Traceback (most recent call last):
    shaped.init.schemes.SchemeError: seed is 0.5: an int is needed
    """
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        try:
            return index(value)
        except TypeError:  # an array or a tensor that is no single whole number
            pass
    raise SchemeError(f"{name} is {value!r}: an int is needed")


def _require_finite(scheme: str, **values: object) -> None:
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_finite(value):
            raise SchemeError(f"{scheme}: {name} is {value!r}: a finite number is needed")


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an int beyond the largest float64
        return False


def _require_fan(scheme: str, name: str, fan: object) -> None:
    if fan is not None and (isinstance(fan, bool) or not isinstance(fan, int) or fan < 0):
        raise SchemeError(f"{scheme}: {name} is {fan!r}: an int of 0 or more is needed")
