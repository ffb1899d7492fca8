"""What follows for an index expression from the ranges of its indices: bounds, and floor divisions that are exact."""

from __future__ import annotations

from functools import lru_cache

from shaped.spec.bounds import is_nonnegative as is_size_nonnegative
from shaped.spec.bounds import least_value, lower_bound
from shaped.spec.dims import ONE, ZERO, Atom, Dim, DimLike, FloorDiv, Min, Symbol, minimum
from shaped.spec.index import Index, Lookup, free_indices
from shaped.spec.normal_form import divide

Known = tuple[Dim, ...]  # sizes that are at least 0


def is_index_free(dim: Dim) -> bool:
    """Whether it depends on no index and no entry of an integer tensor."""
    return not any(isinstance(symbol, (Index, Lookup)) for symbol in dim.symbols())


@lru_cache(maxsize=65536)
def is_nonnegative(dim: Dim, known: Known = ()) -> bool:
    """Whether `dim >= 0` follows from the ranges of the indices, the least values of the sizes and what is known.

    >>> from shaped.spec.index import fresh_index
    >>> n = Dim.name("n")
    >>> i = fresh_index(n).dim
    >>> is_nonnegative(n - 1 - i), is_nonnegative(i - 1), is_nonnegative(n - 1 - i // 2)
    (True, False, True)
    """
    low = lower_bound(dim)
    if low is not None and low >= 0:
        return True
    greatest = _greatest(-dim)
    return greatest is not None and is_size_nonnegative(-greatest, known)


def is_negative(dim: Dim, known: Known = ()) -> bool:
    """Whether `dim < 0` everywhere."""
    return is_nonnegative(-dim - 1, known)


def is_within(dim: Dim, size: Dim, known: Known = ()) -> bool:
    """Whether `0 <= dim < size` everywhere."""
    return is_nonnegative(dim, known) and is_nonnegative(size - 1 - dim, known)


def greatest_size(size: Dim) -> Dim | None:
    """An index-free size that `size` is at most, None if none is found."""
    return _greatest(size)


def _greatest(dim: Dim) -> Dim | None:
    """An index-free bound from above; None if none is found."""
    total = ZERO
    for monomial, coefficient in dim.terms:
        bounded = [(atom, power) for atom, power in monomial if not is_index_free(Dim.atom(atom))]
        sizes = Dim({tuple(factor for factor in monomial if factor not in bounded): coefficient})
        if not bounded:
            total = total + sizes
            continue
        if any((low := least_value(atom)) is None or low < 0 for atom, _ in sizes.terms[0][0]):
            return None
        is_alone = len(bounded) == 1 and bounded[0][1] == 1
        for atom, power in bounded:
            bounds = _bounds(atom)
            if bounds is None:
                return None
            low_end, high_end = bounds
            if not is_alone and not is_size_nonnegative(low_end):
                return None
            sizes = sizes * (high_end if coefficient > 0 else low_end) ** power
        total = total + sizes
    return total


def _bounds(atom: Atom) -> tuple[Dim, Dim] | None:
    """Index-free bounds of an atom that depends on indices, None if they are not found."""
    match atom:
        case Index():
            return ZERO, atom.size - 1
        case Lookup():
            if atom.low is None or atom.size is None or not is_index_free(atom.size):
                return None
            return Dim.of(atom.low), atom.size - 1
        case FloorDiv(numerator, denominator):
            low, high = _greatest(-numerator), _greatest(numerator)
            if low is None or high is None or not is_index_free(denominator):
                return None
            if not is_size_nonnegative(denominator - 1):
                return None
            return -low // denominator, high // denominator
        case Min(choices):
            lows = [_greatest(-choice) for choice in choices]
            highs = [_greatest(choice) for choice in choices]
            if any(each is None for each in (*lows, *highs)):
                return None
            return minimum(*(-each for each in lows if each is not None)), minimum(
                *(each for each in highs if each is not None)
            )
    return None


@lru_cache(maxsize=65536)
def simplified(dim: Dim) -> Dim:
    """The index expression with indices of size 1 replaced by 0, and floor divisions made exact by their ranges.

    >>> from shaped.spec.index import fresh_index
    >>> b, t = Dim.name("b"), Dim.name("t")
    >>> i, j = fresh_index(b, "i").dim, fresh_index(t, "j").dim
    >>> print(simplified((i * t + j) // t))
    i
    """
    single: dict[Symbol, DimLike] = {index: 0 for index in free_indices(dim) if index.size == ONE}
    if single:
        dim = dim.substitute(single)
    if dim.is_polynomial:
        return dim
    return dim.rewrite(_exact_quotient)


def _exact_quotient(atom: Atom) -> Dim | None:
    if not isinstance(atom, FloorDiv) or is_index_free(atom.numerator):
        return None
    quotient, rest = divide(atom.numerator, atom.denominator)
    return quotient if is_within(rest, atom.denominator) else None


def coefficient_of(dim: Dim, index: Index) -> int | None:
    """The constant with which `index` stands in `dim`; 0 if it does not occur, None if it occurs otherwise."""
    found = 0
    for monomial, coefficient in dim.terms:
        if monomial == ((index, 1),):
            found = coefficient
        elif any(atom == index or index in _symbols(atom) for atom, _ in monomial):
            return None
    return found


def _symbols(atom: Atom) -> frozenset[Symbol]:
    return Dim.atom(atom).symbols()
