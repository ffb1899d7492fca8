"""Conditions on indices as forms of value 0 or 1, decided by the ranges of the indices where they can be."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from shaped.spec.bounds import lower_bound, split_by
from shaped.spec.canonical.atoms import (
    Atom,
    FlagAtom,
    IndexNonnegativeAtom,
    IndexZeroAtom,
)
from shaped.spec.canonical.polynomials import Context, Polynomial
from shaped.spec.canonical.ranges import (
    is_index_free,
    is_negative,
    is_nonnegative,
    is_within,
    simplified,
)
from shaped.spec.dims import Dim, Min
from shaped.spec.expr import Variable
from shaped.spec.index import Index, Lookup
from shaped.spec.normal_form import common_monomial, divide, divide_monomial

if TYPE_CHECKING:
    pass


def index_zero(context: Context, dim: Dim) -> Polynomial:
    """[dim = 0]: 0 or 1 where the ranges of the indices decide it; [i*t + j = 0] with |j| < t is [i = 0]*[j = 0]."""
    dim, known = _without_common_factor(simplified(dim)), context.known
    constant = dim.constant
    if constant is not None:
        return context.constant(int(constant == 0))
    if is_negative(dim, known) or is_negative(-dim, known):
        return context.constant(0)
    step = gcd(*(c for monomial, c in dim.terms if monomial))
    if dim.constant_part % step:
        return context.constant(0)
    if step > 1:
        dim = Dim({monomial: c // step for monomial, c in dim.terms})
    for stride in _strides(dim):
        whole, rest = divide(dim, stride)
        for quotient, remainder in ((whole, rest), (whole + 1, rest - stride)):
            if quotient.terms and remainder.terms and is_within(remainder + stride - 1, stride * 2 - 1, known):
                return index_zero(context, quotient) * index_zero(context, remainder)
    if dim.terms[0][1] < 0:
        dim = -dim
    return context_atom(context, IndexZeroAtom, dim)


def _strides(dim: Dim) -> list[Dim]:
    """Sizes by which the index expression may be divided: the factors beside its indices."""
    found: list[Dim] = []
    for monomial, c in dim.terms:
        if not any(isinstance(atom, (Index, Lookup)) for atom, _ in monomial):
            continue
        sizes = tuple(each for each in monomial if not isinstance(each[0], (Index, Lookup)))
        stride = Dim({sizes: abs(c)})
        if stride.constant != 1 and is_index_free(stride) and stride not in found:
            found.append(stride)
    return found


def index_nonnegative(context: Context, dim: Dim) -> Polynomial:
    """[dim >= 0]: 0 or 1 where the ranges of the indices decide it."""
    dim = _without_common_factor(simplified(dim))
    if is_nonnegative(dim, context.known):
        return context.constant(1)
    if is_negative(dim, context.known):
        return context.constant(0)
    if is_nonnegative(-dim, context.known):
        return index_zero(context, dim)
    for atom in dim.atoms():
        parts = split_by(dim, atom) if isinstance(atom, Min) else None
        if isinstance(atom, Min) and parts is not None and parts[0] == 1:  # min(a, b) + e >= 0 where both are
            both = context.constant(1)
            for choice in atom.choices:
                both = both * index_nonnegative(context, choice + parts[1])
            return both
    if dim.constant_part < 0 and _is_difference(dim):
        return 1 - index_nonnegative(context, -dim - 1)  # i > j as not j >= i: one form for both sides of a mask
    step = gcd(*(c for monomial, c in dim.terms if monomial))
    if step > 1:
        dim = Dim({monomial: c // step for monomial, c in dim.terms})  # 2*i + 1 >= 0 is i >= 0: floor(1/2) is left
    return context_atom(context, IndexNonnegativeAtom, dim)


def _is_difference(dim: Dim) -> bool:
    """Whether it is i - j + c, for two indices."""
    found = [c for monomial, c in dim.terms if len(monomial) == 1 and isinstance(monomial[0][0], Index)]
    return sorted(found) == [-1, 1] and len(dim.terms) == 2 + bool(dim.constant_part)


def _without_common_factor(dim: Dim) -> Dim:
    """The index expression without sizes that all its terms share and that are at least 1."""
    if dim.constant is not None:
        return dim
    shared = tuple(
        (atom, power)
        for atom, power in common_monomial(dim)
        if not isinstance(atom, (Index, Lookup)) and (lower_bound(Dim.atom(atom)) or 0) >= 1
    )
    if not shared:
        return dim
    parts = ((divide_monomial(monomial, shared), c) for monomial, c in dim.terms)
    return Dim({monomial: c for monomial, c in parts if monomial is not None})


def context_atom(context: Context, kind: type[Atom], *fields: object) -> Polynomial:
    """An indicator atom as a form, without further rules."""
    return Polynomial(context, {((context.atom(kind, *fields), 1),): 1})


def flag(context: Context, variable: Variable, at: tuple[Dim, ...]) -> Polynomial:
    """An entry of a bool tensor."""
    return context_atom(context, FlagAtom, variable, tuple(simplified(dim) for dim in at))
