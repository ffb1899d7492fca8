"""Index expressions: the one language in which the meaning of a tensor operation is said.

A node is immutable and interned: equal nodes are one object, so equality is identity and what is computed of a node can
be kept under it. An `Expr` says a number, a `Condition` yes or no, for each place of its free indices (`spec.index`).
`Sum`, `Product`, `Greatest` and `Exists` bind an index, which runs over the size that it carries.

Nodes are made by the functions and operators, which simplify constants and no more. `show` prints expressions,
`evaluate` computes them and `canonical` decides whether two are equal.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Union, cast

from shaped.spec.dims import Dim
from shaped.spec.index import Index, free_indices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

Real = Union["Expr", Dim, Fraction, int]

# The elementary functions that `Apply` may name, beside powers.
_FUNCTIONS = """
    exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid erf erfinv lgamma digamma
    abs sign floor round
"""
FUNCTIONS = frozenset(_FUNCTIONS.split())


@dataclass(frozen=True)
class Variable:
    """A tensor that is given: an argument, an upstream gradient, or an intermediate with its definition.

    Args:
        name: how it is called; names tell variables apart.
        sizes: the sizes of its axes.
        kind: "float", "int" or "bool"; a complex tensor is two variables.
        definition: for an intermediate, its indices and what its entry at these is.
    """

    name: str
    sizes: tuple[Dim, ...]
    kind: str = "float"
    definition: tuple[tuple[Index, ...], Expr] | None = None

    def __getitem__(self, at: Dim | tuple[Dim, ...]) -> Entry:
        """The entry of a float tensor."""
        return Entry(self, at if isinstance(at, tuple) else (at,))


class _Interned(type):
    """Makes a class return the one instance with the given fields."""

    # Nodes live as long as the process: a proof makes some thousands of them.
    nodes: dict[tuple[object, ...], Any] = {}  # noqa: RUF012  (one table for all classes is meant)

    def __call__(cls, *fields: Any) -> Any:
        key = (cls, *fields)
        node = _Interned.nodes.get(key)
        if node is None:
            node = _Interned.nodes[key] = super().__call__(*fields)
        return node


@cache
def _field_names(cls: type[Node]) -> tuple[str, ...]:
    return tuple(each.name for each in dataclasses.fields(cls))


@dataclass(frozen=True, eq=False)
class Node(metaclass=_Interned):
    """A node of the graph."""

    @cached_property
    def free(self) -> frozenset[Index]:
        """The free indices."""
        found: set[Index] = set()
        for part in self.parts():
            found |= part.free if isinstance(part, Node) else free_indices(part)
        bound = self.bound
        if bound is not None:
            found.discard(bound)
            found |= free_indices(bound.size)
        return frozenset(found)

    @property
    def bound(self) -> Index | None:
        """The index that this node binds, None if it binds none."""
        return None

    @property
    def fields(self) -> tuple[object, ...]:
        """The arguments that make this node."""
        return tuple(getattr(self, name) for name in _field_names(type(self)))

    def parts(self) -> Iterator[Node | Dim]:
        """The nodes and index expressions that this node is made of, without the index that it binds."""
        for part in self.fields:
            if isinstance(part, (Node, Dim)):
                yield part
            elif isinstance(part, tuple):
                yield from (each for each in part if isinstance(each, (Node, Dim)))

    def rebuilt(self, *fields: Any) -> Self:
        """A node of this kind with other fields, in its simplest form."""
        make = _MAKERS.get(type(self), type(self))
        return cast("Self", make(*fields))  # a number for a number, a condition for a condition

    def __str__(self) -> str:
        from shaped.spec.show import show

        return show(self)

    __repr__ = __str__


@dataclass(frozen=True, eq=False, repr=False)
class Expr(Node):
    """A real number for each place of the free indices.

    >>> from shaped.spec.index import fresh_index
    >>> n = Dim.name("n")
    >>> x, i = Variable("x", (n,)), fresh_index(n)
    >>> print(Sum(i, x[i.dim] * x[i.dim]) / n)
    (sum over i < n of x[i]*x[i])/n
    >>> x[i.dim] + 1 is x[i.dim] + 1
    True
    """

    def __add__(self, other: Real) -> Expr:
        return add(self, real(other))

    def __radd__(self, other: Real) -> Expr:
        return add(real(other), self)

    def __sub__(self, other: Real) -> Expr:
        return add(self, -real(other))

    def __rsub__(self, other: Real) -> Expr:
        return add(real(other), -self)

    def __mul__(self, other: Real) -> Expr:
        return multiply(self, real(other))

    def __rmul__(self, other: Real) -> Expr:
        return multiply(real(other), self)

    def __truediv__(self, other: Real) -> Expr:
        return multiply(self, power(real(other), -1))

    def __rtruediv__(self, other: Real) -> Expr:
        return multiply(real(other), power(self, -1))

    def __neg__(self) -> Expr:
        return multiply(Constant(Fraction(-1)), self)

    def __pow__(self, exponent: int | Fraction) -> Expr:
        return power(self, exponent)


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Expr):
    """A rational number."""

    value: Fraction


@dataclass(frozen=True, eq=False, repr=False)
class Pi(Expr):
    """The number pi."""


@dataclass(frozen=True, eq=False, repr=False)
class Infinity(Expr):
    """More than every number. Only in exp, max and comparisons: its negative in a mask adds nothing to a softmax."""


@dataclass(frozen=True, eq=False, repr=False)
class Whole(Expr):
    """An index expression as a number: a size, a place, a lookup."""

    dim: Dim


@dataclass(frozen=True, eq=False, repr=False)
class Entry(Expr):
    """An entry of a float tensor; `at` lies in the range of its axes wherever the entry matters."""

    variable: Variable
    at: tuple[Dim, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Add(Expr):
    """The sum of two or more terms."""

    terms: tuple[Expr, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Multiply(Expr):
    """The product of two or more factors."""

    factors: tuple[Expr, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Power(Expr):
    """A power with a rational exponent, never 0 or 1; the base is not negative where the exponent is no integer."""

    base: Expr
    exponent: Fraction


@dataclass(frozen=True, eq=False, repr=False)
class Apply(Expr):
    """An elementary function, one of FUNCTIONS, of a number."""

    function: str
    argument: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Binder(Expr):
    """What is taken of a body over all values of an index."""

    index: Index
    body: Expr

    @property
    def bound(self) -> Index:
        return self.index


@dataclass(frozen=True, eq=False, repr=False)
class Sum(Binder):
    """The sum over an index; 0 where its size is 0."""


@dataclass(frozen=True, eq=False, repr=False)
class Product(Binder):
    """The product over an index; 1 where its size is 0."""


@dataclass(frozen=True, eq=False, repr=False)
class Greatest(Binder):
    """The greatest value over an index of size 1 or more. Where several are greatest, its gradient is split evenly."""


@dataclass(frozen=True, eq=False, repr=False)
class Where(Expr):
    """One of two numbers; only the chosen one has to be defined."""

    condition: Condition
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Condition(Node):
    """Yes or no for each place of the free indices."""

    def __and__(self, other: Condition) -> Condition:
        return both(self, other)

    def __or__(self, other: Condition) -> Condition:
        return negation(both(negation(self), negation(other)))

    def __invert__(self) -> Condition:
        return negation(self)


@dataclass(frozen=True, eq=False, repr=False)
class Truth(Condition):
    """Always or never."""

    value: bool


@dataclass(frozen=True, eq=False, repr=False)
class Flag(Condition):
    """An entry of a bool tensor."""

    variable: Variable
    at: tuple[Dim, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Positive(Condition):
    """A number is greater than 0."""

    argument: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Zero(Condition):
    """A number is 0."""

    argument: Expr


@dataclass(frozen=True, eq=False, repr=False)
class IndexNonnegative(Condition):
    """An index expression is at least 0."""

    dim: Dim


@dataclass(frozen=True, eq=False, repr=False)
class IndexZero(Condition):
    """An index expression is 0."""

    dim: Dim


@dataclass(frozen=True, eq=False, repr=False)
class Not(Condition):
    """The condition does not hold."""

    condition: Condition


@dataclass(frozen=True, eq=False, repr=False)
class Both(Condition):
    """Two conditions hold."""

    left: Condition
    right: Condition


@dataclass(frozen=True, eq=False, repr=False)
class Exists(Condition):
    """A condition holds for some value of an index."""

    index: Index
    condition: Condition

    @property
    def bound(self) -> Index:
        return self.index


ZERO = Constant(Fraction(0))
ONE = Constant(Fraction(1))
PI = Pi()
INFINITY = Infinity()
TRUE = Truth(True)
FALSE = Truth(False)


def real(value: Real) -> Expr:
    """A number or an index expression as an expression; a float must be made exact first, by `Fraction`."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, Dim):
        constant = value.constant
        return Whole(value) if constant is None else Constant(Fraction(constant))
    return Constant(Fraction(value))


