"""The greatest value over an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.canonical.atoms import GreatestAtom, InfinityAtom
from shaped.spec.canonical.polynomials import Polynomial, bound_index
from shaped.spec.canonical.substitution import renamed

if TYPE_CHECKING:
    from shaped.spec.index import Index


def greatest(index: Index, form: Polynomial) -> Polynomial:
    """The greatest value of a form over an index of size 1 or more; terms free of the index stand outside."""
    context = form.context
    # A mask of minus infinity is several terms, of which some may be free of the index: they stay together.
    inside = {m: c for m, c in form.terms.items() if any(index in a.free or isinstance(a, InfinityAtom) for a, _ in m)}
    outside = Polynomial(context, {m: c for m, c in form.terms.items() if m not in inside})
    if not inside:
        return outside
    body = Polynomial(context, inside)
    if index.size.constant == 1:
        return outside + renamed(body, {index: index.size - 1})
    level = 1 + body.height
    name = bound_index(level, index.size)
    return outside + context.power_of(context.atom(GreatestAtom, name, renamed(body, {index: name.dim})))
