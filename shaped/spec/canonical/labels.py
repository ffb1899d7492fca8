"""Closing a sum: its indices are placed on the axes of tensors, and named in an order that does not depend on names."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaped.spec.canonical import sums
from shaped.spec.canonical.assumptions import Undecided
from shaped.spec.canonical.atoms import (
    Atom,
    BaseAtom,
    CosineAtom,
    EntryAtom,
    ExpAtom,
    FunctionAtom,
    IndexNonnegativeAtom,
    Monomial,
    Rational,
    SumAtom,
)
from shaped.spec.canonical.polynomials import Context, Polynomial, bound_index, unused_index
from shaped.spec.canonical.prefixes import by_places, turned
from shaped.spec.canonical.products import Factors, merged, monomial_of, normalise
from shaped.spec.canonical.ranges import coefficient_of, is_index_free, is_nonnegative
from shaped.spec.canonical.signatures import atom_signature, dim_signature, size_signature, text_signature
from shaped.spec.canonical.substitution import monomial_with
from shaped.spec.index import Index, free_indices
from shaped.spec.normal_form import divide

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shaped.spec.dims import Dim

MOST_ORDERS = 720  # of indices that nothing tells apart


def is_plain_size(dim: Dim) -> bool:
    """Whether the expression depends on no index and no lookup."""
    return is_index_free(dim)


def closed(context: Context, bound: tuple[Index, ...], factors: Factors) -> Polynomial:
    """The sum over indices that the factors connect, as one atom; more where a rule still applies."""
    for step in (_anchored, _merged_axes, _with_prefix_turned, _with_closed_denominator, _reflected):
        result = step(context, bound, factors)
        if result is not None:
            return result
    return _labelled(context, bound, factors)


# --- places of indices


def _anchored(context: Context, bound: tuple[Index, ...], factors: Factors) -> Polynomial | None:
    """An index i that the anchor entry sees as x[e + i] is replaced by the place itself, over the tensor's axis.

    Places outside the axis do not matter: an entry is in range wherever it counts.
    """
    for index in bound:
        anchor = anchor_of(index, factors)
        if anchor is None:
            continue
        place, size = anchor
        if (place == index.dim and index.size == size) or not is_plain_size(size):
            continue
        sign = coefficient_of(place, index)
        assert sign is not None
        new = unused_index(size, set(bound).union(*(atom.free for atom in factors)))
        value = (new.dim - (place - index.dim * sign)) * sign
        body = sums.within(context, value, index.size) * monomial_with(context, factors.items(), 1, {index: value})
        return sums.sum_over((*(other for other in bound if other != index), new), body)
    return None


@dataclass(frozen=True)
class _Anchor:
    """A place of an entry that moves by 1 with an index."""

    rank: tuple[int, int]  # the tensor and the axis: nothing that changes with the index
    place: Dim
    size: Dim
    sign: int


def anchor_of(index: Index, factors: Mapping[Atom, Rational]) -> tuple[Dim, Dim] | None:
    """The place of an entry that moves by 1 with the index, and the size of that axis; None if there is none.

    Which one is taken does not depend on where the index starts: seen from it, the other places read least.
    """
    found: list[_Anchor] = []
    level = [atom for atom, e in factors.items() if e and index in atom.free]
    while level and not found:  # what stands deeper than another place is never taken
        for atom in level:
            _collect_anchors(atom, index, found)
        level = list(dict.fromkeys(inner for atom in level for inner in _inside(atom) if index in inner.free))
    if not found:
        return None
    first = min(each.rank for each in found)
    equal = [each for each in found if each.rank == first]
    if len({each.place for each in equal}) > 1:
        views = [_seen_from(each, equal, index) for each in equal]
        least = min(views)
        equal = [each for each, view in zip(equal, views, strict=True) if view == least]
    chosen = next((each for each in equal if each.place == index.dim), equal[0])
    return chosen.place, chosen.size


def _seen_from(anchor: _Anchor, others: list[_Anchor], index: Index) -> tuple[int, ...]:
    """The places of all entries when the index is the place of this one."""
    value = (index.dim - (anchor.place - index.dim * anchor.sign)) * anchor.sign
    colours = {index: 1}
    return tuple(sorted(dim_signature(other.place.substitute({index: value}), colours) for other in others))


def _collect_anchors(atom: Atom, index: Index, found: list[_Anchor]) -> None:
    """The places of an entry that move by 1 with an index."""
    if isinstance(atom, EntryAtom):
        for axis, place in enumerate(atom.at):
            sign = coefficient_of(place, index)
            if sign in (1, -1) and not _is_minor(place, index):
                rank = (text_signature(atom.variable.name), axis)
                found.append(_Anchor(rank, place, atom.variable.sizes[axis], sign))


def _inside(atom: Atom) -> Iterator[Atom]:
    """The atoms of the argument of a function or power."""
    match atom:
        case ExpAtom(argument):
            yield from (inner for inner, _ in argument)
        case FunctionAtom(_, argument) | CosineAtom(argument) | BaseAtom(argument):
            # Conditions never stand here: such functions are split by cases, so each entry counts wherever they do.
            yield from (inner for monomial in argument.terms for inner, _ in monomial)


def _is_minor(place: Dim, index: Index) -> bool:
    """Whether the place is k*c + i, for the index i of size c: the index is one axis of a flat one."""
    rest = place - index.dim
    return bool(rest.terms) and not divide(rest, index.size)[1].terms and index.size != 1


def _merged_axes(context: Context, bound: tuple[Index, ...], factors: Factors) -> Polynomial | None:
    """The sum over q and c of f(q*C + c), where c < C, is the sum of f(i) over i < Q*C."""
    for minor, major in itertools.permutations(bound, 2):
        stride = minor.size
        if not any(_has_flat_place(atom, major, minor) for atom in factors):
            continue
        if not (is_nonnegative(stride, context.known) and is_nonnegative(major.size, context.known)):
            continue
        new = unused_index(major.size * stride, set(bound).union(*(atom.free for atom in factors)))
        body = monomial_with(context, factors.items(), 1, {minor: new.dim - major.dim * stride})
        if major not in body.free and minor not in body.free:
            rest = tuple(index for index in bound if index not in (minor, major))
            return sums.sum_over((*rest, new), body)
    return None


def _has_flat_place(atom: Atom, major: Index, minor: Index) -> bool:
    if major not in atom.free or minor not in atom.free:
        return False
    match atom:
        case EntryAtom(_, at):
            return any(_is_flat(place, major, minor) for place in at)
        case ExpAtom(argument):
            return any(_has_flat_place(part, major, minor) for part, _ in argument)
        case FunctionAtom(_, argument) | CosineAtom(argument) | BaseAtom(argument):
            return any(_has_flat_place(part, major, minor) for monomial in argument.terms for part, _ in monomial)
    return False


def _is_flat(place: Dim, major: Index, minor: Index) -> bool:
    rest = place - major.dim * minor.size - minor.dim
    return free_indices(rest).isdisjoint((major, minor)) and {major, minor} <= free_indices(place)


def _reflected(context: Context, bound: tuple[Index, ...], factors: Factors) -> Polynomial | None:
    """An index i that all entries see as n - 1 - i is turned around."""
    for index in bound:
        signs = [
            coefficient_of(place, index)
            for atom in factors
            if isinstance(atom, EntryAtom)
            for place in atom.at
            if index in free_indices(place)
        ]
        if signs and all(sign is not None and sign < 0 for sign in signs):
            new = unused_index(index.size, set(bound).union(*(atom.free for atom in factors)))
            body = monomial_with(context, factors.items(), 1, {index: index.size - 1 - new.dim})
            return sums.sum_over((*(other for other in bound if other != index), new), body)
    return None


def _with_prefix_turned(context: Context, bound: tuple[Index, ...], factors: Factors) -> Polynomial | None:
    """A condition that cuts the range of an index as the preferred one, in a second attempt only: it splits sums."""
    if not context.splits_prefixes:
        return None
    inside = frozenset(bound)
    for atom in factors:
        if isinstance(atom, IndexNonnegativeAtom) and len(atom.free & inside) == 1:
            (index,) = atom.free & inside
            condition = by_places(atom) if atom.free == {index} else turned(atom, index)
            if condition is not None:
                return sums.sum_over(bound, normalise(context, 1, merged(factors, [(atom, -1)])) * condition)
    return None


def _with_closed_denominator(context: Context, bound: tuple[Index, ...], factors: Factors) -> Polynomial | None:
    """Takes one sum by itself where its closed form stands as a denominator in the same term."""
    denominators = [atom for atom, e in factors.items() if e < 0 and isinstance(atom, (SumAtom, BaseAtom))]
    if not denominators or len(bound) < 2:
        return None
    from shaped.spec.canonical.powers import lead_of

    for index in bound:
        own = {atom: e for atom, e in factors.items() if index in atom.free}
        if any(atom in own for atom in denominators):
            continue
        single = closed(context, (index,), own).single
        if single is None or single[1] != 1 or len(single[0]) != 1 or not isinstance(single[0][0][0], SumAtom):
            continue
        total = single[0][0][0]
        for atom in denominators:
            lead = lead_of(atom) if isinstance(atom, BaseAtom) else None
            meets = atom is total or (lead is not None and any(part is total for part, _ in lead.monomial or ()))
            if meets:
                rest = {a: e for a, e in factors.items() if a not in own}
                combined = merged(rest, [(total, 1)])
                body = normalise(context, 1, combined)
                if body.terms != {monomial_of(combined): 1}:
                    return sums.sum_over(tuple(other for other in bound if other != index), body)
    return None


# --- names of indices


def _labelled(context: Context, bound: tuple[Index, ...], factors: Factors) -> Polynomial:
    """The sum with its indices named by level, in the order of what the factors say of them."""
    level = 1 + max((atom.height for atom in factors), default=-1)
    classes = _classes(bound, factors)
    best: tuple[tuple[tuple[int, object], ...], Monomial, tuple[Index, ...]] | None = None
    for count, orders in enumerate(itertools.product(*(itertools.permutations(each) for each in classes))):
        if count > MOST_ORDERS:
            raise Undecided("a sum over many indices that nothing tells apart")
        order = [index for each in orders for index in each]
        names = tuple(bound_index(level + i, index.size) for i, index in enumerate(order))
        values = {index: name.dim for index, name in zip(order, names, strict=True)}
        body = monomial_with(context, factors.items(), 1, values)
        single = body.single
        if single is None or single[1] != 1:  # the new names let a rule apply
            back = {name: index.dim for index, name in zip(order, names, strict=True)}
            from shaped.spec.canonical.substitution import renamed

            return sums.sum_over(order, renamed(body, back))
        key = tuple((atom.number, e) for atom, e in single[0])
        if best is None or key < best[0]:
            best = (key, single[0], names)
    assert best is not None
    atom = context.atom(SumAtom, best[2], best[1])
    return Polynomial(context, {((atom, 1),): 1})


def _classes(bound: tuple[Index, ...], factors: Mapping[Atom, Rational]) -> list[list[Index]]:
    """The indices, grouped and sorted by what tells them apart (colour refinement)."""
    colours = {index: size_signature(index.size) for index in bound}
    for _ in range(3):
        if len(set(colours.values())) == len(bound):
            break
        colours = {index: _refined(index, colours, factors) for index in bound}
    groups: dict[int, list[Index]] = {}
    for index in bound:
        groups.setdefault(colours[index], []).append(index)
    return [groups[colour] for colour in sorted(groups)]


def _refined(index: Index, colours: Mapping[Index, int], factors: Mapping[Atom, Rational]) -> int:
    marked = {**colours, index: ~colours[index]}
    parts = (hash((atom_signature(atom, marked), e)) for atom, e in factors.items() if index in atom.free)
    return hash((colours[index], *sorted(parts)))
