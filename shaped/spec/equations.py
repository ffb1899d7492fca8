"""The verdict on an equation or an inequality between sizes: proofs, refutations, and what may be assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.bounds import is_nonnegative, least_value, split_by
from shaped.spec.counterexample import find_values
from shaped.spec.dim_text import comparison, operand
from shaped.spec.dims import Dim, DimLike, FloorDiv, Kind, Min, Symbol
from shaped.spec.normal_form import common_monomial, divide, divide_monomial
from shaped.spec.reading import in_order
from shaped.spec.solve import (
    integer_roots,
    is_refuted_by_divisor,
    primitive,
    two_factor_solutions,
    without_nonzero_factors,
)
from shaped.spec.verdict import NEVER, OPEN, PROVED, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shaped.spec.facts import Facts
    from shaped.spec.reading import Reading

MOST_INTENDED = 6  # divisions whose exactness is tried together


def judge_equality(facts: Facts, a: DimLike, b: DimLike) -> Verdict:
    """The verdict on a == b."""
    difference = Dim.of(a) - b
    read = facts.reading.read(difference)
    if read.constant is not None:
        return NEVER if read.constant else PROVED
    if is_never_zero(facts.reading, read):
        return NEVER
    if is_always_zero(facts.reading, read):
        return PROVED
    written = facts.reading.write(read)
    if difference.has_unknown or written.has_unknown:
        return OPEN
    for assumed in _assumptions(facts, difference, written):
        return assumed
    names = difference.symbols()
    sizes = find_values(facts.reading, read, lambda value: value != 0, names)
    return OPEN if sizes is None else Verdict(Status.SOMETIMES, sizes)


def judge_at_least(facts: Facts, a: DimLike, b: DimLike) -> Verdict:
    """The verdict on a >= b."""
    difference = Dim.of(a) - b
    read = facts.reading.read(difference)
    if is_nonnegative(read, facts.reading.known):
        return PROVED
    if is_nonnegative(-read - 1, facts.reading.known):
        return NEVER
    if difference.has_unknown or read.has_unknown:
        return OPEN
    sizes = find_values(facts.reading, read, lambda value: value < 0, difference.symbols())
    return OPEN if sizes is None else Verdict(Status.SOMETIMES, sizes)


def is_never_zero(reading: Reading, dim: Dim) -> bool:
    """Whether it is proved that no sizes make `dim`, as it was read, zero."""
    if is_refuted_by_divisor(dim):
        return True
    dim = primitive(dim)
    if dim in reading.different:
        return True
    _, dim = without_nonzero_factors(dim)
    if dim.constant is not None:
        return dim.constant != 0
    if dim in reading.different or is_refuted_by_divisor(dim):
        return True
    if is_nonnegative(dim - 1, reading.known) or is_nonnegative(-dim - 1, reading.known):
        return True
    atoms = set(dim.atoms())
    if len(atoms) == 1:
        (atom,) = atoms
        roots = integer_roots(dim, atom)
        return roots is not None and all(_is_excluded(reading, Dim.atom(atom) - root) for root in roots)
    if len(atoms) == 2:
        solutions = two_factor_solutions(dim)
        return solutions == []
    return False


def _is_excluded(reading: Reading, dim: Dim) -> bool:
    """Whether facts keep a linear `dim` from being zero."""
    return dim in reading.different or is_nonnegative(dim - 1, reading.known) or is_nonnegative(-dim - 1, reading.known)


def is_always_zero(reading: Reading, dim: Dim) -> bool:
    """Whether a `dim` that the normal form keeps is proved to be zero."""
    if dim.is_polynomial and not reading.known:
        return False
    # ceil(x/2) is x - x//2.
    halved = dim.replace_atoms(lambda atom: _as_rounded_down(atom) if isinstance(atom, FloorDiv) else None)
    if not halved.terms:
        return True
    return is_nonnegative(halved, reading.known) and is_nonnegative(-halved, reading.known)


def _as_rounded_down(atom: FloorDiv) -> Dim | None:
    if atom.denominator != 2 or atom.numerator.constant_part != 1:
        return None
    rest = atom.numerator - 1
    return rest - rest // 2


def _assumptions(facts: Facts, difference: Dim, written: Dim) -> Iterator[Verdict]:
    """The ways in which an equation that only some sizes satisfy is what the code relies on."""
    intended = _by_exact_division(facts, difference)
    if intended is not None:
        yield intended
    # A shared factor makes both sides zero or does not matter.
    shared = common_monomial(written)
    quotients = ((divide_monomial(monomial, shared), coefficient) for monomial, coefficient in written.terms)
    equation = primitive(Dim({m: c for m, c in quotients if m is not None}))
    for way in (_by_choice, _by_naming, _by_pinning):
        verdict = way(facts, equation)
        if verdict is not None and verdict.learned is not None and not verdict.learned.is_impossible:
            yield verdict


def _by_exact_division(facts: Facts, difference: Dim) -> Verdict | None:
    """`h*(d//h) == d`, when the user's divisions leave no rest."""
    symbols = difference.symbols()
    divisions = [
        (numerator, denominator)
        for numerator, denominator in in_order(facts.intended)
        if not symbols.isdisjoint(numerator.symbols() | denominator.symbols())
        and facts.reading.read(numerator % denominator).terms
    ][:MOST_INTENDED]
    if not divisions:
        return None

    def learned(chosen: list[tuple[Dim, Dim]]) -> Facts:
        new = facts
        for numerator, denominator in chosen:
            new = new.with_exact(numerator, denominator)
        return new

    def suffices(chosen: list[tuple[Dim, Dim]]) -> bool:
        return not learned(chosen).reading.read(difference).terms

    if not suffices(divisions):
        return None
    for division in list(divisions):
        without = [other for other in divisions if other != division]
        if without and suffices(without):
            divisions = without
    text = " and ".join(f"{operand(n)} % {operand(d)} == 0" for n, d in divisions)
    return Verdict(Status.ASSUMABLE, assumption=text, learned=learned(divisions))


