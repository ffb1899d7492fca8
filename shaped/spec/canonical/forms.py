"""Forms of expressions and of gradients, under assumptions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shaped.spec.canonical import sums
from shaped.spec.canonical.assumptions import NO_ASSUMPTIONS, Assumptions, Undecided
from shaped.spec.canonical.differentiate import derivative
from shaped.spec.canonical.domain import Requirement, requirements_of
from shaped.spec.canonical.polynomials import Context, Polynomial
from shaped.spec.canonical.read import read
from shaped.spec.canonical.write import write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shaped.spec.expr import Expr, Variable
    from shaped.spec.index import Index

LARGEST_CONTEXT = 20_000  # atoms: a context with more is not used again
MOST_CONTEXTS = 8  # that are kept


@dataclass(frozen=True, eq=False)
class Form:
    """The canonical form of an expression, with what its domain requires.

    Two forms made under equal assumptions are equal as objects where the canonical forms are the same.
    """

    polynomial: Polynomial
    requirements: tuple[Requirement, ...] = ()
    derive: Callable[[Context], Polynomial] | None = field(default=None, repr=False)  # the same in another context

    def to_expr(self) -> Expr:
        """The form as an index expression."""
        return write(self.polynomial)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and in_context(self.polynomial.context, other) == self.polynomial

    def __hash__(self) -> int:
        return hash(tuple(sorted(map(hash, self.polynomial.terms.values()))))

    def __str__(self) -> str:
        return str(self.to_expr())


_contexts: dict[Assumptions, Context] = {}


def context_for(assumptions: Assumptions) -> Context:
    """A context for these assumptions; what it has computed rests on nothing else, so it is used again."""
    context = _contexts.get(assumptions)
    if context is None or len(context.atoms) > LARGEST_CONTEXT:
        if len(_contexts) >= MOST_CONTEXTS:
            _contexts.clear()
        context = _contexts[assumptions] = Context(assumptions)
    context.steps = 0
    return context


def canonical(expression: Expr, assumptions: Assumptions = NO_ASSUMPTIONS) -> Form:
    """The canonical form of an expression.

    Raises:
        Undefined: the expression has no value for any input.
        Undecided: a construct is not followed, or the form is too large.

    >>> from shaped.spec.expr import Variable
    >>> from shaped.spec.dims import Dim
    >>> from shaped.spec.index import fresh_index
    >>> n = Dim.name("n")
    >>> x, i = Variable("x", (n,)), fresh_index(n)
    >>> print(canonical((x[i.dim] + 1) ** 2 - x[i.dim] ** 2))
    2*x[i] + 1
    """
    context = context_for(assumptions)
    try:
        return Form(read(context, expression), requirements_of(context, expression))
    except RecursionError:
        raise Undecided("the expression is nested too deeply") from None


def requirements(expression: Expr, assumptions: Assumptions = NO_ASSUMPTIONS) -> tuple[Requirement, ...]:
    """The domain of an expression: what it requires and is not certain.

    >>> from shaped.spec.expr import Variable
    >>> from shaped.spec.dims import Dim
    >>> from shaped.spec.index import fresh_index
    >>> n = Dim.name("n")
    >>> x, i = Variable("x", (n,)), fresh_index(n)
    >>> print(*requirements(1 / x[i.dim] + (x[i.dim] ** 2 + 1) ** -1))
    x[i] != 0
    """
    return requirements_of(context_for(assumptions), expression)


def adjoint(
    outputs: Sequence[tuple[tuple[Index, ...], Expr]],
    upstreams: Sequence[Expr],
    variable: Variable,
    at: tuple[Index, ...],
    assumptions: Assumptions = NO_ASSUMPTIONS,
) -> Form:
    """The gradient by the entry `at` of a variable: the sum over all outputs of upstream * d output / d variable[at].

    Args:
        outputs: each output's indices and its entry there.
        upstreams: each output's upstream gradient, in the same indices.
        variable: the tensor; other variables with a definition are differentiated through it.
        at: free indices, one an axis.
        assumptions: what may be taken for granted.

    Raises:
        ValueError: an index stands both for a place of an output and of the entry.
        Undefined: an output has no value for any input.
        Undecided: a construct is not followed, or the form is too large.
    """
    for indices, _ in outputs:
        if not set(indices).isdisjoint(at):
            raise ValueError("an index of an output is also one of the entry's: make a fresh index for each")
    context = context_for(assumptions)
    required = dict[str, Requirement]()
    places = tuple(index.dim for index in at)

    def derive(context: Context) -> Polynomial:
        total = context.constant(0)
        for (indices, output), upstream in zip(outputs, upstreams, strict=True):
            slope = derivative(read(context, output), variable, places)
            total = total + sums.sum_over(indices, read(context, upstream) * slope)
        return total

    try:
        for _, output in outputs:
            for each in requirements_of(context, output, differentiated=variable.name):
                required.setdefault(str(each), each)
        return Form(derive(context), tuple(required.values()), derive)
    except RecursionError:
        raise Undecided("the derivative is nested too deeply") from None


def in_context(context: Context, side: Form | Expr) -> Polynomial:
    if isinstance(side, Form):
        if side.polynomial.context is context:
            return side.polynomial
        if side.derive is not None:
            return side.derive(context)
        side = side.to_expr()
    return read(context, side)
