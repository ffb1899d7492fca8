"""Signs of index expressions, by their parts and by the conditions that hold where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec import expr
from shaped.spec.canonical.assumptions import Undecided, Undefined
from shaped.spec.canonical.ranges import is_nonnegative
from shaped.spec.dims import ZERO
from shaped.spec.expr import (
    Add,
    Apply,
    Binder,
    Condition,
    Constant,
    Entry,
    Expr,
    Greatest,
    Multiply,
    Not,
    Pi,
    Positive,
    Power,
    Product,
    Sum,
    Where,
    Whole,
    Zero,
)
from shaped.spec.substitution import substitute

if TYPE_CHECKING:
    from shaped.spec.canonical.polynomials import Context
    from shaped.spec.index import Index

NONNEGATIVE, NONPOSITIVE, NONZERO = "nonnegative", "nonpositive", "nonzero"
Known = frozenset[str]
_NOTHING: Known = frozenset()
_POSITIVE: Known = frozenset({NONNEGATIVE, NONZERO})
_TURNED = {NONNEGATIVE: NONPOSITIVE, NONPOSITIVE: NONNEGATIVE, NONZERO: NONZERO}
_MONOTONE = frozenset({"sinh", "asinh", "tanh", "atanh", "atan", "asin", "erf", "erfinv", "sign", "abs"})


def turned(known: Known) -> Known:
    """What is known of the negative of a number."""
    return frozenset(_TURNED[each] for each in known)


class Signs:
    """What is certain of the signs of expressions wherever some conditions hold and the expressions are defined."""

    def __init__(self, context: Context, conditions: tuple[Condition, ...] = ()) -> None:
        self.context = context
        self.conditions = conditions
        self.done: dict[Expr, Known] = {}
        self.facts: dict[Expr, Known] = {}
        for condition in conditions:
            self._learn(condition)

    def _learn(self, condition: Condition) -> None:
        match condition:
            case Positive(argument):
                self._add(argument, _POSITIVE)
            case Not(Positive(argument)):
                self._add(argument, frozenset({NONPOSITIVE}))
            case Not(Zero(argument)):
                self._add(argument, frozenset({NONZERO}))
            case Zero(argument):
                self._add(argument, frozenset({NONNEGATIVE, NONPOSITIVE}))

    def _add(self, argument: Expr, known: Known) -> None:
        self.facts[argument] = self.facts.get(argument, _NOTHING) | known
        opposite = -argument
        self.facts[opposite] = self.facts.get(opposite, _NOTHING) | turned(known)

    def of(self, node: Expr) -> Known:
        """What is certain: any of NONNEGATIVE, NONPOSITIVE and NONZERO."""
        known = self.done.get(node)
        if known is None:
            known = self.done[node] = self._of(node) | self.facts.get(node, _NOTHING)
        return known

    def _of(self, node: Expr) -> Known:
        match node:
            case Constant(value):
                if not value:
                    return frozenset({NONNEGATIVE, NONPOSITIVE})
                return _POSITIVE if value > 0 else turned(_POSITIVE)
            case Pi():
                return _POSITIVE
            case Whole(dim):
                if is_nonnegative(dim - 1, self.context.known):
                    return _POSITIVE
                return frozenset({NONNEGATIVE}) if is_nonnegative(dim, self.context.known) else _NOTHING
            case Entry(variable, _):
                return _POSITIVE if variable.name in self.context.assumptions.positive else _NOTHING
            case Add(terms):
                return self._of_sum([self.of(term) for term in terms])
            case Multiply(factors):
                return self._of_product(factors)
            case Power(base, exponent):
                return self._of_power(self.of(base), exponent)
            case Apply(function, argument):
                return self._of_function(function, argument)
            case Sum(index, body) | Greatest(index, body) | Product(index, body):
                inner = self._without(index)
                return inner._of_binder(node, inner.of(body))
            case Where(condition, then, otherwise):
                then_signs = Signs(self.context, (*self.conditions, condition)).of(then)
                else_signs = Signs(self.context, (*self.conditions, expr.negation(condition))).of(otherwise)
                return then_signs & else_signs
        return _NOTHING

    def _of_sum(self, terms: list[Known]) -> Known:
        for sign in (NONNEGATIVE, NONPOSITIVE):
            if all(sign in known for known in terms):
                return frozenset({sign}) | ({NONZERO} if any(NONZERO in known for known in terms) else _NOTHING)
        return _NOTHING

    def _of_product(self, factors: tuple[Expr, ...]) -> Known:
        result = _POSITIVE
        pending = list(factors)
        while pending:
            factor = pending.pop()
            if factor in pending and isinstance(factor, Expr):  # a square
                pending.remove(factor)
                known = frozenset({NONNEGATIVE}) | (self.of(factor) & {NONZERO})
            else:
                known = self.of(factor)
            nonzero = result & known & {NONZERO}
            if (NONNEGATIVE in result and NONNEGATIVE in known) or (NONPOSITIVE in result and NONPOSITIVE in known):
                result = nonzero | {NONNEGATIVE}
            elif (NONNEGATIVE in result and NONPOSITIVE in known) or (NONPOSITIVE in result and NONNEGATIVE in known):
                result = nonzero | {NONPOSITIVE}
            else:
                result = nonzero
        return result

    def _of_power(self, base: Known, exponent: object) -> Known:
        from fractions import Fraction

        assert isinstance(exponent, Fraction)
        nonzero = frozenset({NONZERO}) if NONZERO in base or exponent < 0 else _NOTHING
        if exponent.denominator != 1 or exponent.numerator % 2 == 0:
            return nonzero | {NONNEGATIVE}
        return nonzero | (base & {NONNEGATIVE, NONPOSITIVE})

    def _of_function(self, function: str, argument: Expr) -> Known:
        match function:
            case "exp" | "sigmoid":
                return _POSITIVE
            case "cosh":
                return _POSITIVE
            case "abs":
                return frozenset({NONNEGATIVE}) | (self.of(argument) & {NONZERO})
            case "acos" | "acosh":
                return frozenset({NONNEGATIVE})
        return self.of(argument) if function in _MONOTONE else _NOTHING

    def _without(self, index: Index) -> Signs:
        """The signs where nothing is known of an index, which a binder now uses for its own places."""
        kept = tuple(condition for condition in self.conditions if index not in condition.free)
        return self if len(kept) == len(self.conditions) else Signs(self.context, kept)

    def _of_binder(self, node: Binder, body: Known) -> Known:
        is_inhabited = is_nonnegative(node.index.size - 1, self.context.known)
        if isinstance(node, Product):
            return body & _POSITIVE if NONNEGATIVE in body else body & {NONZERO}
        if isinstance(node, Greatest):
            return body if is_inhabited else _NOTHING
        for sign in (NONNEGATIVE, NONPOSITIVE):
            if sign in body:
                is_nonzero = is_inhabited and (NONZERO in body or self._is_nonzero_somewhere(node))
                return frozenset({sign, NONZERO}) if is_nonzero else frozenset({sign})
        return _NOTHING

    def _is_nonzero_somewhere(self, node: Binder) -> bool:
        """Whether the body is certainly not 0 at the first, the last or a free place, or where a maximum is reached."""
        if self._counts_greatest(node):
            return True
        index = node.index
        places = [ZERO, index.size - 1, *(other.dim for other in node.free if other.size == index.size)]
        return any(NONZERO in self.of(_decided(substitute(node.body, {index: place}), self)) for place in places)

    def _counts_greatest(self, node: Binder) -> bool:
        """Whether the body is not 0 at the places whose value is the greatest: there is one."""
        from shaped.spec.canonical.read import read

        body = node.body
        if not (isinstance(body, Where) and isinstance(body.condition, Zero) and NONZERO in self.of(body.then)):
            return False
        argument = body.condition.argument
        for term in argument.terms if isinstance(argument, Add) else ():
            most = _greatest_in(term)
            if most is None or most.index.size != node.index.size or node.index in most.free:
                continue
            value = substitute(most.body, {most.index: node.index.dim})
            try:
                difference, own = read(self.context, value - most), read(self.context, argument)
            except (Undecided, Undefined):
                continue
            if own in (difference, -difference):
                return True
        return False


def _greatest_in(term: Expr) -> Greatest | None:
    """The maximum that a term is, or is the negative of."""
    if isinstance(term, Multiply) and len(term.factors) == 2 and isinstance(term.factors[0], Constant):
        term = term.factors[1]
    return term if isinstance(term, Greatest) else None


def _decided(node: Expr, signs: Signs) -> Expr:
    """The branch that is taken, where the ranges of the indices or the conditions decide it."""
    if isinstance(node, Where):
        condition = node.condition
        from shaped.spec.canonical.read import read_condition

        try:
            constant = read_condition(signs.context, condition).constant
        except Exception:
            constant = None
        if constant is not None:
            return _decided(node.then if constant else node.otherwise, signs)
    if isinstance(node, Multiply):
        return expr.multiply(*(_decided(factor, signs) for factor in node.factors))
    return node