def _by_naming(facts: Facts, equation: Dim) -> Verdict | None:
    """`d == d_model`: a dim name that has no value yet meets an expression of a caller's ints."""
    for name in sorted(equation.symbols(), key=lambda symbol: symbol.sort_key):
        if name.kind is not Kind.NAME:
            continue
        split = split_by(equation, name)
        if split is None:
            continue
        factor, rest = split
        if not factor.terms or name in factor.symbols() | rest.symbols():
            continue
        value, left = divide(-rest, factor)
        if not left.terms and _is_of_quantities(value):
            learned = facts.with_equal(Dim.atom(name), value)
            return Verdict(Status.ASSUMABLE, assumption=f"{name} == {value}", learned=learned)
        if _is_of_quantities(rest) and not any(symbol.kind is not Kind.QUANTITY for symbol in factor.symbols()):
            learned = facts.with_exact(-rest, factor).with_equal(Dim.atom(name), -rest // factor)
            return Verdict(Status.ASSUMABLE, assumption=_equation_text(equation), learned=learned)
    names = [m for m, _ in equation.terms if any(s.kind is Kind.NAME for s in Dim({m: 1}).symbols())]
    numbers = [m for m, _ in equation.terms if _is_of_quantities(Dim({m: 1}))]
    named = Dim({m: c for m, c in equation.terms if m in names})
    if names and numbers and (len({c > 0 for _, c in named.terms}) == 1 or _is_of_floors(named)):
        only_names = all(s.kind is Kind.NAME for m in names for atom, _ in m if isinstance(s := atom, Symbol))
        if only_names:
            return Verdict(Status.ASSUMABLE, assumption=_equation_text(equation), learned=facts)
    return None


def _is_of_quantities(dim: Dim) -> bool:
    """Whether it depends on a caller's ints and on nothing else."""
    symbols = dim.symbols()
    return bool(symbols) and all(symbol.kind is Kind.QUANTITY for symbol in symbols)


def _is_of_floors(dim: Dim) -> bool:
    """Whether named sizes occur in it only below floors."""
    return all(isinstance(atom, FloorDiv) for atom in dim.atoms())


def _by_choice(facts: Facts, equation: Dim) -> Verdict | None:
    """`min(t, 64) == t`: the equation holds when the least is one of the choices."""
    for atom in dict.fromkeys(equation.atoms()):
        if not isinstance(atom, Min):
            continue
        for choice in atom.choices:
            chosen = equation.replace_atoms(lambda other, a=atom, c=choice: c if other == a else None)  # type: ignore[misc]
            if not facts.normalize(chosen).terms:
                others = [other for other in atom.choices if other != choice]
                learned = facts
                for other in others:
                    learned = learned.with_at_least(other, choice)
                text = " and ".join(comparison(choice, "<=", other) for other in others)
                return Verdict(Status.ASSUMABLE, assumption=text, learned=learned)
    return None


def _by_pinning(facts: Facts, equation: Dim) -> Verdict | None:
    """`s//32 == 7`: an image size that occurs only below floors and that a constant pins to finitely many values."""
    atoms = list(dict.fromkeys(equation.atoms()))
    if not _is_of_floors(equation):
        return None
    if len(atoms) == 1:
        roots = integer_roots(equation, atoms[0])
        if not roots:
            return None
        if len(roots) == 1:
            floor = Dim.atom(atoms[0])
            learned = facts.with_equal(floor, roots[0])
            return Verdict(Status.ASSUMABLE, assumption=f"{floor} == {roots[0]}", learned=learned)
    elif not two_factor_solutions(equation) and not _is_product(equation):
        return None
    return Verdict(Status.ASSUMABLE, assumption=_equation_text(equation), learned=facts)


def _is_product(equation: Dim) -> bool:
    """Whether it says that a product of sizes from 0 is a number from 1."""
    if len(equation.terms) != 2 or equation.constant_part >= 0:
        return False
    return all((low := least_value(atom)) is not None and 0 <= low <= 1 for atom in equation.atoms())


def _equation_text(equation: Dim) -> str:
    """The equation with its constant or the caller's ints on the right."""
    right = Dim({m: -c for m, c in equation.terms if not m or _is_of_quantities(Dim({m: 1}))})
    left = equation + right
    if not left.terms or not right.terms:
        return comparison(equation, "==", Dim.of(0))
    return f"{left} == {right}" if left.terms[0][1] > 0 else f"{-left} == {-right}"
