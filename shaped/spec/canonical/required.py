"""What the requirements of two expressions say of their difference: in which of its cases there is no input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.canonical.assumptions import Undecided, Undefined
from shaped.spec.canonical.atoms import Atom, EntryAtom, FlagAtom, PositiveAtom, ZeroAtom
from shaped.spec.canonical.domain import exception_of
from shaped.spec.canonical.indicators import where_fails, where_holds
from shaped.spec.canonical.polynomials import Polynomial
from shaped.spec.canonical.ranges import is_within
from shaped.spec.canonical.read import read, read_condition
from shaped.spec.canonical.search import atoms_within
from shaped.spec.canonical.substitution import renamed
from shaped.spec.index import Index, free_indices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shaped.spec.canonical.domain import Requirement
    from shaped.spec.dims import Dim

MOST_CONDITIONS = 6  # that are decided one after the other


def vanishes_where_required(
    difference: Polynomial, requirements: tuple[Requirement, ...], places: frozenset[Index]
) -> bool:
    """Whether the difference is 0 in every case of its conditions in which the requirements can be met.

    Args:
        difference: a form.
        requirements: what holds, for all places of the indices that are not in `places`.
        places: the free indices of the two sides: they stand for one place each.
    """
    failures = [failure for each in requirements for failure in _failures(difference, each, places)]
    return bool(failures) and _vanishes(difference, difference.context.constant(1), failures, MOST_CONDITIONS)


def _vanishes(difference: Polynomial, case: Polynomial, failures: list[Polynomial], depth: int) -> bool:
    if not difference.terms or not case.terms or any(not (failure * case - case).terms for failure in failures):
        return True
    condition = next(iter(_conditions(difference)), None)
    if condition is None or not depth:
        return False
    holds = Polynomial(difference.context, {((condition, 1),): 1})
    return _vanishes(where_holds(difference, condition), case * holds, failures, depth - 1) and _vanishes(
        where_fails(difference, condition), case * (1 - holds), failures, depth - 1
    )


def _conditions(form: Polynomial) -> list[Atom]:
    """The conditions on numbers in a form, each once."""
    found = {a: None for m in form.terms for a, _ in m if isinstance(a, (PositiveAtom, ZeroAtom, FlagAtom))}
    return list(found)


def _failures(difference: Polynomial, requirement: Requirement, places: frozenset[Index]) -> Iterator[Polynomial]:
    """Conditions, as forms of value 1 and 0, under which the requirement is not met at some place."""
    context = difference.context
    try:
        form = read(context, requirement.argument)
        failure = read_condition(context, requirement.guard) * exception_of(requirement.kind, form)
    except (Undefined, Undecided):
        return
    if failure.free <= places:
        yield failure
        return
    seen: set[Polynomial] = set()
    for condition in _conditions(difference):
        for values in _instances(failure, condition, places):
            instance = renamed(failure, values)
            if instance not in seen:
                seen.add(instance)
                yield instance


def _instances(failure: Polynomial, condition: Atom, places: frozenset[Index]) -> Iterator[dict[Index, Dim]]:
    """Values of the free indices of a failure at which it speaks of an entry that the condition speaks of."""
    own = [each for each in atoms_within(failure) if isinstance(each, EntryAtom)]
    others = [each for each in atoms_within(condition.context.power_of(condition)) if isinstance(each, EntryAtom)]
    for other in others:
        for each in own:
            if each.variable != other.variable:
                continue
            values: dict[Index, Dim] = {index: index.dim for index in failure.free & places}
            for place, value in zip(each.at, other.at, strict=True):
                index = place.single_atom
                if isinstance(index, Index) and index in failure.free and index not in values:
                    values[index] = value
            used = {index for value in values.values() for index in free_indices(value)}
            known = condition.context.known
            in_range = all(index in places or is_within(value, index.size, known) for index, value in values.items())
            if in_range and failure.free <= values.keys() and used <= condition.free | places:
                yield values
