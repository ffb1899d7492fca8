"""Lower bounds of sizes: from the least values of names, and from what is known to be at least 0."""

from __future__ import annotations

from collections.abc import Mapping

from shaped.spec.dims import Atom, Dim, FloorDiv, Min, Monomial, Symbol

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


def is_nonnegative(dim: Dim, known: tuple[Dim, ...] = (), effort: int = 4) -> bool:
    """Whether `dim` is proved to be at least 0 where each of `known` is; False if no proof is found.

    Args:
        dim: the size.
        known: sizes that are at least 0.
        effort: how many steps a proof may have: the elimination of a floor or a min, the use of something known.

    >>> t, k = Dim.name("t"), Dim.name("k")
    >>> is_nonnegative(t - k * (t // k)), is_nonnegative(t - 3), is_nonnegative(t - 3, known=(t - 5,))
    (True, False, True)
    """
    low = lower_bound(dim)
    if low is not None and low >= 0:
        return True
    if dim.constant is not None or effort == 0 or (not known and not _may_be_nonnegative(dim)):
        return False
    from shaped.spec.normal_form import common_monomial, divide_monomial

    shared = common_monomial(dim)
    if shared and all((least := least_value(atom)) is not None and least >= 0 for atom, _ in shared):
        quotients = ((divide_monomial(monomial, shared), coefficient) for monomial, coefficient in dim.terms)
        return is_nonnegative(Dim({m: c for m, c in quotients if m is not None}), known, effort - 1)
    atoms = list(dict.fromkeys(dim.atoms()))
    for atom in atoms:
        if isinstance(atom, Min):
            return _is_nonnegative_for_choices(dim, atom, known, effort - 1)
    for atom in atoms:
        if isinstance(atom, FloorDiv):
            weaker = _without_floor(dim, atom)
            if weaker is not None and is_nonnegative(weaker, known, effort - 1):
                return True
    for i, fact in enumerate(known):
        if not dim.symbols().isdisjoint(fact.symbols()):
            others = known[:i] + known[i + 1 :]
            for times in _useful_multiples(dim, fact):
                if is_nonnegative(dim - times * fact, others, effort - 1):
                    return True
    return False


def _may_be_nonnegative(dim: Dim) -> bool:
    """Whether no example says otherwise: a proof need not be sought then."""
    for start, step in ((0, 0), (2, 1), (7, 3)):
        values = {s: (-3 if s.low is None else s.low) + start + step * i for i, s in enumerate(dim.symbols())}
        try:
            if dim.evaluate(values) < 0:
                return False
        except ZeroDivisionError:
            continue
    return True


def _useful_multiples(dim: Dim, fact: Dim) -> set[int]:
    """Multiples of `fact` that cancel a term of `dim`."""
    there: Mapping[Monomial, int] = dict(dim.terms)
    found = {there[m] // c for m, c in fact.terms if m and there.get(m, 0) // c > 0 and there[m] % c == 0}
    return found or {1}


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


def _without_floor(dim: Dim, atom: FloorDiv) -> Dim | None:
    """A size without `atom` that is at least 0 only where `dim` is, None if there is none."""
    split = split_by(dim, atom)
    numerator, denominator = atom.numerator, atom.denominator
    if split is None or not is_positive(denominator):
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


def _is_nonnegative_for_choices(dim: Dim, atom: Min, known: tuple[Dim, ...], effort: int) -> bool:
    split = split_by(dim, atom)

    def chosen(choice: Dim) -> Dim:
        return dim.replace_atoms(lambda other: choice if other == atom else None)

    # Where the minimum counts negatively, the size is at least what it is with any one choice.
    counts_negatively = split is not None and (low := lower_bound(-split[0])) is not None and low >= 0
    if counts_negatively and any(is_nonnegative(chosen(choice), known, effort) for choice in atom.choices):
        return True
    return all(
        is_nonnegative(chosen(choice), (*known, *(o - choice for o in atom.choices if o != choice)), effort)
        for choice in atom.choices
    )
