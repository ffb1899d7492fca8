"""Where the conditions of an expression change: the only places at which a piecewise smooth function may have kinks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shaped.spec.canonical.assumptions import NO_ASSUMPTIONS, Assumptions, Undecided, Undefined
from shaped.spec.canonical.atoms import PositiveAtom, ZeroAtom
from shaped.spec.canonical.forms import Form, context_for, in_context
from shaped.spec.canonical.read import read
from shaped.spec.canonical.search import atoms_within
from shaped.spec.canonical.write import write
from shaped.spec.expr import Expr, Node, Positive, Zero

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shaped.spec.canonical.domain import Requirement
    from shaped.spec.canonical.polynomials import Context, Polynomial

# A place may be written in many ways, as an index of the output or of the input: which tensor it is of must do. So must
# that there is a sum, whatever its index is called.
_PLACE = re.compile(r"\[[^\[\]]*\]|(?<= over )\w+ < [^()]*?(?= of )")


def outside_of_boundaries(
    kinks: Iterable[str],
    sides: Iterable[Form | Expr],
    requirements: Iterable[Requirement],
    assumptions: Assumptions = NO_ASSUMPTIONS,
) -> tuple[str, ...]:
    """Those null sets on which no condition of the sides changes, and that no requirement excludes.

    Args:
        kinks: null sets, as `Comparison.kinks` has them.
        sides: expressions whose conditions are looked at.
        requirements: where the expressions are defined.
        assumptions: what may be taken for granted.

    >>> from shaped.spec.expr import ZERO, Variable, positive, where
    >>> x = Variable("x", ())
    >>> relu = where(positive(x[()]), x[()], ZERO)
    >>> outside_of_boundaries(["x = 0", "y = 0"], [relu], [])
    ('y = 0',)
    """
    context = context_for(assumptions)
    known = {text for side in sides for text in _of_conditions(context, side)}
    known |= {text for each in requirements for text in _of_number(context, each.argument)}
    return tuple(kink for kink in kinks if _without_places(kink) not in known)


def _of_conditions(context: Context, side: Form | Expr) -> Iterator[str]:
    """The boundaries of the conditions as they are written, and of those that the form has."""
    if isinstance(
        side, Expr
    ):  # x*log(y) where x != 0, else 0: the form has no condition, though log(y) may be infinite
        for node in _nodes(side):
            if isinstance(node, (Positive, Zero)):
                yield from _of_number(context, node.argument)
    try:
        form = in_context(context, side)
    except (Undecided, Undefined):  # then none is known, and fewer kinks are accepted
        return
    for atom in atoms_within(form):
        if isinstance(atom, (PositiveAtom, ZeroAtom)):
            yield from _texts(atom.argument)


def _nodes(root: Node) -> Iterator[Node]:
    """An expression and all that it is made of, each once."""
    seen: set[Node] = set()
    pending: list[Node] = [root]
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            yield node
            pending += [part for part in node.parts() if isinstance(part, Node)]


def _of_number(context: Context, number: Expr) -> Iterator[str]:
    try:
        yield from _texts(read(context, number))
    except (Undecided, Undefined):
        return


def _texts(argument: Polynomial) -> Iterator[str]:
    """The boundary of a condition on a number, which may be written with either sign."""
    for number in (argument, -argument):
        yield _without_places(f"{write(number)} = 0")


def _without_places(text: str) -> str:
    shorter = _PLACE.sub("", text)
    while shorter != text:
        text, shorter = shorter, _PLACE.sub("", shorter)
    return text
