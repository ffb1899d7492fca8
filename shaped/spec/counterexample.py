"""Small sizes for which an equation fails, found by evaluating it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from shaped.spec.dims import Dim, FloorDiv, Kind, Min, Symbol
from shaped.spec.reading import Reading

MOST_TRIES = 250


def find_values(
    reading: Reading, dim: Dim, fails: Callable[[int], bool], names: frozenset[Symbol]
) -> dict[str, int] | None:
    """Values of `names` that obey the facts and for which `fails` holds of the value of `dim`; None if none are found.

    Args:
        reading: the facts; `dim` is read by it.
        dim: the size to evaluate.
        fails: what is sought of its value.
        names: the names that the user sees; sizes that were not followed are left out.
    """
    if not dim.symbols().isdisjoint(reading.values):
        return None  # a name kept its place where its value would make a denominator zero
    wanted = dim.symbols().union(*(reading.read(Dim.atom(name)).symbols() for name in names))
    conditions = _Conditions(reading, wanted)
    if conditions.bind_unknown:
        return None
    replaced = {name: reading.values[name] for name in (*names, *conditions.symbols) if name in reading.values}
    for values in _candidates(conditions.symbols, _turning_points(dim, conditions)):
        try:
            if not conditions.hold(values) or not fails(dim.evaluate(values)):
                continue
            every = {**values, **{name: value.evaluate(values) for name, value in replaced.items()}}
        except ZeroDivisionError:
            continue
        if all(name.low is None or every[name] >= name.low for name in names):
            shown = sorted((name for name in names if name.kind is not Kind.UNKNOWN), key=lambda name: name.sort_key)
            return {name.name: every[name] for name in shown}
    return None


class _Conditions:
    """The facts that bear on some names, directly or through other names."""

    def __init__(self, reading: Reading, symbols: frozenset[Symbol]) -> None:
        self.least: list[Dim] = []
        self.zero: list[Dim] = []
        self.different: list[Dim] = []
        left = [
            *((dim, self.least) for dim in reading.known),
            *((dim, self.zero) for dim in reading.equations),
            *((dim, self.different) for dim in reading.different),
        ]
        found = set(symbols)
        while True:
            near = [(dim, kind) for dim, kind in left if not found.isdisjoint(dim.symbols())]
            if not near:
                break
            left = [item for item in left if item not in near]
            for dim, kind in near:
                kind.append(dim)
                found |= dim.symbols()
        self.symbols = sorted(found, key=lambda symbol: (symbol.kind is Kind.UNKNOWN, symbol.sort_key))

    @property
    def bind_unknown(self) -> bool:
        """Whether a size that was not followed is bound from two sides: it may then fix a named size."""
        bounds = [
            symbol for dim in (*self.least, *self.zero) for symbol in dim.symbols() if symbol.kind is Kind.UNKNOWN
        ]
        return len(bounds) != len(set(bounds))

    def hold(self, values: Mapping[Symbol, int]) -> bool:
        return (
            all(dim.evaluate(values) >= 0 for dim in self.least)
            and all(dim.evaluate(values) == 0 for dim in self.zero)
            and all(dim.evaluate(values) != 0 for dim in self.different)
        )


def _candidates(symbols: list[Symbol], turning_points: set[int]) -> Iterator[dict[Symbol, int]]:
    """Values worth trying: small and distinct ones first, then those near the numbers of the equation."""
    lows = [1 if symbol.low is None else symbol.low for symbol in symbols]
    for start in range(2, 10):
        yield {symbol: max(low, start + i) for i, (symbol, low) in enumerate(zip(symbols, lows, strict=True))}
    pools = [
        sorted({low, low + 1, *range(max(low, 1), max(low, 1) + 9), *(p for p in turning_points if p >= low)})
        for low in lows
    ]
    total = 1
    for pool in pools:
        total *= len(pool)
    step = 1
    if total > MOST_TRIES:
        # Steps that share no divisor with the total reach every combination in a mixed order.
        step = total // MOST_TRIES + 1
        while any(step % len(pool) == 0 for pool in pools):
            step += 1
    for i in range(min(total, MOST_TRIES)):
        index = i * step % total
        values = {}
        for symbol, pool in zip(symbols, pools, strict=True):
            index, position = divmod(index, len(pool))
            values[symbol] = pool[position]
        yield values


def _turning_points(dim: Dim, conditions: _Conditions) -> set[int]:
    found: set[int] = set()
    for every in (dim, *conditions.least, *conditions.zero, *conditions.different):
        for number in _numbers(every):
            found.update((number - 1, number, number + 1))
    return found


def _numbers(dim: Dim) -> Iterator[int]:
    """The numbers in a size, and the constant as a multiple of each coefficient."""
    constant = dim.constant_part
    for monomial, coefficient in dim.terms:
        if monomial:
            yield abs(constant) // abs(coefficient)
        for atom, _ in monomial:
            match atom:
                case FloorDiv(numerator, denominator):
                    yield from _numbers(numerator)
                    yield from _numbers(denominator)
                    yield abs(constant) // abs(coefficient) * abs(denominator.constant or 1)
                case Min(choices):
                    for choice in choices:
                        yield from _numbers(choice)
    yield abs(constant)
