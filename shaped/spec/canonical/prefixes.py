"""Conditions that cut a range in two, with one side and one cut preferred: [i >= e] is 1 - [i <= e - 1]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.canonical import indicators
from shaped.spec.canonical.atoms import IndexNonnegativeAtom
from shaped.spec.canonical.polynomials import Polynomial, total_of
from shaped.spec.canonical.products import merged, normalise
from shaped.spec.canonical.ranges import coefficient_of

if TYPE_CHECKING:
    from shaped.spec.index import Index

NEAREST_CUT = 3  # the largest distance over which a cut is moved, one place at a time


def turned(atom: IndexNonnegativeAtom, index: Index) -> Polynomial | None:
    """The condition by [index <= e - 1] and single places, where e has other indices; None if it is that already."""
    context, sign = atom.context, coefficient_of(atom.dim, index)
    if sign == 1:
        return 1 - indicators.index_nonnegative(context, -atom.dim - 1)
    shift = atom.dim.constant_part + 1
    if sign != -1 or not shift or abs(shift) > NEAREST_CUT or atom.free == {index}:
        return None
    prefix = indicators.index_nonnegative(context, atom.dim - shift)
    between = range(shift) if shift > 0 else range(shift, 0)
    places = total_of(context, (indicators.index_zero(context, atom.dim - place) for place in between))
    return prefix + places.scaled(1 if shift > 0 else -1)


def with_prefixes(form: Polynomial, index: Index) -> Polynomial:
    """The form with all conditions that cut the range of the index by preferred ones."""
    for monomial in form.terms:
        for atom, _ in monomial:
            if isinstance(atom, IndexNonnegativeAtom) and index in atom.free:
                result = turned(atom, index)
                if result is not None:
                    kept = {m: c for m, c in form.terms.items() if all(a is not atom for a, _ in m)}
                    parts = [Polynomial(form.context, kept)]
                    parts += [
                        normalise(form.context, c, merged(m, [(atom, -1)])) * result
                        for m, c in form.terms.items()
                        if m not in kept
                    ]
                    return with_prefixes(total_of(form.context, parts), index)
    return form
