"""Numbers with a derivative in one direction, over any other number system: `f(a + e b) = f(a) + e f'(a) b`.

W. K. Clifford, "Preliminary sketch of biquaternions", 1871. The tensors of an expression are given with `Duals.of`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shaped.spec.scalars.system import Array, ObjectScalars, Reason, Reasons, Undefined

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from shaped.spec.scalars.system import Scalars


@dataclass(frozen=True, slots=True)
class Dual:
    """A number and its derivative, both of the inner system; `ties` is how many equal numbers it is the greatest of."""

    value: Any
    tangent: Any
    ties: int = 1

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.value + other.value, self.tangent + other.tangent)

    def __mul__(self, other: Dual) -> Dual:
        return Dual(self.value * other.value, self.value * other.tangent + self.tangent * other.value)


class Duals(ObjectScalars):
    """Numbers of another system with derivatives.

    Args:
        inner: the system of the values and the derivatives.

    >>> from shaped.spec.scalars.fractions import Fractions
    >>> duals = Duals(Fractions())
    >>> square = duals.power_of(duals.of([3], [1]).item(), Fraction(2))
    >>> print(square.value, square.tangent)
    9 6
    """

    name = "duals"

    def __init__(self, inner: Scalars) -> None:
        self.inner = inner

    def computing(self) -> AbstractContextManager[None]:
        return self.inner.computing()

    def of(self, values: Any, direction: Any) -> Array:
        """A tensor that moves in a direction."""
        pairs = np.frompyfunc(Dual, 2, 1)
        with self.computing():
            return np.asarray(pairs(self.inner.array(values), self.inner.array(direction)), dtype=object)

    def constant(self, value: Fraction) -> Dual:
        return Dual(self.inner.constant(value), self._zero)

    def pi(self) -> Dual:
        return Dual(self.inner.pi(), self._zero)

    def given(self, value: Any) -> Dual:
        return value if isinstance(value, Dual) else Dual(self.inner.given(value), self._zero)

    def power_of(self, base: Any, exponent: Fraction) -> Dual:
        value = _only(self.inner.power(self._array(base.value), exponent))
        if exponent == 2:
            slope = base.value * self.inner.constant_of(2)
        else:
            lower = _only(self.inner.power(self._array(base.value), exponent - 1))
            slope = lower * self.inner.constant(exponent)
        return Dual(value, slope * base.tangent)

    def function_of(self, function: str, argument: Any) -> Dual:
        # The expressions of the slopes stand above the number systems that they are computed in.
        from shaped.spec.evaluation.evaluate import evaluate
        from shaped.spec.evaluation.slopes import slope
        from shaped.spec.expr import Variable

        value = _only(self.inner.apply(function, self._array(argument.value)))
        steepness = slope(function, Variable("x", ())[()])
        if steepness is None:
            return Dual(value, self._zero)
        return Dual(value, evaluate(steepness, [], self.inner, {}, {"x": argument.value}).item() * argument.tangent)

    def sign_of(self, value: Any) -> int:
        return int(_only(self.inner.sign(self._array(value.value))))

    def greatest(self, left: Array, right: Array) -> tuple[Array, Reasons]:
        """The greater numbers; among equal ones the derivative is their mean, as the gradient is split evenly."""
        sign, reasons = self.sign(self.add(left, self.multiply(right, np.asarray(self.constant_of(-1), dtype=object))))
        return np.asarray(np.frompyfunc(self._greater, 3, 1)(sign, left, right), dtype=object), reasons

    def greatest_found(self, values: Array) -> Array:
        alone = np.frompyfunc(lambda each: Dual(each.value, each.tangent), 1, 1)
        return np.asarray(alone(values), dtype=object)

    def _greater(self, sign: int, left: Dual, right: Dual) -> Dual:
        if sign:
            return left if sign > 0 else right
        ties = left.ties + right.ties
        shares = [each.tangent * self.inner.constant(Fraction(each.ties, ties)) for each in (left, right)]
        return Dual(left.value, shares[0] + shares[1], ties)

    @property
    def _zero(self) -> Any:
        return self.inner.constant_of(0)

    def _array(self, value: Any) -> Array:
        return self.inner.full((1,), value)


def _only(found: tuple[Array, Reasons]) -> Any:
    """The only number of an array.

    Raises:
        Undefined: there is none.
    """
    values, reasons = found
    if reasons is not None and reasons[0]:
        raise Undefined(Reason(int(reasons[0])))
    return values[0]
