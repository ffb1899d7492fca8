"""Residues modulo the prime 2^61 - 1 that remember, where asked, of which terms and factors they are made."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PRIME = 2**61 - 1
_MOST_TERMS = 64  # products of sums are multiplied out up to here, to find `exp((a + b) c) = exp(ac) exp(bc)`

Terms = dict[int, Fraction]
"""A linear combination of residues, each the smaller one of `v` and `-v`; or a product of powers of residues."""


def residue_of(value: Fraction) -> int:
    """A rational number as a residue."""
    return value.numerator * pow(value.denominator, -1, PRIME) % PRIME


class FieldNumber:
    """A residue with its shadow.

    Args:
        residue: the number modulo the prime.
        shadow: a float at which the same expression has this value.
        terms: gives the linear combination that the number is, for exp; None for the number itself.
        factors: gives the product of powers that its magnitude is, for log and roots; None for the number itself.
    """

    __slots__ = ("_factors", "_terms", "residue", "shadow")

    def __init__(
        self,
        residue: int,
        shadow: float,
        terms: Callable[[], Terms] | None = None,
        factors: Callable[[], Terms] | None = None,
    ) -> None:
        self.residue = residue
        self.shadow = shadow
        self._terms: Callable[[], Terms] | Terms | None = terms
        self._factors: Callable[[], Terms] | Terms | None = factors

    @property
    def terms(self) -> Terms:
        """The linear combination that the number is."""
        if self._terms is None:
            self._terms = _single(self.residue)
        elif not isinstance(self._terms, dict):
            self._terms = self._terms()
        return self._terms

    @property
    def factors(self) -> Terms:
        """The product of powers that the magnitude of the number is."""
        if self._factors is None:
            self._factors = {self.residue if self.shadow >= 0 else -self.residue % PRIME: Fraction(1)}
        elif not isinstance(self._factors, dict):
            self._factors = self._factors()
        return self._factors

    @property
    def constant(self) -> Fraction | None:
        """The rational number that it is for all inputs, None if it depends on them."""
        return self.terms.get(1, Fraction(0)) if not self.terms or list(self.terms) == [1] else None

    def __add__(self, other: FieldNumber) -> FieldNumber:
        return FieldNumber(
            (self.residue + other.residue) % PRIME,
            self.shadow + other.shadow,
            lambda: _joined(self.terms, other.terms),
        )

    def __mul__(self, other: FieldNumber) -> FieldNumber:
        residue = self.residue * other.residue % PRIME
        return FieldNumber(
            residue,
            self.shadow * other.shadow,
            lambda: multiplied(self.terms, other.terms, residue),
            lambda: _joined(self.factors, other.factors),
        )

    def __repr__(self) -> str:
        return f"FieldNumber({self.residue}, {self.shadow})"


def constant(value: Fraction) -> FieldNumber:
    """A rational number."""
    return FieldNumber(
        residue_of(value), float(value), lambda: {1: value} if value else {}, lambda: _primes(abs(value))
    )


def canonical(residue: int) -> tuple[int, int]:
    """The smaller one of a residue and its negative, and the sign."""
    return (residue, 1) if residue <= PRIME // 2 else (PRIME - residue, -1)


def _single(residue: int) -> Terms:
    if residue == 0:
        return {}
    smaller, sign = canonical(residue)
    return {smaller: Fraction(sign)}


def _joined(left: Terms, right: Terms) -> Terms:
    joined = dict(left)
    for key, value in right.items():
        total = joined.get(key, Fraction(0)) + value
        if total:
            joined[key] = total
        else:
            joined.pop(key, None)
    return joined


def multiplied(left: Terms, right: Terms, residue: int) -> Terms:
    """The product of two linear combinations, multiplied out where it is small."""
    if len(left) * len(right) > _MOST_TERMS:
        return _single(residue)
    total: Terms = {}
    for one, a in left.items():
        for other, b in right.items():
            smaller, sign = canonical(one * other % PRIME)
            total = _joined(total, {smaller: sign * a * b})
    return total


def _primes(value: Fraction) -> Terms:
    """A positive fraction as a product of powers of primes; 0 as itself."""
    if not value:
        return {0: Fraction(1)}
    found: Terms = {}
    for number, sign in ((value.numerator, 1), (value.denominator, -1)):
        divisor = 2
        while divisor * divisor <= number and divisor < 10**4:  # a larger factor is kept, prime or not
            while number % divisor == 0:
                found[divisor] = found.get(divisor, Fraction(0)) + sign
                number //= divisor
            divisor += 1
        if number > 1:
            found[number % PRIME] = found.get(number % PRIME, Fraction(0)) + sign
    return {prime: power for prime, power in found.items() if power}
