"""Sums over indices: what a sum of one term is made of, and how it is taken apart.

A sum over indices is distributed over its terms. In each: constant ranges are written out, inner sums opened,
indices that a condition [i = e] determines replaced, conditions on one index made its range, factors free of the
indices taken out, and what hangs together by no index split. What is left is closed by `labels`.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from shaped.spec.canonical import labels
from shaped.spec.canonical.atoms import Atom, IndexNonnegativeAtom, IndexZeroAtom, Monomial, Rational, SumAtom
from shaped.spec.canonical.index_conditions import index_nonnegative
from shaped.spec.canonical.polynomials import Context, Polynomial, accumulate, total_of, unused_index
from shaped.spec.canonical.products import Factors, merged, monomial_of, normalise
from shaped.spec.canonical.ranges import coefficient_of, is_index_free, is_nonnegative, is_within
from shaped.spec.canonical.substitution import monomial_with, number, opened_sum, power_with, renamed
from shaped.spec.dims import Dim, maximum
from shaped.spec.index import Index, free_indices
from shaped.spec.normal_form import divide

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


MOST_UNROLLED = 8  # a sum over a constant size up to this is written out


def sum_over(indices: Iterable[Index], form: Polynomial) -> Polynomial:
    """The sum of a form over indices, whose sizes depend on no index."""
    bound = tuple(indices)
    if not bound:
        return form
    terms: dict[Monomial, Rational] = {}
    for monomial, c in form.terms.items():
        accumulate(terms, _sum_of_term(form.context, bound, dict(monomial)).scaled(c))
    return Polynomial(form.context, terms)


def _sum_of_term(context: Context, bound: tuple[Index, ...], factors: Factors) -> Polynomial:
    context.count_step()
    if not bound:
        return normalise(context, 1, factors)
    for step in _STEPS:
        result = step(context, bound, factors)
        if result is not None:
            return result
    inside = frozenset(bound)
    outside = {atom: e for atom, e in factors.items() if atom.free.isdisjoint(inside)}
    result = normalise(context, 1, outside)
    for part in _connected(bound, factors):
        own = {atom: e for atom, e in factors.items() if not atom.free.isdisjoint(part)}
        # A size that may be negative is an empty range.
        result = result * (labels.closed(context, part, own) if own else number(context, maximum(part[0].size, 0)))
    return result


def _with_range_written_out(context: Context, bound: tuple[Index, ...], factors: Factors) -> Polynomial | None:
    """A sum over a small constant range, term by term."""
    most = MOST_UNROLLED if context.writes_out else 1
    for index in bound:
        size = index.size.constant
        if size is not None and size <= most:
            rest = tuple(other for other in bound if other != index)
            values = (monomial_with(context, factors.items(), 1, {index: Dim.of(value)}) for value in range(size))
            return total_of(context, [sum_over(rest, value) for value in values])
    return None


def _with_inner_sum_opened(context: Context, bound: tuple[Index, ...], factors: Factors) -> Polynomial | None:
    """Sums over several indices are one sum."""
    inside = frozenset(bound)
    for atom, e in factors.items():
        if isinstance(atom, SumAtom) and _may_be_opened(atom, e) and not atom.free.isdisjoint(inside):
            used = set(inside).union(*(other.free for other in factors))
            body = normalise(context, 1, merged(factors, [(atom, -e)]))
            opened = list(bound)
            for _ in range(int(e)):
                indices, part = opened_sum(atom, used)
                used.update(indices)
                opened += indices
                body = body * part
            return sum_over(opened, body)
    return None


def with_factors_inside(form: Polynomial) -> Polynomial:
    """The form with the factors of each term multiplied into its sums, where a rule may need them together."""
    context, parts = form.context, list[Polynomial]()
    for monomial, c in form.terms.items():
        factors = dict(monomial)
        body = normalise(context, c, {a: e for a, e in monomial if not _may_be_opened(a, e)})
        opened = list[Index]()
        used = {index for atom in factors for index in atom.free}
        for atom, e in monomial:
            if isinstance(atom, SumAtom) and _may_be_opened(atom, e):
                for _ in range(int(e)):
                    indices, part = opened_sum(atom, used)
                    used.update(indices)
                    opened += indices
                    body = body * part
        parts.append(sum_over(opened, body))
    return total_of(context, parts)


def _may_be_opened(atom: Atom, exponent: Rational) -> bool:
    return isinstance(atom, SumAtom) and isinstance(exponent, int) and exponent > 0


def _with_index_eliminated(context: Context, bound: tuple[Index, ...], factors: Factors) -> Polynomial | None:
    """The sum over i of [i = e]*f(i) is f(e), where e is in the range of i."""
    inside = frozenset(bound)
    for atom, exponent in factors.items():
        if not isinstance(atom, IndexZeroAtom) or not exponent or atom.free.isdisjoint(inside):
            continue
        candidates = [index for index in bound if coefficient_of(atom.dim, index) in (1, -1)]
        if not candidates:
            continue
        values = {i: i.dim - atom.dim * (coefficient_of(atom.dim, i) or 0) for i in candidates}
        known = context.known
        index = next((i for i in candidates if is_within(values[i], i.size, known)), candidates[0])
        value = values[index]
        rest = tuple(other for other in bound if other != index)
        body = within(context, value, index.size)
        kept = {a: e for a, e in factors.items() if a is not atom and index not in a.free}
        body = body * normalise(context, 1, kept)
        for other, e in factors.items():
            if other is not atom and index in other.free:
                body = body * power_with(other, e, {index: value})
        return sum_over(rest, body)
    return None


def within(context: Context, place: Dim, size: Dim) -> Polynomial:
    """[0 <= place < size], without what the ranges of the indices say."""
    return index_nonnegative(context, place) * index_nonnegative(context, size - 1 - place)


def _with_axis_split(context: Context, bound: tuple[Index, ...], factors: Factors) -> Polynomial | None:
    """The sum over i < q*c of f(i // c, i % c) is the sum over both parts."""
    for index in bound:
        for stride in _divisors(factors, (index,)):
            major_size, rest = divide(index.size, stride)
            sizes = (stride, major_size)
            if rest.terms or stride == 1 or not all(is_nonnegative(each, context.known) for each in sizes):
                continue
            used = set(bound).union(*(atom.free for atom in factors))
            major, minor = unused_index(major_size, used), unused_index(stride, used)
            if major == minor:
                minor = unused_index(stride, used | {major})
            body = monomial_with(context, factors.items(), 1, {index: major.dim * stride + minor.dim})
            if not _divisors((atom for monomial in body.terms for atom, _ in monomial), (major, minor)):
                return sum_over((*(other for other in bound if other != index), major, minor), body)
    return None


def _divisors(factors: Iterable[Atom], indices: Iterable[Index]) -> list[Dim]:
    """Sizes by which expressions with one of the indices are divided."""
    wanted = frozenset(indices)
    quotients = {each: None for atom in factors for each in atom.quotients}
    return [each.denominator for each in quotients if not wanted.isdisjoint(free_indices(each.numerator))]


def _with_window_eliminated(context: Context, bound: tuple[Index, ...], factors: Factors) -> Polynomial | None:
    """[0 <= e - c*i < c] says that i is e // c."""
    cuts = [atom for atom in factors if isinstance(atom, IndexNonnegativeAtom)]
    for low, high in itertools.permutations(cuts, 2):
        stride = low.dim + high.dim + 1
        for index in bound:
            numerator = low.dim + index.dim * stride
            if index not in low.free or index in free_indices(numerator):
                continue
            if not is_index_free(stride) or not is_nonnegative(stride - 1, context.known):
                continue
            value = numerator // stride
            kept = merged(factors, [(low, -1), (high, -1)])
            body = within(context, value, index.size) * monomial_with(context, kept.items(), 1, {index: value})
            return sum_over(tuple(other for other in bound if other != index), body)
    return None


def _with_range_changed(context: Context, bound: tuple[Index, ...], factors: Factors) -> Polynomial | None:
    """The sum over i < n of [i <= e]*f(i) runs over i < e + 1, for a size e; [i >= e] is taken likewise."""
    inside = frozenset(bound)
    for atom, exponent in factors.items():
        if not isinstance(atom, IndexNonnegativeAtom) or not exponent or len(atom.free) != 1:
            continue
        (index,) = atom.free
        sign = coefficient_of(atom.dim, index)
        if index not in inside or sign not in (1, -1) or labels.anchor_of(index, factors) is not None:
            continue
        end = atom.dim - index.dim * sign  # sign*index + end >= 0
        if not labels.is_plain_size(end):
            continue
        if (
            sign == -1
            and is_nonnegative(index.size - 1 - end, context.known)
            and is_nonnegative(end + 1, context.known)
        ):
            size, shift = end + 1, Dim.of(0)
        elif sign == 1 and is_nonnegative(-end, context.known) and is_nonnegative(index.size + end, context.known):
            size, shift = index.size + end, -end
        else:
            continue
        used = set(inside).union(*(other.free for other in factors))
        new = unused_index(size, used)
        body = monomial_with(context, merged(factors, [(atom, -exponent)]).items(), 1, {index: new.dim + shift})
        return sum_over((*(other for other in bound if other != index), new), body)
    return None


_STEPS = (
    _with_index_eliminated,
    _with_range_written_out,
    _with_inner_sum_opened,
    _with_window_eliminated,
    _with_axis_split,
    _with_range_changed,
)


def _connected(bound: tuple[Index, ...], factors: Mapping[Atom, Rational]) -> list[tuple[Index, ...]]:
    """The indices in groups that no factor joins."""
    groups = [{index} for index in bound]
    for atom in factors:
        touched = [group for group in groups if not atom.free.isdisjoint(group)]
        if len(touched) > 1:
            groups = [group for group in groups if group not in touched] + [set().union(*touched)]
    return [tuple(index for index in bound if index in group) for group in groups]


__all__ = ["monomial_of", "renamed", "sum_over", "within"]
