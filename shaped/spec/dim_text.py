"""How sizes are printed: `d%h`, `ceil(h/2)` and `max(t, 3)` again, which the normal form holds by other means."""

from __future__ import annotations

from shaped.spec.bounds import is_positive
from shaped.spec.dims import ONE_MONOMIAL, Atom, Dim, FloorDiv, Min, Monomial, multiply
from shaped.spec.normal_form import divide_monomial


def text(dim: Dim) -> str:
    """`dim` as Python writes it, with the constant last and positive terms first: `t-1`, not `-1+t`."""
    left = dict(dim.terms)
    pieces: list[tuple[Monomial, int, str]] = []  # the remaining factors, the coefficient, and a recognised factor
    for monomial, _ in dim.terms:
        for atom, power in monomial:
            if isinstance(atom, FloorDiv) and power == 1 and monomial in left:
                recognised = _take_remainder(left, monomial, atom) or _take_rounded_up(left, monomial, atom)
                if recognised is not None:
                    pieces.append(recognised)
                    break
    pieces.extend((monomial, coefficient, "") for monomial, coefficient in left.items())
    pieces.sort(key=lambda piece: (piece[0] == ONE_MONOMIAL and not piece[2], _is_negative(piece)))
    printed = ""
    for piece in pieces:
        printed += _term(*piece, first=not printed)
    return printed or "0"


def comparison(left: Dim, sign: str, right: Dim) -> str:
    """`left sign right` with the terms of `left - right` on the sides where they are positive.

    >>> t = Dim.name("t")
    >>> comparison(-t, "<=", Dim.of(-3))
    '3 <= t'
    """
    difference = left - right
    positive = Dim({monomial: c for monomial, c in difference.terms if c > 0})
    return f"{positive} {sign} {positive - difference}"


def _is_negative(piece: tuple[Monomial, int, str]) -> bool:
    monomial, coefficient, recognised = piece
    return (coefficient < 0) != (not recognised and any(_is_maximum(atom) and power % 2 for atom, power in monomial))


def _is_maximum(atom: Atom) -> bool:
    """Whether a minimum is better read as minus a maximum."""
    return isinstance(atom, Min) and all(c < 0 for choice in atom.choices for _, c in choice.terms)


def _take(left: dict[Monomial, int], wanted: Dim) -> bool:
    """Take `wanted` out of the terms that are left, if it is there with the same signs."""
    for monomial, coefficient in wanted.terms:
        there = left.get(monomial, 0)
        if there * coefficient <= 0 or abs(there) < abs(coefficient):
            return False
    for monomial, coefficient in wanted.terms:
        left[monomial] -= coefficient
        if not left[monomial]:
            del left[monomial]
    return True


def _take_remainder(left: dict[Monomial, int], monomial: Monomial, atom: FloorDiv) -> tuple[Monomial, int, str] | None:
    """x - y*(x//y) as x%y."""
    if len(atom.denominator.terms) != 1:
        return None
    ((by, divisor),) = atom.denominator.terms
    outside = divide_monomial(monomial, multiply(by, ((atom, 1),)))
    if outside is None or left[monomial] % divisor:
        return None
    times = -left[monomial] // divisor
    factor = Dim({outside: times})
    if not _take(left, factor * (atom.numerator - atom.denominator * Dim.atom(atom))):
        return None
    return outside, times, f"{operand(atom.numerator)}%{operand(atom.denominator)}"


def _take_rounded_up(left: dict[Monomial, int], monomial: Monomial, atom: FloorDiv) -> tuple[Monomial, int, str] | None:
    """(x+k-1)//k, x-x//2, (x-1)//y+1 and -(-x//y), all as ceil(x/k)."""
    numerator, denominator = atom.numerator, atom.denominator
    outside = divide_monomial(monomial, ((atom, 1),))
    assert outside is not None
    times = left[monomial]
    factor = Dim({outside: times})
    divisor, shift = denominator.constant, numerator.constant_part
    if divisor is not None and shift == divisor - 1:
        rounded = numerator - shift
        del left[monomial]
    elif divisor == 2 and not shift and _take(left, -factor * (numerator - Dim.atom(atom))):
        rounded, times = numerator, -times
    elif shift == -1 and is_positive(denominator) and _take(left, factor * (Dim.atom(atom) + 1)):
        rounded = numerator + 1
    elif times < 0 and numerator.terms and all(c < 0 for _, c in numerator.terms):
        rounded, times = -numerator, -times
        del left[monomial]
    else:
        return None
    return outside, times, f"ceil({operand(rounded)}/{operand(denominator)})"


def _term(monomial: Monomial, coefficient: int, recognised: str, *, first: bool) -> str:
    """One term with its sign; `recognised` is one more factor."""
    factors = []
    for atom, power in monomial:
        if _is_maximum(atom) and power % 2:
            coefficient = -coefficient
        factors.extend([_atom(atom)] * power)
    if recognised:
        factors.append(recognised)
    size = abs(coefficient)
    if size != 1 or not factors:
        factors.insert(0, str(size))
    # In Python -h%8 is (-h)%8.
    if len(factors) > 1 or (first and coefficient < 0):
        factors = [f"({factor})" if _is_quotient(factor) else factor for factor in factors]
    sign = "-" if coefficient < 0 else "" if first else "+"
    return sign + "*".join(factors)


def _atom(atom: Atom) -> str:
    match atom:
        case FloorDiv(numerator, denominator):
            return f"{operand(numerator)}//{operand(denominator)}"
        case Min(choices):
            if _is_maximum(atom):
                return f"max({', '.join(str(-choice) for choice in choices)})"
            return f"min({', '.join(map(str, choices))})"
        case _:
            return str(atom)


def _is_quotient(factor: str) -> bool:
    """Whether a text is a division or a remainder, outside of all parentheses."""
    depth = 0
    for character in factor:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if not depth and character in "/%":
            return True
    return False


def operand(dim: Dim) -> str:
    """`dim` as an operand of a division."""
    printed = str(dim)
    simple = dim.constant is not None or (dim.single_atom is not None and not _is_quotient(printed))
    return printed if simple and not printed.startswith("-") else f"({printed})"
