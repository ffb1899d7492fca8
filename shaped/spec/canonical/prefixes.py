"""Conditions that cut a range in two, with one side and one cut preferred: [i >= e] is 1 - [i <= e] + [i = e]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.canonical.atoms import IndexNonnegativeAtom
from shaped.spec.canonical.index_conditions import index_nonnegative, index_zero
from shaped.spec.canonical.polynomials import Polynomial, total_of
from shaped.spec.canonical.products import merged, normalise
from shaped.spec.canonical.ranges import coefficient_of, is_nonnegative

if TYPE_CHECKING:
    from shaped.spec.canonical.polynomials import Context
    from shaped.spec.dims import Dim
    from shaped.spec.index import Index

FARTHEST_CUT = 3  # the largest distance over which a cut is moved, one place at a time


def turned(atom: IndexNonnegativeAtom, index: Index) -> Polynomial | None:
    """The condition by [index <= e] and single places, where e has no constant part; None if it is that already."""
    sign = coefficient_of(atom.dim, index)
    if sign not in (1, -1) or (sign == -1 and atom.dim.constant_part == 0) or atom.free == {index}:
        return None
    cut = atom.dim if sign == -1 else -atom.dim - 1
    if abs(cut.constant_part) > FARTHEST_CUT:
        return None
    moved = _with_cut_moved(atom.context, cut)
    return moved if sign == -1 else 1 - moved


def _with_cut_moved(context: Context, dim: Dim) -> Polynomial:
    """[dim >= 0] by the same without the constant part, and the places between."""
    shift = dim.constant_part
    between = range(shift) if shift > 0 else range(shift, 0)
    places = total_of(context, (index_zero(context, dim - place) for place in between))
    return index_nonnegative(context, dim - shift) + places.scaled(1 if shift > 0 else -1)


def by_places(atom: IndexNonnegativeAtom) -> Polynomial | None:
    """A condition that few places at an end meet, or do not meet, by these: [i >= 1] is 1 - [i = 0]."""
    context, dim = atom.context, atom.dim
    for count in range(1, FARTHEST_CUT + 1):
        if is_nonnegative(dim + count, context.known):
            failing = (index_zero(context, dim + place) for place in range(1, count + 1))
            return 1 - total_of(context, failing)
        if is_nonnegative(count - 1 - dim, context.known):
            return total_of(context, (index_zero(context, dim - place) for place in range(count)))
    return None


def with_one_side(form: Polynomial) -> Polynomial:
    """The form with conditions by places where they are few, and by one of two opposite conditions, outside sums."""
    atoms = {a: None for m in form.terms for a, _ in m if isinstance(a, IndexNonnegativeAtom)}
    for atom in sorted(atoms, key=lambda each: each.number):
        result = by_places(atom)
        if result is None:
            opposite = index_nonnegative(form.context, -atom.dim - 1)
            single = opposite.single
            if single is not None and single[0][0][0].number < atom.number and single[0][0][0] in atoms:
                result = 1 - opposite
        if result is not None:
            kept = {m: c for m, c in form.terms.items() if all(a is not atom for a, _ in m)}
            changed = [
                normalise(form.context, c, merged(m, [(atom, -1)])) * result
                for m, c in form.terms.items()
                if m not in kept
            ]
            form = total_of(form.context, [Polynomial(form.context, kept), *changed])
    return form


def with_prefixes(form: Polynomial, index: Index) -> Polynomial:
    """The form with all conditions that cut the range of the index by preferred ones."""
    for monomial in form.terms:
        for atom, _ in monomial:
            if isinstance(atom, IndexNonnegativeAtom) and index in atom.free:
                result = by_places(atom) if atom.free == {index} else turned(atom, index)
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
