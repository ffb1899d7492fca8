"""Where an expression is defined: what must not be 0, must be positive, must not be negative.

A requirement holds under a guard, the conditions of the branches that it stands in, for all places of its free indices.
What is certain is discharged here: by the signs of the parts, or because the guard contradicts the exception.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaped.spec import expr
from shaped.spec.canonical import indicators
from shaped.spec.canonical.assumptions import Undecided, Undefined
from shaped.spec.canonical.number_signs import NONNEGATIVE, NONZERO, Signs
from shaped.spec.canonical.read import read, read_condition
from shaped.spec.canonical.write import write
from shaped.spec.expr import Apply, Condition, Expr, Node, Power, Where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shaped.spec.canonical.polynomials import Context, Polynomial

_SIGN_TEXTS = {"nonzero": "!= 0", "positive": "> 0", "nonnegative": ">= 0"}


@dataclass(frozen=True)
class Requirement:
    """A part of a domain.

    Args:
        kind: "nonzero", "positive" or "nonnegative".
        argument: the number of which it is required, for all places of its free indices.
        guard: where it is required.
    """

    kind: str
    argument: Expr
    guard: Condition = expr.TRUE

    def __str__(self) -> str:
        text = f"{self.argument} {_SIGN_TEXTS[self.kind]}"
        return text if self.guard is expr.TRUE else f"{text} where {self.guard}"


def requirements_of(context: Context, node: Expr, *, differentiated: str | None = None) -> tuple[Requirement, ...]:
    """What the expression requires and is not certain; for the name of a variable, what the derivative by it does."""
    found: dict[str, Requirement] = {}
    for requirement in _Walk(context, differentiated).of(node, expr.TRUE):
        for each in _open_parts(context, requirement):
            found.setdefault(str(each), each)
    return tuple(found.values())


class _Walk:
    """All requirements of an expression."""

    def __init__(self, context: Context, differentiated: str | None) -> None:
        self.context = context
        self.differentiated = differentiated
        self.seen = set[tuple[Node, Condition]]()

    def of(self, node: Node, guard: Condition) -> Iterator[Requirement]:
        if (node, guard) in self.seen:
            return
        self.seen.add((node, guard))
        match node:
            case Where(condition, then, otherwise):
                yield from self.of(condition, guard)
                yield from self.of(then, expr.both(guard, condition))
                yield from self.of(otherwise, expr.both(guard, expr.negation(condition)))
                return
            case Power(base, exponent):
                if exponent.denominator != 1:
                    strict = exponent < 0 or (exponent < 1 and self._is_differentiated(base))
                    yield Requirement("positive" if strict else "nonnegative", base, guard)
                elif exponent < 0:
                    yield Requirement("nonzero", base, guard)
            case Apply(function, argument):
                yield from self._of_function(function, argument, guard)
        for part in node.parts():
            if isinstance(part, Node):
                yield from self.of(part, guard)

    def _is_differentiated(self, node: Expr) -> bool:
        from shaped.spec.canonical.polynomials import variables_of

        return self.differentiated is not None and self.differentiated in variables_of(node)

    def _of_function(self, function: str, argument: Expr, guard: Condition) -> Iterator[Requirement]:
        match function:
            case "log":
                yield Requirement("positive", argument, guard)
            case "tan":
                yield Requirement("nonzero", expr.apply("cos", argument), guard)
            case "asin" | "acos" if not self._is_differentiated(argument):
                yield Requirement("nonnegative", 1 - argument**2, guard)
            case "asin" | "acos" | "atanh" | "erfinv":
                yield Requirement("positive", 1 - argument**2, guard)
            case "acosh":
                kind = "positive" if self._is_differentiated(argument) else "nonnegative"
                yield Requirement(kind, argument - 1, guard)
            case "lgamma" | "digamma":  # defined on more, but this is where their meaning is beyond doubt
                yield Requirement("positive", argument, guard)


def _open_parts(context: Context, requirement: Requirement) -> Iterator[Requirement]:
    """What is left of a requirement when what is certain is discharged: one for each factor that is not."""
    kind, argument, guard = requirement.kind, requirement.argument, requirement.guard
    conditions = _conditions(guard)
    signs = Signs(context, conditions).of(argument)
    if NONZERO in signs and (kind == "nonzero" or NONNEGATIVE in signs):
        return
    if kind == "nonnegative" and NONNEGATIVE in signs:
        return
    try:
        guarded = read_condition(context, guard)
        if not guarded.terms:
            return
        form = read(context, argument)
        exception = exception_of(kind, form)
        if not (guarded * exception).terms:
            return
    except (Undefined, Undecided):
        yield requirement
        return
    if not form.terms:
        yield Requirement(kind, expr.ZERO, guard)
        return
    yield Requirement(kind, _shown(form, kind), guard)


def exception_of(kind: str, form: Polynomial) -> Polynomial:
    """The condition under which a requirement of the form fails."""
    match kind:
        case "nonzero":
            return indicators.zero(form)
        case "positive":
            return 1 - indicators.positive(form)
        case "nonnegative":
            return 1 - indicators.positive(form) - indicators.zero(form)
    raise ValueError(f"{kind} is no kind of requirement")


def _shown(form: Polynomial, kind: str) -> Expr:
    """A short form of the same sign."""
    from shaped.spec.canonical.powers import content_of
    from shaped.spec.canonical.products import normalise
    from shaped.spec.canonical.signs import Sign, sign_of_power

    single = form.single
    if single is None:
        return write(content_of(form, only_positive=True)[2])
    monomial, c = single
    if kind == "nonzero":
        uncertain = {a: 1 for a, _ in monomial if sign_of_power(a, 1) is not Sign.POSITIVE}
        return write(normalise(form.context, 1, dict(uncertain)))
    odd = {a: e for a, e in monomial if sign_of_power(a, 1) is not Sign.POSITIVE}
    return write(normalise(form.context, 1 if c > 0 else -1, dict(odd)))


def _conditions(guard: Condition) -> tuple[Condition, ...]:
    """The conditions that all hold under the guard."""
    if isinstance(guard, expr.Both):
        return (*_conditions(guard.left), *_conditions(guard.right))
    return () if guard is expr.TRUE else (guard,)


def is_contradictory(context: Context, requirements: tuple[Requirement, ...]) -> bool:
    """Whether evidently no input meets the requirements."""
    together = context.constant(1)
    for each in requirements:
        if each.guard is not expr.TRUE:
            continue
        try:
            together = together * (1 - exception_of(each.kind, read(context, each.argument)))
        except (Undefined, Undecided):
            continue
        if not together.terms:
            return True
        if len(together.terms) > 64:  # enough conditions were taken together
            return False
    return False


__all__ = ["Requirement", "exception_of", "is_contradictory", "requirements_of"]