def add(*terms: Expr) -> Expr:
    """The sum of terms: sums in it are opened, constants joined."""
    constant, kept = Fraction(0), list[Expr]()
    for term in terms:
        for each in term.terms if isinstance(term, Add) else (term,):
            if isinstance(each, Constant):
                constant += each.value
            else:
                kept.append(each)
    if constant or not kept:
        kept.append(Constant(constant))
    return kept[0] if len(kept) == 1 else Add(tuple(kept))


def multiply(*factors: Expr) -> Expr:
    """The product of factors: products in it are opened, constants joined; 0 if one is 0."""
    constant, kept = Fraction(1), list[Expr]()
    for factor in factors:
        for each in factor.factors if isinstance(factor, Multiply) else (factor,):
            if isinstance(each, Constant):
                constant *= each.value
            else:
                kept.append(each)
    if not constant or not kept:
        return Constant(constant)
    if constant != 1:
        kept.insert(0, Constant(constant))
    return kept[0] if len(kept) == 1 else Multiply(tuple(kept))


def power(base: Expr, exponent: int | Fraction) -> Expr:
    """`base` to a rational power; `u**0` is 1 for every u, as in torch.

    Raises:
        ZeroDivisionError: 0 to a negative power.
    """
    exponent = Fraction(exponent)
    if exponent == 0:
        return ONE
    if exponent == 1:
        return base
    if isinstance(base, Constant) and exponent.denominator == 1:
        return Constant(base.value**exponent.numerator)
    return Power(base, exponent)


