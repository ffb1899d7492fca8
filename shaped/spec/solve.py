"""Integer solutions of equations between sizes: linear, through floors, polynomial, products of two factors."""

from __future__ import annotations

import math

from shaped.spec.bounds import is_positive, least_value, split_by
from shaped.spec.dims import ONE_MONOMIAL, Atom, Dim, DimLike, FloorDiv, Symbol
from shaped.spec.normal_form import common_monomial, divide, divide_monomial

NOTHING = range(0)
LARGEST = 10**6  # divisors of larger numbers are not searched


def solve(equation: tuple[DimLike, DimLike], unknown: Symbol) -> Dim | range | None:
    """The values of `unknown` that satisfy an equation: one size, a range of ints, or None if it is not solvable here.

    `2*a = 6` gives 3; `(h + 2*p - k)//s + 1 = 14` with constants gives a range of `h`; an empty range says that no
    int satisfies it.

    >>> h, symbol = Dim.name("h"), Symbol("h")
    >>> print(solve((2 * h, 6), symbol), solve(((h - 3) // 2 + 1, 14), symbol), solve((2 * h, 5), symbol))
    3 range(29, 31) range(0, 0)
    """
    difference = Dim.of(equation[0]) - equation[1]
    if unknown not in difference.symbols():
        return None if difference.constant in (None, 0) else NOTHING
    if is_refuted_by_divisor(difference):
        return NOTHING
    if difference.symbols() == {unknown}:
        return _solve_numerically(difference, unknown)
    split = split_by(difference, unknown)
    if split is None or unknown in split[0].symbols() | split[1].symbols():
        return None
    factor, rest = split
    value, left = divide(-rest, factor)
    # A factor that may be zero says nothing about the unknown there.
    return value if not left.terms and (is_positive(factor) or is_positive(-factor)) else None


def _solve_numerically(difference: Dim, unknown: Symbol) -> Dim | range | None:
    atoms = set(difference.atoms())
    if len(atoms) != 1:
        return None
    (atom,) = atoms
    roots = integer_roots(difference, atom)
    if roots is None:
        return None
    if not roots:
        return NOTHING
    if len(roots) > 1:
        return None
    span = _span(atom, roots[0], roots[0], unknown)
    if span is None:
        return None
    low, high = span
    if unknown.low is not None:
        low = max(low, unknown.low)
    return Dim.of(low) if low == high else range(low, max(low, high + 1))


def _span(atom: Atom, low: int, high: int, unknown: Symbol) -> tuple[int, int] | None:
    """The least and the greatest value of `unknown` for which `atom` is from `low` to `high`."""
    if atom == unknown:
        return low, high
    if not isinstance(atom, FloorDiv) or (divisor := atom.denominator.constant) is None:
        return None
    low, high = low * divisor, high * divisor + divisor - 1
    terms = dict(atom.numerator.terms)
    shift = terms.pop(ONE_MONOMIAL, 0)
    if len(terms) != 1:
        return None
    ((monomial, times),) = terms.items()
    if len(monomial) != 1 or monomial[0][1] != 1:
        return None
    low, high = low - shift, high - shift
    if times < 0:
        low, high, times = -high, -low, -times
    return _span(monomial[0][0], -(-low // times), high // times, unknown)


def content(dim: Dim) -> int:
    """The greatest number that divides all terms."""
    return math.gcd(*(coefficient for _, coefficient in dim.terms))


def primitive(dim: Dim) -> Dim:
    """`dim` divided by what divides all terms; the first term positive."""
    factor = content(dim)
    if not factor:
        return dim
    if dim.terms[0][1] < 0:
        factor = -factor
    return dim if factor == 1 else Dim({monomial: c // factor for monomial, c in dim.terms})


def is_refuted_by_divisor(dim: Dim) -> bool:
    """Whether a number that divides all terms but the constant keeps `dim` from being zero: `2*u - 3`."""
    factor = math.gcd(*(coefficient for monomial, coefficient in dim.terms if monomial))
    return dim.constant_part % factor != 0 if factor else dim.constant_part != 0


def integer_roots(dim: Dim, atom: Atom) -> list[int] | None:
    """The values of `atom`, the only one in `dim`, for which it is zero; None if they are not searched.

    >>> h = Symbol("h", low=None)
    >>> integer_roots((Dim.atom(h) - 6) ** 2 - 1, h)
    [5, 7]
    """
    coefficients = {sum(power for _, power in monomial): c for monomial, c in dim.terms}
    least_power = min(coefficients)
    degree = max(coefficients)
    last = coefficients[least_power]
    if degree - least_power == 1 and not least_power:
        lead = coefficients[1]
        found = {-last // lead} if last % lead == 0 else set()
    elif abs(last) > LARGEST:
        return None
    else:
        found = {0} if least_power else set()
        # A root of an integer polynomial divides its last coefficient.
        found.update(
            root for root in _divisors(last) if sum(c * root ** (p - least_power) for p, c in coefficients.items()) == 0
        )
    low = least_value(atom)
    return sorted(root for root in found if low is None or root >= low)


def _divisors(number: int) -> list[int]:
    """The divisors of a number, of both signs."""
    number = abs(number)
    small = [i for i in range(1, math.isqrt(number) + 1) if number % i == 0]
    return [signed for i in small for d in {i, number // i} for signed in (d, -d)]


def two_factor_solutions(dim: Dim) -> list[dict[Atom, int]] | None:
    """The values of the two atoms x and y of `a*x*y + b*x + c*y + d` for which it is zero.

    None if it has another form, infinitely many solutions, or numbers too large to search.

    >>> h, w = Symbol("h"), Symbol("w")
    >>> len(two_factor_solutions(Dim.atom(h) * Dim.atom(w) - 6))
    4
    """
    atoms = list(dict.fromkeys(dim.atoms()))
    if len(atoms) != 2:
        return None
    x, y = atoms
    terms = dict(dim.terms)
    product = next(((m, c) for m, c in terms.items() if len(m) == 2 and all(power == 1 for _, power in m)), None)
    if product is None:
        return None
    a = product[1]
    b, c, d = terms.get(((x, 1),), 0), terms.get(((y, 1),), 0), terms.get(ONE_MONOMIAL, 0)
    if len(terms) != 1 + bool(b) + bool(c) + bool(d):
        return None
    # (a*x + c) * (a*y + b) = b*c - a*d.
    number = b * c - a * d
    if not number or abs(number) > LARGEST:
        return None
    low_x, low_y = least_value(x), least_value(y)
    found: list[dict[Atom, int]] = []
    for first in _divisors(number):
        second = number // first
        if (first - c) % a or (second - b) % a:
            continue
        value_x, value_y = (first - c) // a, (second - b) // a
        if (low_x is None or value_x >= low_x) and (low_y is None or value_y >= low_y):
            found.append({x: value_x, y: value_y})
    return found


def without_nonzero_factors(dim: Dim) -> tuple[Dim, Dim]:
    """factor and rest with dim = factor*rest, where the factor is the product of shared atoms that are never zero."""
    shared = tuple(
        (atom, power) for atom, power in common_monomial(dim) if (low := least_value(atom)) is not None and low >= 1
    )
    if not shared:
        return Dim.of(1), dim
    quotients = ((divide_monomial(monomial, shared), coefficient) for monomial, coefficient in dim.terms)
    return Dim({shared: 1}), Dim({m: c for m, c in quotients if m is not None})
