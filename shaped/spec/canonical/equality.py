"""Whether two expressions are equal wherever both are defined.

The difference of the canonical forms decides it. Where it is not 0, more is tried, each step sound by itself: to
multiply by the denominators, to write out axes of constant size, to split a flat axis, to replace intermediates by
their definitions, to turn prefix sums around, to use what the requirements say, and to set aside null sets.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from math import floor
from typing import TYPE_CHECKING

from shaped.spec.canonical import sums
from shaped.spec.canonical.assumptions import NO_ASSUMPTIONS, Assumptions, Undecided, Undefined
from shaped.spec.canonical.atoms import BaseAtom, IndexNonnegativeAtom, NumberAtom, PiAtom, PrimeAtom, SumAtom, ZeroAtom
from shaped.spec.canonical.domain import Requirement, is_contradictory, requirements_of
from shaped.spec.canonical.factorings import axis_splits
from shaped.spec.canonical.forms import Form, context_for, in_context
from shaped.spec.canonical.null_sets import is_null
from shaped.spec.canonical.polynomials import Context, Polynomial, accumulate, exact
from shaped.spec.canonical.prefixes import with_one_side
from shaped.spec.canonical.products import Factors, merged, normalise
from shaped.spec.canonical.required import vanishes_where_required
from shaped.spec.canonical.search import any_atom
from shaped.spec.canonical.substitution import renamed
from shaped.spec.canonical.write import write
from shaped.spec.dims import Dim
from shaped.spec.expr import ZERO, Expr

if TYPE_CHECKING:
    from shaped.spec.canonical.atoms import Atom, Monomial, Rational
    from shaped.spec.index import Index

MOST_PLACES = 256  # of free axes of constant size that are written out
MOST_CLEARINGS = 6  # rounds of multiplying by denominators


@dataclass(frozen=True)
class Comparison:
    """What was found out about two expressions.

    Args:
        equal: whether they are equal wherever both are defined; False where they certainly differ somewhere, None
            where it is not decided.
        residual: the difference that is left, 0 where they are equal.
        requirements: where both are defined: what is not certain.
        kinks: null sets that were set aside (`x[i] = 0`).
        used: the methods and facts that were used.
    """

    equal: bool | None
    residual: Expr
    requirements: tuple[Requirement, ...] = ()
    kinks: tuple[str, ...] = ()
    used: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        raise TypeError("a Comparison has no truth value: use comparison.equal")


@dataclass
class _Attempt:
    """The difference that is left, and how it was reached."""

    difference: Polynomial
    required: tuple[Requirement, ...]
    places: frozenset[Index]  # the free indices of the two sides
    used: list[str] = field(default_factory=list)
    kinks: set[str] = field(default_factory=set)


def compare(left: Expr | Form, right: Expr | Form, assumptions: Assumptions = NO_ASSUMPTIONS) -> Comparison:
    """Whether two expressions are equal for all sizes, all places and all values for which both are defined.

    >>> from shaped.spec.expr import Variable, apply
    >>> from shaped.spec.index import fresh_index
    >>> n = Dim.name("n")
    >>> x, i = Variable("x", (n,)), fresh_index(n)
    >>> comparison = compare(x[i.dim] ** 2 / x[i.dim], x[i.dim])
    >>> print(comparison.equal, *comparison.requirements)
    True x[i] != 0
    """
    context = context_for(assumptions)
    try:
        required = _requirements_of_both(context, left, right)
        attempt = _decided(context, left, right, required)
    except Undefined as error:
        return Comparison(None, ZERO, used=(f"never defined: {error}",))
    except (Undecided, RecursionError) as error:
        return Comparison(None, _difference(left, right), used=(f"not followed: {error}",))
    if is_contradictory(context, required):
        return Comparison(None, write(attempt.difference), required, used=("no input meets the requirements",))
    equal: bool | None = True
    if attempt.difference.terms:
        equal = False if is_null(attempt.difference) else None
    return Comparison(
        equal, write(attempt.difference), required, tuple(sorted(attempt.kinks)), tuple(dict.fromkeys(attempt.used))
    )


def _difference(left: Expr | Form, right: Expr | Form) -> Expr:
    sides = [side.to_expr() if isinstance(side, Form) else side for side in (left, right)]
    return sides[0] - sides[1]


def _requirements_of_both(context: Context, left: Expr | Form, right: Expr | Form) -> tuple[Requirement, ...]:
    found: dict[str, Requirement] = {}
    for side in (left, right):
        parts = side.requirements if isinstance(side, Form) else requirements_of(context, side)
        for each in parts:
            found.setdefault(str(each), each)
    return tuple(found.values())


@dataclass(frozen=True)
class _Manner:
    """A way to bring both sides to their forms."""

    expands_definitions: bool = False
    splits_prefixes: bool = False
    writes_out: bool = True

    def context(self, assumptions: Assumptions) -> Context:
        context = Context(assumptions)
        context.expands_definitions, context.splits_prefixes = self.expands_definitions, self.splits_prefixes
        context.writes_out = self.writes_out
        return context

    @property
    def used(self) -> list[str]:
        """What is said of it in an answer."""
        said = {
            "definitions of intermediates": self.expands_definitions,
            "prefix sums turned around": self.splits_prefixes,
            "sums over constant ranges kept": not self.writes_out,
        }
        return [text for text, is_so in said.items() if is_so]


def _decided(context: Context, left: Expr | Form, right: Expr | Form, required: tuple[Requirement, ...]) -> _Attempt:
    """The difference, 0 as soon as one of the attempts makes it so.

    Raises:
        Undefined: a side has no value for any input.
        Undecided: no attempt came to a difference.
    """
    places = _free_indices(left) | _free_indices(right)
    first: _Attempt | None = None
    problem: Undecided | None = None
    try:
        first = _Attempt(in_context(context, left) - in_context(context, right), required, places)
        _simplify(first)
        if not first.difference.terms:
            return first
    except Undecided as error:
        problem = error
    for manner in _manners(first):
        other = manner.context(context.assumptions)
        try:
            difference = in_context(other, left) - in_context(other, right)
            attempt = _Attempt(difference, required, places, manner.used)
            _simplify(attempt)
        except (Undecided, Undefined):
            continue
        if not attempt.difference.terms:
            return attempt
        first = first or attempt
    if first is None:
        raise problem or Undecided("no form was found")
    return first


def _manners(first: _Attempt | None) -> list[_Manner]:
    """The ways that may do better than the first attempt."""
    expands = first is None or any_atom(first.difference, has_definition)
    turns = first is None or any_atom(first.difference, lambda atom: isinstance(atom, IndexNonnegativeAtom))
    found = [_Manner(expands_definitions=True)] * expands + [_Manner(writes_out=False)]
    found += [_Manner(splits_prefixes=True)] * turns
    return found + [_Manner(expands_definitions=True, splits_prefixes=True)] * (expands and turns)


def _free_indices(side: Expr | Form) -> frozenset[Index]:
    return side.polynomial.free if isinstance(side, Form) else side.free


def has_definition(atom: Atom) -> bool:
    """Whether the atom is an entry of an intermediate."""
    from shaped.spec.canonical.atoms import EntryAtom

    return isinstance(atom, EntryAtom) and atom.variable.definition is not None


def _simplify(attempt: _Attempt) -> None:
    """Make the difference 0 by one of the steps, if one does; else leave it as it is."""
    if not attempt.difference.terms or _close(attempt, attempt.difference, []):
        return
    for values, note in _rewritings(attempt.difference):
        differences = [renamed(attempt.difference, each) for each in values]
        if all(_close(attempt, each, [note]) for each in differences):
            return


def _close(attempt: _Attempt, difference: Polynomial, notes: list[str]) -> bool:
    """Whether this difference is 0 after denominators are cleared and exceptions set aside; if so it is noted."""
    reduced, used, kinks = difference, list(notes), set[str]()
    if reduced.terms and vanishes_where_required(reduced, attempt.required, attempt.places):
        reduced = Polynomial(reduced.context, {})
        used.append("the requirements")
    if reduced.terms:
        reduced = with_one_side(reduced)
    if reduced.terms:
        cleared = _cleared(reduced)
        if cleared is not None and (not cleared.terms or not sums.with_factors_inside(cleared).terms):
            reduced = Polynomial(reduced.context, {})
            used.append("denominators cleared")
    if reduced.terms:
        left = Polynomial(reduced.context, {})
        for monomial, c in reduced.terms.items():
            kink = _kink_of(monomial)
            if kink is None:
                left = left + Polynomial(reduced.context, {monomial: c})
            else:
                kinks.add(f"{write(kink.argument)} = 0")
        reduced = left
    if reduced.terms:
        return False
    attempt.difference = reduced
    attempt.used += used
    attempt.kinks |= kinks
    return True


def _kink_of(monomial: Monomial) -> ZeroAtom | None:
    """A condition, met on a null set only, without which the term is 0; also one under a sum, for each of its terms."""
    for atom, e in monomial:
        if isinstance(atom, ZeroAtom) and is_null(atom.argument):
            return atom
        if isinstance(atom, SumAtom) and e > 0:
            found = _kink_of(atom.body)
            if found is not None:
                return found
    return None


def _cleared(form: Polynomial) -> Polynomial | None:
    """The form times the denominators that stand outside every sum; None if there are none."""
    context, result = form.context, form
    for _ in range(MOST_CLEARINGS):
        lowest: dict[Atom, Rational] = {}
        for monomial in result.terms:
            for atom, e in monomial:
                if e < 0 and not isinstance(atom, (PrimeAtom, PiAtom, NumberAtom)):
                    lowest[atom] = min(lowest.get(atom, 0), e)
        if not lowest:
            break
        factors = Factors({a: -floor(e) if isinstance(a, BaseAtom) else exact(-e) for a, e in lowest.items()})
        terms: dict[Monomial, Rational] = {}
        for monomial, c in result.terms.items():
            accumulate(terms, normalise(context, c, merged(monomial, factors.items())))
        result = Polynomial(context, terms)
        if not result.terms:
            break
    return None if result is form else result


def _rewritings(form: Polynomial) -> list[tuple[list[dict[Index, Dim]], str]]:
    """Ways to go through all places of the free indices: constant axes written out, flat axes split."""
    found: list[tuple[list[dict[Index, Dim]], str]] = []
    constant = [(i, size) for i in form.free if (size := i.size.constant) is not None]
    count = 1
    for _, size in constant:
        count *= size
    if constant and count <= MOST_PLACES:
        places = itertools.product(*(range(size) for _, size in constant))
        values = [{i: Dim.of(value) for (i, _), value in zip(constant, place, strict=True)} for place in places]
        found.append((values, "constant axes written out"))
    found += [(values, "a flat axis split") for values in axis_splits(form)]
    return found
