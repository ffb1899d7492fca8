"""What a number system has to offer, so that index expressions can be computed in it.

A system works on whole NumPy arrays: of floats, or of objects that know `+`, `-` and `*`. What has no value at some
places (`1/0`) is no exception, since a `where` may not choose these places; it is a `Reason` in an array beside the
numbers.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from fractions import Fraction

Array = npt.NDArray[Any]
Reasons = npt.NDArray[np.int8] | None
"""For each place why there is no number, 0 where there is one; None where there is one at every place."""


class Reason(enum.IntEnum):
    """Why an expression has no value at a place. Where several hold, the greatest is told."""

    IRRATIONAL = 1
    OVERFLOW = 2
    OUT_OF_RANGE = 3
    EMPTY = 4
    DIVISION = 5
    DOMAIN = 6
    ROOT = 7
    INDETERMINATE = 8
    UNDECIDED = 9
    UNSUPPORTED = 10

    @property
    def text(self) -> str:
        """The reason as a clause."""
        return _TEXTS[self]


_TEXTS = {
    Reason.IRRATIONAL: "the value is no fraction",
    Reason.OVERFLOW: "the value is too large for a float",
    Reason.OUT_OF_RANGE: "an entry beyond the end of an axis is read",
    Reason.EMPTY: "the greatest of no numbers is asked for",
    Reason.DIVISION: "a divisor is 0",
    Reason.DOMAIN: "a function is applied outside its domain, such as log to a number that is not positive",
    Reason.ROOT: "a root of a negative number is taken",
    Reason.INDETERMINATE: "infinities cancel, or one is multiplied by 0",
    Reason.UNDECIDED: "the number is too close to 0 to tell its sign at this precision",
    Reason.UNSUPPORTED: "the number system does not know the function",
}


class Undefined(ArithmeticError):
    """An expression has no value at a place where one is asked for."""

    def __init__(self, reason: Reason, place: str = "") -> None:
        super().__init__(f"the expression has no value{place and f' at {place}'}: {reason.text}")
        self.reason = reason


class Undecided(Undefined):
    """A comparison could not be decided by enclosures: a higher precision may."""


class Scalars(ABC):
    """A number system."""

    name: ClassVar[str]
    dtype: ClassVar[npt.DTypeLike] = object

    @abstractmethod
    def constant(self, value: Fraction) -> Any:
        """A rational number."""

    @abstractmethod
    def pi(self) -> Any:
        """The number pi.

        Raises:
            Undefined: there is none in this system.
        """

    @abstractmethod
    def given(self, value: Any) -> Any:
        """A number that a caller gives, finite: a number of this system, an int, a Fraction or a float, as it is."""

    @abstractmethod
    def power(self, base: Array, exponent: Fraction) -> tuple[Array, Reasons]:
        """Powers with an exponent that is neither 0 nor 1."""

    @abstractmethod
    def apply(self, function: str, argument: Array) -> tuple[Array, Reasons]:
        """The elementary function (`spec.expr.FUNCTIONS`) of each number."""

    @abstractmethod
    def sign(self, values: Array) -> tuple[Array, Reasons]:
        """-1, 0 or 1 for each number."""

    def computing(self) -> AbstractContextManager[None]:
        """What has to be entered while numbers are computed, such as a precision."""
        return nullcontext()

    def infinity(self, sign: int) -> Any:
        """What stands for more, or less, than every number in a result."""
        return float("inf") if sign > 0 else float("-inf")

    def array(self, values: Any) -> Array:
        """Given numbers as an array of this system."""
        given = np.asarray(values, dtype=object)
        result = np.empty(given.shape, dtype=self.dtype)
        for at, value in np.ndenumerate(given):
            result[at] = self.given(value)
        return result

    def full(self, shape: tuple[int, ...], value: Any) -> Array:
        """An array with one number at every place."""
        result = np.empty(shape, dtype=self.dtype)
        result.fill(value)
        return result

    def add(self, left: Array, right: Array) -> Array:
        """The sums of two arrays' numbers."""
        return np.asarray(np.add(left, right), dtype=self.dtype)

    def multiply(self, left: Array, right: Array) -> Array:
        """The products of two arrays' numbers."""
        return np.asarray(np.multiply(left, right), dtype=self.dtype)

    def total(self, values: Array, axis: int) -> Array:
        """The sums along an axis that is not empty."""
        return np.asarray(np.add.reduce(values, axis=axis), dtype=self.dtype)

    def greatest(self, left: Array, right: Array) -> tuple[Array, Reasons]:
        """The greater of two arrays' numbers."""
        sign, reasons = self.sign(self.add(left, self.multiply(right, np.asarray(self.constant_of(-1), self.dtype))))
        return np.where(sign >= 0, left, right), reasons

    def greatest_found(self, values: Array) -> Array:
        """The results of comparing along an axis by `greatest`, which may have counted ties in them."""
        return values

    def choose(self, condition: Array, then: Array, otherwise: Array) -> Array:
        """The numbers of one array where a condition holds, those of another elsewhere."""
        return np.where(condition, then, otherwise)

    def rounded(self, values: Array, times: int) -> Array:
        """The same numbers, as a kernel has them that computes them with so many more roundings."""
        return values

    def constant_of(self, value: int) -> Any:
        """An int as a number of this system."""
        from fractions import Fraction

        return self.constant(Fraction(value))


class ObjectScalars(Scalars):
    """A number system of Python objects, given by what is done with one number."""

    @abstractmethod
    def power_of(self, base: Any, exponent: Fraction) -> Any:
        """One power.

        Raises:
            Undefined: there is none.
        """

    @abstractmethod
    def function_of(self, function: str, argument: Any) -> Any:
        """One value of an elementary function.

        Raises:
            Undefined: there is none.
        """

    @abstractmethod
    def sign_of(self, value: Any) -> int:
        """The sign of one number.

        Raises:
            Undefined: it cannot be told.
        """

    def power(self, base: Array, exponent: Fraction) -> tuple[Array, Reasons]:
        return self._each(base, lambda value: self.power_of(value, exponent), self.dtype, self.constant_of(1))

    def apply(self, function: str, argument: Array) -> tuple[Array, Reasons]:
        return self._each(argument, lambda value: self.function_of(function, value), self.dtype, self.constant_of(1))

    def sign(self, values: Array) -> tuple[Array, Reasons]:
        return self._each(values, self.sign_of, np.int8, 0)

    @staticmethod
    def _each(
        values: Array, function: Callable[[Any], Any], dtype: npt.DTypeLike, otherwise: Any
    ) -> tuple[Array, Reasons]:
        """A function of each number, with `otherwise` where it has no value."""
        result = np.empty(values.shape, dtype=dtype)
        reasons: Reasons = None
        for at, value in np.ndenumerate(values):
            try:
                result[at] = function(value)
            except Undefined as error:
                if reasons is None:
                    reasons = np.zeros(values.shape, dtype=np.int8)
                reasons[at] = error.reason
                result[at] = otherwise
        return result, reasons
