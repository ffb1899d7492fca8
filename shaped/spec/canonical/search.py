"""Looking for atoms at any depth of a form."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from shaped.spec.canonical.atoms import NumberAtom
from shaped.spec.dims import Dim, FloorDiv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from shaped.spec.canonical.atoms import Atom, Factor
    from shaped.spec.canonical.polynomials import Polynomial


def any_atom(form: Polynomial, test: Callable[[Atom], bool]) -> bool:
    """Whether some atom of the form, at any depth, passes the test."""
    return any(map(test, atoms_within(form)))


def atoms_within(form: Polynomial) -> Iterator[Atom]:
    """All atoms of a form, each once, with those inside others."""
    return _all_atoms([atom for monomial in form.terms for atom, _ in monomial])


def _all_atoms(pending: list[Atom]) -> Iterator[Atom]:
    seen: set[Atom] = set()
    while pending:
        atom = pending.pop()
        if atom in seen:
            continue
        seen.add(atom)
        yield atom
        for field in atom.parts:
            if is_polynomial(field):
                pending += [part for monomial in field.terms for part, _ in monomial]
            elif isinstance(field, tuple):
                pending += [factor[0] for factor in field if isinstance(factor, tuple)]


def is_polynomial(field: object) -> TypeGuard[Polynomial]:
    """Whether a field of an atom is a polynomial."""
    from shaped.spec.canonical.polynomials import Polynomial

    return isinstance(field, Polynomial)


def dims_of(atom: Atom) -> Iterator[Dim]:
    """The index expressions that an atom itself is made of."""
    for field in atom.parts:
        if isinstance(field, Dim):
            yield field
        elif isinstance(field, tuple):
            yield from (each for each in field if isinstance(each, Dim))


def quotients_of(atom: Atom) -> frozenset[FloorDiv]:
    """The floor divisions in an atom that is being made, by the index expressions and parts that it is made of."""
    atoms = [atom.atom] if isinstance(atom, NumberAtom) else []
    for dim in dims_of(atom):
        atoms += dim.atoms()
    found = {each for each in atoms if isinstance(each, FloorDiv)}
    for field in atom.parts:
        factors: Iterable[Factor] = ()
        if is_polynomial(field):
            factors = (factor for monomial in field.terms for factor in monomial)
        elif isinstance(field, tuple):
            factors = (factor for factor in field if isinstance(factor, tuple))
        for part, _ in factors:
            found |= part.quotients
    return frozenset(found)
