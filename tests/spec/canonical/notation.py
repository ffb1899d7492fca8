"""Index notation for the tests: `total(n, lambda k: a[i, k] * b[k, j])`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from shaped.spec.canonical import Assumptions, Comparison, adjoint, compare
from shaped.spec.dims import Dim
from shaped.spec.expr import Expr, Greatest, Product, Sum, Variable, apply
from shaped.spec.index import fresh_index

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shaped.spec.expr import Real

NOTHING = Assumptions()


def sizes(names: str) -> list[Dim]:
    """Sizes by name."""
    return [Dim.name(name) for name in names.split()]


def total(size: Dim | int, body: Callable[[Dim], Real]) -> Expr:
    """The sum of a body over an index."""
    index = fresh_index(size, "k")
    return Sum(index, _expr(body(index.dim)))


def product(size: Dim | int, body: Callable[[Dim], Real]) -> Expr:
    """The product of a body over an index."""
    index = fresh_index(size, "l")
    return Product(index, _expr(body(index.dim)))


def greatest(size: Dim | int, body: Callable[[Dim], Real]) -> Expr:
    """The greatest value of a body over an index."""
    index = fresh_index(size, "m")
    return Greatest(index, _expr(body(index.dim)))


def _expr(value: Real) -> Expr:
    from shaped.spec.expr import real

    return real(value)


def exp(value: Real) -> Expr:
    return apply("exp", _expr(value))


def log(value: Real) -> Expr:
    return apply("log", _expr(value))


def sqrt(value: Real) -> Expr:
    return _expr(value) ** Fraction(1, 2)


def sigmoid(value: Real) -> Expr:
    return apply("sigmoid", _expr(value))


def tanh(value: Real) -> Expr:
    return apply("tanh", _expr(value))


@dataclass
class Rule:
    """A function of tensors in index notation, with the gradients that are claimed of it.

    Args:
        outputs: for each output, the sizes of its axes and its entry at a place.
        gradients: for each variable, its claimed gradient at a place.
    """

    outputs: Sequence[tuple[Sequence[Dim], Callable[..., Real]]]
    gradients: Sequence[tuple[Variable, Callable[..., Real]]]

    def check(self, assumptions: Assumptions = NOTHING) -> list[Comparison]:
        """Compare each claimed gradient with the derivative; upstream gradients are called g, g1, ..."""
        outputs, upstreams = [], []
        for number, (shape, entry) in enumerate(self.outputs):
            indices = tuple(fresh_index(size, "o") for size in shape)
            places = tuple(index.dim for index in indices)
            outputs.append((indices, _expr(entry(*places))))
            upstreams.append(upstream(number, shape)[places])
        found = []
        for variable, claimed in self.gradients:
            at = tuple(fresh_index(size, "a") for size in variable.sizes)
            derived = adjoint(outputs, upstreams, variable, at, assumptions)
            found.append(compare(derived, _expr(claimed(*(index.dim for index in at))), assumptions))
        return found


def upstream(number: int, shape: Sequence[Dim]) -> Variable:
    """The upstream gradient of an output."""
    return Variable(f"g{number or ''}", tuple(shape))


def is_proved(rule: Rule, assumptions: Assumptions = NOTHING) -> bool:
    """Whether all claimed gradients are equal to the derivative."""
    return all(comparison.equal is True for comparison in rule.check(assumptions))
