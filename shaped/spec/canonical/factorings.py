"""Splitting a flat axis: a place on an axis of size q*c is i*c + j for one place i < q and one j < c."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.canonical.polynomials import unused_index
from shaped.spec.canonical.ranges import is_nonnegative
from shaped.spec.canonical.search import atoms_within, dims_of
from shaped.spec.dims import ONE, Dim, FloorDiv
from shaped.spec.index import Index, free_indices
from shaped.spec.normal_form import divide

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shaped.spec.canonical.polynomials import Polynomial

MOST_SPLITS = 12
MOST_PARTS = 8  # a constant number of parts is written out


def axis_splits(form: Polynomial) -> Iterator[list[dict[Index, Dim]]]:
    """Values of the free indices on flat axes, in all parts that the form's own strides suggest."""
    strides = _strides(form)
    flat: list[tuple[Index, list[Dim]]] = []
    for index in sorted(form.free, key=lambda each: each.scope):
        steps = [each for each in strides if is_nonnegative(each, form.context.known) and _divides(each, index.size)]
        if len(index.size.terms) == 1 and steps:
            flat.append((index, steps))
    if not flat:
        return
    used = set(form.free)
    for choice in range(min(MOST_SPLITS, max(len(steps) for _, steps in flat))):
        values: list[dict[Index, Dim]] = [{}]
        for index, steps in flat:
            step = steps[min(choice, len(steps) - 1)]
            minor = unused_index(step, used)
            used.add(minor)
            parts, _ = divide(index.size, step)
            constant = parts.constant
            if constant is not None and constant <= MOST_PARTS:
                majors = [Dim.of(value) for value in range(constant)]
            else:
                major = unused_index(parts, used)
                used.add(major)
                majors = [major.dim]
            minors = [minor.dim]
            width = step.constant
            if width is not None and width <= MOST_PARTS:
                minors = [Dim.of(value) for value in range(width)]
            places = [major * step + each for major in majors for each in minors]
            values = [{**each, index: place} for each in values for place in places]
        yield values


def _divides(stride: Dim, size: Dim) -> bool:
    whole, rest = divide(size, stride)
    return not rest.terms and whole != ONE and stride != ONE


def _strides(form: Polynomial) -> list[Dim]:
    """Sizes that stand beside an index, divide one, or are those of indices, in the order in which they are met."""
    found: dict[Dim, None] = {}
    for atom in atoms_within(form):
        for dim in dims_of(atom):
            for index in free_indices(dim):
                if len(index.size.terms) == 1:
                    found.setdefault(index.size)
            for monomial, c in dim.terms:
                sizes = tuple(each for each in monomial if not isinstance(each[0], (Index, FloorDiv)))
                if sizes != monomial:
                    found.setdefault(Dim({sizes: abs(c)}))
            for inner in dim.atoms():
                if isinstance(inner, FloorDiv):
                    found.setdefault(inner.denominator)
    return list(found)