def apply(function: str, argument: Expr) -> Expr:
    """An elementary function of a number."""
    assert function in FUNCTIONS, f"{function} is no elementary function"
    return Apply(function, argument)


def where(condition: Condition, then: Real, otherwise: Real) -> Expr:
    """One of two numbers."""
    then, otherwise = real(then), real(otherwise)
    if isinstance(condition, Truth):
        return then if condition.value else otherwise
    if isinstance(condition, Not):
        return where(condition.condition, otherwise, then)
    return then if then is otherwise else Where(condition, then, otherwise)


def bracket(condition: Condition) -> Expr:
    """1 where the condition holds, 0 elsewhere (Iverson's bracket)."""
    return where(condition, ONE, ZERO)


def negation(condition: Condition) -> Condition:
    """The condition does not hold."""
    if isinstance(condition, Truth):
        return Truth(not condition.value)
    return condition.condition if isinstance(condition, Not) else Not(condition)


def both(left: Condition, right: Condition) -> Condition:
    """Both conditions hold."""
    if isinstance(left, Truth):
        return right if left.value else FALSE
    if isinstance(right, Truth):
        return left if right.value else FALSE
    return left if left is right else Both(left, right)


def positive(value: Real) -> Condition:
    """The number is greater than 0."""
    value = real(value)
    return Truth(value.value > 0) if isinstance(value, Constant) else Positive(value)


def zero(value: Real) -> Condition:
    """The number is 0."""
    value = real(value)
    return Truth(value.value == 0) if isinstance(value, Constant) else Zero(value)


def index_nonnegative(dim: Dim) -> Condition:
    """The index expression is at least 0."""
    constant = dim.constant
    return IndexNonnegative(dim) if constant is None else Truth(constant >= 0)


def index_zero(dim: Dim) -> Condition:
    """The index expression is 0."""
    constant = dim.constant
    return IndexZero(dim) if constant is None else Truth(constant == 0)


_MAKERS: dict[type[Node], Callable[..., Node]] = {
    Whole: real,
    Add: lambda terms: add(*terms),
    Multiply: lambda factors: multiply(*factors),
    Power: power,
    Apply: apply,
    Where: where,
    Not: negation,
    Both: both,
    Positive: positive,
    Zero: zero,
    IndexNonnegative: index_nonnegative,
    IndexZero: index_zero,
}
