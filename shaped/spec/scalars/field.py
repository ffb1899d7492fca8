"""Exact arithmetic modulo the prime 2^61 - 1, with functions of which only the laws are used.

Two different polynomials of degree d agree at a random residue with probability at most d / 2^61 (Schwartz 1980, Zippel
1979). A function such as exp has no counterpart among residues; an *image* stands for it, drawn at random but so that
the laws hold: `exp(a + b) = exp(a) exp(b)`, `log(exp(a)) = a`, `log(ab) = log(a) + log(b)`, `sin^2 + cos^2 = 1`, odd
and even functions. So equal residues of two expressions mean that they are equal by algebra and these laws, all but
certainly; unequal residues may only mean that another law is needed.

A number carries a float beside its residue, its *shadow*, which decides comparisons and domains.
"""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shaped.spec.scalars.field_number import PRIME, FieldNumber, Terms, canonical, constant, multiplied
from shaped.spec.scalars.floats import Floats
from shaped.spec.scalars.fractions import outside_domain
from shaped.spec.scalars.system import ObjectScalars, Reason, Undefined

if TYPE_CHECKING:
    from collections.abc import Callable

# The images of exp lie in the subgroup of this order, which no prime up to 13 divides: there each has one n-th root for
# n a product of these primes, which exp(x/n) stands for.
_ORDER = (PRIME - 1) // (2 * 3**2 * 5**2 * 7 * 11 * 13)
# Below this a shadow may be the rounding error of a number that is 0 by a law that residues lack.
_NOISE = 1e-9
_FLOATS = Floats()


