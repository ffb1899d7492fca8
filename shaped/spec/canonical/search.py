"""Looking for atoms at any depth of a form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.canonical.polynomials import Polynomial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shaped.spec.canonical.atoms import Atom


def any_atom(form: Polynomial, test: Callable[[Atom], bool]) -> bool:
    """Whether some atom of the form, at any depth, passes the test."""
    return any(map(test, atoms_within(form)))


def atoms_within(form: Polynomial) -> Iterator[Atom]:
    """All atoms of a form, each once, with those inside others."""
    seen: set[Atom] = set()
    pending = [atom for monomial in form.terms for atom, _ in monomial]
    while pending:
        atom = pending.pop()
        if atom in seen:
            continue
        seen.add(atom)
        yield atom
        for field in atom.parts:
            if isinstance(field, Polynomial):
                pending += [part for monomial in field.terms for part, _ in monomial]
            elif isinstance(field, tuple):
                pending += [factor[0] for factor in field if isinstance(factor, tuple)]
