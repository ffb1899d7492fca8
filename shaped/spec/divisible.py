"""Equations between callers' ints that hold once every division in them leaves no rest.

Ints that a caller chooses are chosen to fit: an even `d_model`, an `image_size` that is a multiple of `patch`. Sizes of
data (dim names of annotations) are not, so an equation that depends on one is never taken for granted here.
"""

from __future__ import annotations

import math

from shaped.spec.dims import Dim, FloorDiv, Kind, Min, Symbol

_SAMPLES = 3


def divisions(difference: Dim) -> list[tuple[Dim, Dim]]:
    """The divisions of a single product, as `d_model // n_heads`, in a size."""
    found: list[tuple[Dim, Dim]] = []
    for atom in difference.atoms():
        if isinstance(atom, FloorDiv) and len(atom.numerator.terms) == 1:
            found.append((atom.numerator, atom.denominator))
    return found


def holds_if_divisible(difference: Dim) -> bool:
    """Whether `difference` is 0 wherever the divisions in it leave no rest, if it only depends on callers' ints.

    Decided at sizes where they leave none; the answer only turns an error into an assumption.

    >>> d = Dim.quantity("d")
    >>> holds_if_divisible((d + 1) // 2 - d // 2), holds_if_divisible(d - 2)
    (True, False)
    """
    symbols = sorted(difference.symbols(), key=lambda symbol: symbol.sort_key)
    if any(symbol.kind is not Kind.QUANTITY for symbol in symbols):
        return False
    denominators = list(_denominators(difference))
    if not denominators:
        return False
    divisors = {symbol for denominator in denominators for symbol in denominator.symbols()}
    constants = [abs(constant) for constant in (d.constant for d in denominators) if constant]
    common = math.lcm(*constants)
    for sample in range(1, _SAMPLES + 1):
        values: dict[Symbol, int] = {}
        small = [2, 3, 5, 4][: len(divisors)]
        for i, symbol in enumerate(sorted(divisors, key=lambda symbol: symbol.sort_key)):
            values[symbol] = small[(i + sample) % len(small)] * common
        multiple = common * common * math.prod(small) ** 2
        for i, symbol in enumerate(symbol for symbol in symbols if symbol not in divisors):
            values[symbol] = multiple * (sample + 2 * i + 1)
        try:
            if difference.evaluate(values) != 0:
                return False
        except ZeroDivisionError:
            return False
    return True


def _denominators(dim: Dim) -> list[Dim]:
    found: list[Dim] = []
    for atom in dim.atoms():
        match atom:
            case FloorDiv(numerator, denominator):
                found += [denominator, *_denominators(numerator), *_denominators(denominator)]
            case Min(choices):
                for choice in choices:
                    found += _denominators(choice)
    return found