class Field(ObjectScalars):
    """Residues modulo 2^61 - 1 with images of functions.

    Args:
        seed: what the images are drawn from.

    >>> field = Field()
    >>> a, b = field.variable("a", 0.5), field.variable("b", -1.5)
    >>> product = field.function_of("exp", a) * field.function_of("exp", b)
    >>> field.function_of("exp", a + b).residue == product.residue
    True
    """

    name = "field"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._exp: dict[int, int] = {}  # the exp of images of log
        self._log: dict[int, FieldNumber] = {}  # the log of images of exp
        self._log_images: dict[int, FieldNumber] = {}

    def variable(self, name: str, shadow: float) -> FieldNumber:
        """A random residue for a variable whose value is `shadow` where comparisons are decided."""
        return FieldNumber(self._oracle(f"variable {name}"), shadow)

    def constant(self, value: Fraction) -> FieldNumber:
        return constant(value)

    def pi(self) -> FieldNumber:
        return FieldNumber(self._oracle("pi"), math.pi)

    def given(self, value: Any) -> FieldNumber:
        return value if isinstance(value, FieldNumber) else constant(Fraction(value))

    def sign_of(self, value: Any) -> int:
        if value.residue == 0:
            return 0
        if math.isnan(value.shadow) or abs(value.shadow) < _NOISE:
            raise Undefined(Reason.UNDECIDED)
        return 1 if value.shadow > 0 else -1

    def power_of(self, base: Any, exponent: Fraction) -> FieldNumber:
        if base.residue == 0:
            if exponent < 0:
                raise Undefined(Reason.DIVISION)
            return constant(Fraction(0))
        if exponent.denominator != 1 and base.shadow < 0:
            raise Undefined(Reason.ROOT)
        if base.shadow == 0 and exponent < 0:
            raise Undefined(Reason.UNDECIDED)

        def factors() -> Terms:
            return {factor: power * exponent for factor, power in base.factors.items()}

        if exponent.denominator == 1:
            residue = pow(base.residue, exponent.numerator, PRIME)
        else:
            residue = self._product(factors())
        shadow = _float(lambda: base.shadow ** (exponent.numerator if exponent.denominator == 1 else float(exponent)))
        value: Fraction | None = base.constant
        if value is not None and exponent.denominator == 1:
            return constant(value**exponent.numerator)
        if exponent == 2:
            return FieldNumber(residue, shadow, lambda: multiplied(base.terms, base.terms, residue), factors)
        return FieldNumber(residue, shadow, None, factors)

    def function_of(self, function: str, argument: Any) -> FieldNumber:
        shadow = argument.shadow
        if math.isnan(shadow):
            raise Undefined(Reason.UNDECIDED)
        if outside_domain(function, shadow):
            raise Undefined(Reason.DOMAIN)
        match function:
            case "abs":
                positive: FieldNumber = argument * constant(Fraction(self.sign_of(argument) or 1))
                return positive
            case "sign":
                return constant(Fraction(self.sign_of(argument)))
            case "floor" | "round":
                if math.isinf(shadow):
                    raise Undefined(Reason.UNDECIDED)
                exact = argument.constant
                whole = shadow if exact is None else exact
                return constant(Fraction(math.floor(whole) if function == "floor" else round(whole)))
        values, reasons = _FLOATS.apply(function, np.asarray([shadow]))
        # A shadow that overflows is infinite, which decides comparisons rightly.
        image = math.inf if reasons is not None else float(values[0])
        match function:
            case "exp":
                return self._exponential(argument, image)
            case "log":
                return self._logarithm(argument, image)
        return FieldNumber(self._image(function, argument), image)

    def _image(self, function: str, argument: FieldNumber) -> int:
        """The residue of a function's value."""
        if argument.residue == 0:
            at_zero = {"cos": 1, "cosh": 1, "sigmoid": pow(2, -1, PRIME), "acos": self._half_pi()}
            return (
                at_zero.get(function, 0) if function not in ("digamma", "lgamma", "acosh") else self._oracle(function)
            )
        match function:
            case "tanh" | "sigmoid" | "sinh" | "cosh":
                exp = self._exponential(argument, 1.0).residue
                inverse = pow(exp, -1, PRIME)
                match function:
                    case "sigmoid":
                        return _quotient(1, 1 + inverse)
                    case "tanh":
                        return _quotient(exp - inverse, exp + inverse)
                    case "sinh":
                        return _quotient(exp - inverse, 2)
                return _quotient(exp + inverse, 2)
            case "sin" | "cos" | "tan":
                # Of the tangent of half the angle both are rational functions, whose squares sum to 1.
                half = self._odd("tan of half", argument.residue)
                sine, cosine = 2 * half, 1 - half * half
                return (
                    _quotient(sine, cosine)
                    if function == "tan"
                    else _quotient(sine if function == "sin" else cosine, 1 + half * half)
                )
            case "acos":
                return (self._half_pi() - self._odd("asin", argument.residue)) % PRIME
            case "acosh" | "lgamma" | "digamma":
                return self._oracle(f"{function} {argument.residue}")
        return self._odd(function, argument.residue)

    def _exponential(self, argument: FieldNumber, shadow: float) -> FieldNumber:
        residue = 1
        for term, coefficient in argument.terms.items():
            residue = residue * self._exp_of(term, coefficient) % PRIME
        self._log.setdefault(residue, argument)
        return FieldNumber(residue, shadow)

    def _exp_of(self, term: int, coefficient: Fraction) -> int:
        """The image of exp of a multiple of a residue."""
        known = self._exp.get(term)
        if known is not None:
            return self._power(known, coefficient)
        if math.gcd(coefficient.denominator, _ORDER) != 1:
            raise Undefined(Reason.UNSUPPORTED)
        base = pow(self._oracle(f"exp {term}"), (PRIME - 1) // _ORDER, PRIME)
        return pow(base, coefficient.numerator * pow(coefficient.denominator, -1, _ORDER), PRIME)

    def _logarithm(self, argument: FieldNumber, shadow: float) -> FieldNumber:
        total = constant(Fraction(0))
        for factor, exponent in argument.factors.items():
            total = total + self._log_of(factor) * constant(exponent)
        return FieldNumber(total.residue, shadow, lambda: total.terms)

    def _log_of(self, factor: int) -> FieldNumber:
        known = self._log.get(factor, self._log_images.get(factor))
        if known is None:
            image = self._oracle(f"log {factor}")
            smaller, sign = canonical(image)
            self._exp[smaller] = factor if sign > 0 else pow(factor, -1, PRIME)
            known = self._log_images[factor] = FieldNumber(image, 0.0)
        return known

    def _product(self, factors: Terms) -> int:
        residue = 1
        for factor, exponent in factors.items():
            residue = residue * self._power(factor, exponent) % PRIME
        return residue

    def _power(self, base: int, exponent: Fraction) -> int:
        """A rational power of a residue.

        Raises:
            Undefined: there is none.
        """
        known = self._log.get(base)
        if exponent.denominator != 1 and known is not None:
            return self._exponential(known * constant(exponent), 1.0).residue
        roots = exponent.denominator
        while roots % 2 == 0:
            root = pow(base, (PRIME + 1) // 4, PRIME)  # a square itself, so that roots multiply
            if root * root % PRIME != base:
                raise Undefined(Reason.UNSUPPORTED)
            base, roots = root, roots // 2
        if roots != 1:
            raise Undefined(Reason.UNSUPPORTED)
        return pow(base, exponent.numerator, PRIME)

    def _half_pi(self) -> int:
        return _quotient(self._oracle("pi"), 2)

    def _odd(self, function: str, residue: int) -> int:
        """An arbitrary residue for each residue, with `f(-v) = -f(v)`."""
        smaller, sign = canonical(residue)
        return sign * self._oracle(f"{function} {smaller}") % PRIME

    def _oracle(self, text: str) -> int:
        """An arbitrary residue but 0 for each text."""
        digest = hashlib.blake2b(f"{self.seed} {text}".encode(), digest_size=16).digest()
        return int.from_bytes(digest, "big") % (PRIME - 1) + 1


def _quotient(numerator: int, denominator: int) -> int:
    if denominator % PRIME == 0:
        raise Undefined(Reason.DIVISION)
    return numerator * pow(denominator, -1, PRIME) % PRIME


def _float(compute: Callable[[], float]) -> float:
    try:
        return float(compute())
    except (OverflowError, ZeroDivisionError):
        return math.inf
