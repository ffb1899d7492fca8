"""Lower bounds of sizes: from the least values of names, and from what is known to be at least 0."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from shaped.spec.dims import Atom, Dim, FloorDiv, Min, Monomial, Symbol

MOST_STEPS = 40  # of one proof
LONGEST = 20  # terms of a size for which a proof is sought
DEEPEST = 4  # eliminations and known facts, one after the other

Powers = frozenset[tuple[Atom, int]]


def lower_bound(dim: Dim) -> int | None:
    """A value that `dim` is at least, None if none is found. It is reached where no floor or min takes part.

    >>> a, b = Dim.name("a"), Dim.name("b")
    >>> lower_bound(a * b - a), lower_bound(a - b)
    (0, None)
    """
    total = 0
    for monomial, coefficient in dim.terms:
        if coefficient < 0 and monomial:
            return _lower_bound_after_shift(dim)
        for atom, power in monomial:
            low = least_value(atom)
            if low is None:
                return None
            if low < 0:
                return _lower_bound_after_shift(dim)
            coefficient *= low**power
        total += coefficient
    return total


def lower_bound_where(dim: Dim, known: tuple[Dim, ...]) -> int | None:
    """A value that `dim` is at least where each of `known` is at least 0, None if none is found."""
    bounds = [lower_bound(dim)]
    for fact in known:
        if not fact.symbols().isdisjoint(dim.symbols()):
            bounds.extend(lower_bound(dim - times * fact) for times in {1} | _useful_multiples(dim, fact))
    return max((bound for bound in bounds if bound is not None), default=None)


def least_value(atom: Atom) -> int | None:
    """A value that `atom` is at least, None if none is found."""
    if isinstance(atom, Symbol):
        return atom.low
    if isinstance(atom, FloorDiv):
        low, divisor = lower_bound(atom.numerator), atom.denominator.constant
        if low is None or not is_positive(atom.denominator):
            return None
        # x//y is at least 0 for x >= 0, and at least x for x < 0, when y >= 1.
        return low // divisor if divisor is not None else min(low, 0)
    lows = [lower_bound(choice) for choice in atom.choices]
    return None if None in lows else min(low for low in lows if low is not None)


def is_positive(dim: Dim) -> bool:
    """Whether it is evidently at least 1."""
    low = lower_bound(dim)
    return low is not None and low >= 1


def _lower_bound_after_shift(dim: Dim) -> int | None:
    """The bound of the polynomial in x - low(x) for all its names x, which are at least 0 each."""
    lows: dict[Atom, int | None] = {}
    total: dict[Powers, int] = {}
    for monomial, coefficient in dim.terms:
        expanded: dict[Powers, int] = {frozenset(): coefficient}
        for atom, power in monomial:
            if atom not in lows:
                lows[atom] = least_value(atom)
            low = lows[atom]
            for _ in range(power):
                step: dict[Powers, int] = {}
                for powers, c in expanded.items():
                    raised = _raised(powers, atom)
                    step[raised] = step.get(raised, 0) + c
                    if low:
                        step[powers] = step.get(powers, 0) + low * c
                expanded = step
        for powers, c in expanded.items():
            total[powers] = total.get(powers, 0) + c
    bound = total.pop(frozenset(), 0)
    for powers, c in total.items():
        if c < 0 or (c and any(lows[atom] is None for atom, _ in powers)):
            return None
    return bound


def _raised(powers: Powers, atom: Atom) -> Powers:
    for known, power in powers:
        if known == atom:
            return powers - {(known, power)} | {(atom, power + 1)}
    return powers | {(atom, 1)}


def is_nonnegative(dim: Dim, known: tuple[Dim, ...] = ()) -> bool:
    """Whether `dim` is proved to be at least 0 where each of `known` is; False if no short proof is found.

    >>> t, k = Dim.name("t"), Dim.name("k")
    >>> is_nonnegative(t - k * (t // k)), is_nonnegative(t - 3), is_nonnegative(t - 3, known=(t - 5,))
    (True, False, True)
    """
    low = lower_bound(dim)
    if low is not None and low >= 0:
        return True
    if dim.constant is not None or len(dim.terms) > LONGEST:
        return False
    return _is_proved_nonnegative(dim, _about(dim, known))


def _about(dim: Dim, known: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """What of `known` is about the names of `dim`, or about those of another fact about them."""
    names = dim.symbols()
    while known:
        added = frozenset().union(*(symbols for fact in known if not names.isdisjoint(symbols := fact.symbols())))
        if added <= names:
            break
        names |= added
    return tuple(fact for fact in known if not names.isdisjoint(fact.symbols()))


@lru_cache(maxsize=4096)
def _is_proved_nonnegative(dim: Dim, known: tuple[Dim, ...]) -> bool:
    return _may_be_nonnegative(dim, known) and _Proof().of_nonnegative(dim, known, DEEPEST)


class _Proof:
    """The search for one proof, in a bounded number of steps."""

    def __init__(self) -> None:
        self.steps = 0

    def of_nonnegative(self, dim: Dim, known: tuple[Dim, ...], depth: int) -> bool:
        """Whether it is at least 0, by the elimination of floors and mins and by what is known."""
        self.steps += 1
        low = lower_bound(dim)
        if low is not None and low >= 0:
            return True
        if dim.constant is not None or depth == 0 or self.steps > MOST_STEPS:
            return False
        if not known and not _may_be_nonnegative(dim, known):
            return False
        if any((low := lower_bound(dim - fact)) is not None and low >= 0 for fact in known):
            return True
        shared, rest = _without_shared(dim)
        if shared:
            return self.of_nonnegative(rest, known, depth - 1)
        atoms = list(dict.fromkeys(dim.atoms()))
        for atom in atoms:
            if isinstance(atom, Min):
                return self._for_choices(dim, atom, known, depth - 1)
        for atom in atoms:
            if isinstance(atom, FloorDiv):
                weaker = _without_floor(dim, atom, known)
                if weaker is not None and self.of_nonnegative(weaker, known, depth - 1):
                    return True
        for i, fact in enumerate(known):
            if not dim.symbols().isdisjoint(fact.symbols()):
                others = known[:i] + known[i + 1 :]
                for times in _useful_multiples(dim, fact) or {1}:
                    if self.of_nonnegative(dim - times * fact, others, depth - 1):
                        return True
        return False

    def _for_choices(self, dim: Dim, atom: Min, known: tuple[Dim, ...], depth: int) -> bool:
        split = split_by(dim, atom)

        def chosen(choice: Dim) -> Dim:
            return dim.replace_atoms(lambda other: choice if other == atom else None)

        # Where the minimum counts negatively, the size is at least what it is with any one choice.
        counts_negatively = split is not None and (low := lower_bound(-split[0])) is not None and low >= 0
        if counts_negatively and any(self.of_nonnegative(chosen(choice), known, depth) for choice in atom.choices):
            return True
        return all(
            self.of_nonnegative(chosen(choice), (*known, *(o - choice for o in atom.choices if o != choice)), depth)
            for choice in atom.choices
        )


def _without_shared(dim: Dim) -> tuple[bool, Dim]:
    """Whether all terms share factors that are at least 0, and `dim` without them."""
    from shaped.spec.normal_form import common_monomial, divide_monomial

    shared = common_monomial(dim)
    if not shared or any((low := least_value(atom)) is None or low < 0 for atom, _ in shared):
        return False, dim
    quotients = ((divide_monomial(monomial, shared), coefficient) for monomial, coefficient in dim.terms)
    return True, Dim({m: c for m, c in quotients if m is not None})


def _may_be_nonnegative(dim: Dim, known: tuple[Dim, ...]) -> bool:
    """Whether no example says otherwise: a proof need not be sought then."""
    symbols = sorted(dim.symbols().union(*(fact.symbols() for fact in known)), key=lambda symbol: symbol.sort_key)
    lows = [-3 if symbol.low is None else symbol.low for symbol in symbols]
    for start, step in ((0, 0), (6, -1), (5, 3), (64, 64)):
        values = {s: low + max(start + step * i, 0) for i, (s, low) in enumerate(zip(symbols, lows, strict=True))}
        try:
            if dim.evaluate(values) < 0 and all(fact.evaluate(values) >= 0 for fact in known):
                return False
        except ZeroDivisionError:
            continue
    return True


def _useful_multiples(dim: Dim, fact: Dim) -> set[int]:
    """Multiples of `fact` that cancel a term of `dim`."""
    there: Mapping[Monomial, int] = dict(dim.terms)
    found = {there[m] // c for m, c in fact.terms if m and there.get(m, 0) // c > 0 and there[m] % c == 0}
    return found


def split_by(dim: Dim, atom: Atom) -> tuple[Dim, Dim] | None:
    """factor and rest with dim = factor*atom + rest, None if a power of `atom` occurs."""
    factor, rest = {}, {}
    for monomial, coefficient in dim.terms:
        power = dict(monomial).get(atom, 0)
        if power > 1:
            return None
        if power:
            factor[tuple(item for item in monomial if item[0] != atom)] = coefficient
        else:
            rest[monomial] = coefficient
    return Dim(factor), Dim(rest)


def _without_floor(dim: Dim, atom: FloorDiv, known: tuple[Dim, ...]) -> Dim | None:
    """A size without `atom` that is at least 0 only where `dim` is, None if there is none."""
    split = split_by(dim, atom)
    numerator, denominator = atom.numerator, atom.denominator
    if split is None or (lower_bound_where(denominator, known) or 0) < 1:
        return None
    factor, rest = split
    # x-y+1 <= y*(x//y) <= x, and y*dim > -y says that dim > -1, that is dim >= 0.
    if (low := lower_bound(factor)) is not None and low >= 0:
        bound = numerator - denominator + 1
    elif (low := lower_bound(-factor)) is not None and low >= 0:
        bound = numerator
    else:
        return None
    return denominator * (rest + 1) + factor * bound - 1
