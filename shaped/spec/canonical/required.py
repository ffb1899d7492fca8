"""What the requirements of two expressions say of the conditions in their difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec import expr
from shaped.spec.canonical.assumptions import Undecided, Undefined
from shaped.spec.canonical.atoms import Atom, EntryAtom, PositiveAtom, ZeroAtom
from shaped.spec.canonical.domain import exception_of
from shaped.spec.canonical.indicators import where_fails, where_holds
from shaped.spec.canonical.polynomials import Polynomial
from shaped.spec.canonical.read import read
from shaped.spec.canonical.search import atoms_within
from shaped.spec.canonical.substitution import renamed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shaped.spec.canonical.domain import Requirement
    from shaped.spec.dims import Dim
    from shaped.spec.index import Index


def under_requirements(
    difference: Polynomial, requirements: tuple[Requirement, ...], places: frozenset[Index]
) -> Polynomial:
    """The difference where the requirements are met: conditions that they decide are replaced by 1 or 0.

    Args:
        difference: a form.
        requirements: what holds, for all places of the indices that are not in `places`.
        places: the free indices of the two sides: they stand for one place each.
    """
    for requirement in requirements:
        if requirement.guard is not expr.TRUE:
            continue  # what is required only under a condition decides nothing elsewhere
        try:
            form = read(difference.context, requirement.argument)
        except (Undefined, Undecided):
            continue
        for atom in _conditions(difference):
            for values in _instances(form, atom, places):
                exception = exception_of(requirement.kind, renamed(form, values))
                indicator = Polynomial(difference.context, {((atom, 1),): 1})
                if not (exception * indicator - indicator).terms:  # where it holds, the requirement fails
                    difference = where_fails(difference, atom)
                    break
                if not (exception * (1 - indicator) - (1 - indicator)).terms:
                    difference = where_holds(difference, atom)
                    break
    return difference


def _conditions(form: Polynomial) -> list[Atom]:
    atoms = {a: None for monomial in form.terms for a, _ in monomial if isinstance(a, (PositiveAtom, ZeroAtom))}
    return list(atoms)


def _instances(form: Polynomial, atom: Atom, places: frozenset[Index]) -> Iterator[dict[Index, Dim]]:
    """Places for the free indices of the required form at which it speaks of an entry that the condition speaks of."""
    assert isinstance(atom, (PositiveAtom, ZeroAtom))
    if form.free <= places:
        yield {}
        return
    own = [each for each in atoms_within(form) if isinstance(each, EntryAtom)]
    for other in atoms_within(atom.argument):
        if not isinstance(other, EntryAtom):
            continue
        for each in own:
            if each.variable != other.variable:
                continue
            values: dict[Index, Dim] = {index: index.dim for index in form.free & places}
            for place, value in zip(each.at, other.at, strict=True):
                index = place.single_atom
                if index in form.free and index not in values:
                    values[index] = value  # type: ignore[index]  # an atom that is free in the form is an Index
            if form.free <= values.keys() and atom.free >= {i for v in values.values() for i in _free(v)}:
                yield values


def _free(dim: Dim) -> frozenset[Index]:
    from shaped.spec.index import free_indices

    return free_indices(dim)
