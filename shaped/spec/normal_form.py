"""The normal forms of floor division and of min: what is whole is taken out, what is common is cancelled.

Every step is an identity of integers that holds wherever the denominator is not zero.
"""

from __future__ import annotations

import math
from functools import lru_cache

from shaped.spec.bounds import is_positive, lower_bound
from shaped.spec.dims import ONE_MONOMIAL, ZERO, Dim, FloorDiv, Min, Monomial
from shaped.spec.opaque import bounded


def floor_divide(numerator: Dim, denominator: Dim) -> Dim:
    """numerator // denominator.

    Raises:
        ZeroDivisionError: the denominator is zero for all sizes.

    >>> h = Dim.name("h")
    >>> print((2 * h + 5) // 2, (h // 2 + 1) // 3)
    h+2 (h+2)//6
    """
    if not denominator.terms:
        raise ZeroDivisionError(f"{numerator}//0")
    if denominator.terms[0][1] < 0:
        numerator, denominator = -numerator, -denominator
    if denominator == 1 or not numerator.terms:
        return numerator
    return _floor_divide(numerator, denominator)


@lru_cache(maxsize=4096)
def _floor_divide(numerator: Dim, denominator: Dim) -> Dim:
    over = numerator.constant, denominator.constant
    if over[0] is not None and over[1] is not None:
        return Dim.of(over[0] // over[1])
    positive = is_positive(denominator)
    if positive and _has_negative_lead(numerator, denominator.constant):
        # floor(x/y) = -floor((y-1-x)/y) for y > 0: one form for what is rounded up.
        return -floor_divide(denominator - 1 - numerator, denominator)
    whole, rest = divide(numerator, denominator)
    if whole.terms:
        return whole + floor_divide(rest, denominator)
    cancelled = _without_common_factor(numerator, denominator, positive=positive)
    if cancelled is not None:
        return floor_divide(*cancelled)
    joined = _with_inner_floor_joined(numerator, denominator) if positive else None
    if joined is not None:
        return floor_divide(*joined)
    return bounded(Dim.atom(FloorDiv(numerator, denominator)))


def divide(numerator: Dim, denominator: Dim) -> tuple[Dim, Dim]:
    """whole and rest with numerator = denominator*whole + rest; by several terms only where it leaves fewer terms.

    >>> a, b = Dim.name("a"), Dim.name("b")
    >>> whole, rest = divide(a * b + b + 3, a + 1)
    >>> print(whole, rest)
    b 3
    """
    lead, divisor = denominator.terms[0]
    whole: dict[Monomial, int] = {}
    if len(denominator.terms) == 1:
        rest = {}
        for monomial, coefficient in numerator.terms:
            quotient = divide_monomial(monomial, lead)
            if quotient is None:
                rest[monomial] = coefficient
            else:
                whole[quotient], rest[monomial] = divmod(coefficient, divisor)
        return Dim(whole), Dim(rest)
    left, passed = numerator, ZERO
    while left.terms:
        monomial, coefficient = left.terms[0]
        quotient = divide_monomial(monomial, lead)
        count = coefficient // divisor if quotient is not None else 0
        if quotient is not None and count:
            whole[quotient] = count
            left = left - Dim({quotient: count}) * denominator
        if left.terms and left.terms[0][0] == monomial:
            first = Dim({monomial: left.terms[0][1]})
            left, passed = left - first, passed + first
    if len(passed.terms) < len(numerator.terms):
        return Dim(whole), passed
    return ZERO, numerator


def divide_monomial(monomial: Monomial, by: Monomial) -> Monomial | None:
    """The quotient of two monomials, None if it is none."""
    if not by:
        return monomial
    powers = dict(monomial)
    for atom, power in by:
        left = powers.get(atom, 0) - power
        if left < 0:
            return None
        powers[atom] = left
    return tuple((atom, power) for atom, power in powers.items() if power)


def common_monomial(dim: Dim) -> Monomial:
    """The atoms that all terms share.

    >>> a, b = Dim.name("a"), Dim.name("b")
    >>> print(Dim({common_monomial(a * a * b + 3 * a * b): 1}))
    a*b
    """
    if not dim.terms:
        return ONE_MONOMIAL
    shared = dict(dim.terms[0][0])
    for monomial, _ in dim.terms[1:]:
        if not shared:
            break
        powers = dict(monomial)
        shared = {atom: min(power, powers[atom]) for atom, power in shared.items() if atom in powers}
    return tuple(shared.items())


def _has_negative_lead(numerator: Dim, divisor: int | None) -> bool:
    """Whether the numerator counts as negative: of x and -1-x one does, up to multiples of the divisor."""
    if divisor is None:
        return numerator.terms[0][1] < 0
    fallback = False
    for monomial, coefficient in reversed(numerator.terms):
        rest = coefficient % divisor
        if not monomial or not rest:
            continue
        # A half is its own negative: the next term decides, or its sign if all are halves.
        if 2 * rest != divisor:
            decided = 2 * rest > divisor
            break
        fallback = coefficient < 0
    else:
        return fallback
    return decided


def _without_common_factor(numerator: Dim, denominator: Dim, *, positive: bool) -> tuple[Dim, Dim] | None:
    """The fraction without the atoms and the number that both sides share, None if they share nothing."""
    shared = common_monomial(Dim(dict.fromkeys((*dict(numerator.terms), *dict(denominator.terms)), 1)))
    factor = math.gcd(*(c for _, c in denominator.terms), *(c for m, c in numerator.terms if m))
    # floor((g*y + c) / (g*z)) = floor((y + floor(c/g)) / z) for z > 0; for other z only where g divides c.
    if not positive and numerator.constant_part % factor:
        factor = math.gcd(factor, numerator.constant_part)
    if factor == 1 and not shared:
        return None

    def reduced(dim: Dim) -> Dim:
        terms = ((divide_monomial(monomial, shared), coefficient) for monomial, coefficient in dim.terms)
        return Dim({monomial: coefficient // factor for monomial, coefficient in terms if monomial is not None})

    return reduced(numerator), reduced(denominator)


def _with_inner_floor_joined(numerator: Dim, denominator: Dim) -> tuple[Dim, Dim] | None:
    """The one fraction that a floor within a fraction is, None if there is not exactly one to join."""
    floors = [
        (atom, monomial, coefficient)
        for monomial, coefficient in numerator.terms
        for atom, _ in monomial
        if isinstance(atom, FloorDiv)
    ]
    if len(floors) != 1:
        return None
    inner, monomial, coefficient = floors[0]
    others = numerator - Dim({monomial: coefficient})
    if monomial != ((inner, 1),) or (others.constant is None and inner.denominator.constant is None):
        return None
    # floor((floor(x/a) + w) / b) = floor((x + a*w) / (a*b)) for b > 0.
    if coefficient == 1:
        return inner.numerator + inner.denominator * others, inner.denominator * denominator
    # -floor(x/a) = floor((a-1-x) / a) for a > 0.
    if coefficient == -1 and is_positive(inner.denominator):
        top = inner.denominator * (others + 1) - 1 - inner.numerator
        return top, inner.denominator * denominator
    return None


def least_of(dims: list[Dim]) -> Dim:
    """The least of `dims`."""
    choices: list[Dim] = []
    for dim in _without_nested_minima(dims):
        if not any(_is_evidently_at_least(dim, kept) for kept in choices):
            choices = [kept for kept in choices if not _is_evidently_at_least(kept, dim)]
            choices.append(dim)
    if len(choices) == 1:
        return choices[0]
    # What is common is taken out: min(t+1, s+3) = min(t, s+2)+1, min(2*t, 2*s) = 2*min(t, s).
    shift = min(choice.constant_part for choice in choices if choice.constant is None)
    choices = [choice - shift for choice in choices]
    factor = math.gcd(*(coefficient for choice in choices for _, coefficient in choice.terms))
    choices = [Dim({m: c // factor for m, c in choice.terms}) for choice in choices]
    ordered = sorted(set(choices), key=lambda dim: (dim.constant is not None, dim.sort_key))
    least = bounded(Dim.atom(Min(tuple(ordered)))) if len(ordered) > 1 else ordered[0]
    return factor * least + shift


def _is_evidently_at_least(a: Dim, b: Dim) -> bool:
    low = lower_bound(a - b)
    return low is not None and low >= 0


def _without_nested_minima(dims: list[Dim]) -> list[Dim]:
    flat: list[Dim] = []
    for dim in dims:
        (monomial, coefficient), *others = dim.terms or ((ONE_MONOMIAL, 0),)
        atom = monomial[0][0] if len(monomial) == 1 and monomial[0][1] == 1 else None
        # A shifted and scaled minimum is the minimum of its shifted and scaled choices.
        if isinstance(atom, Min) and coefficient > 0 and all(not m for m, _ in others):
            flat.extend(coefficient * choice + dim.constant_part for choice in atom.choices)
        else:
            flat.append(dim)
    return flat
