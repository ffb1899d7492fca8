"""A certificate: what a checker that knows nothing of proofs needs to find a wrong one.

It holds the weighted sum of a function's outputs, and the gradient of it that is claimed, as expressions. The checker
evaluates the sum at random sizes and points, follows the chain rule from the numbers back to the input, and compares:
it differentiates by itself and shares no code with the normal forms.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from shaped.spec.evaluation import Evaluation
from shaped.spec.evaluation.adjoint import gradients
from shaped.spec.evaluation.agreement import Agreement, Disagreement, are_equal, exact_systems
from shaped.spec.evaluation.samples import Names, Point, draw
from shaped.spec.expr import Entry, Expr, Sum, add, bracket
from shaped.spec.scalars.system import Reason, Undefined
from shaped.spec.serialize import dump, load
from shaped.spec.tensor import Tensor

_STYLES = ("any", "positive", "small", "near")
_WITHOUT_VALUE = (Reason.DIVISION, Reason.DOMAIN, Reason.ROOT, Reason.INDETERMINATE)
_MOST_ROUNDS = 100  # until a point in the domain is found


@dataclass(frozen=True)
class Certificate:
    """A claim about one gradient.

    Args:
        statement: the theorem, for people.
        weighted: the sum over all outputs of upstream gradient times output.
        entry: the entry of the input, at free indices.
        claimed: its gradient, in the same indices.
        domain: the conditions under which it is claimed.
    """

    statement: str
    weighted: Expr
    entry: Entry
    claimed: Expr
    domain: tuple[str, ...] = ()

    def check(self, *, seed: int = 0, rounds: int = 6) -> Agreement:
        """Compare the claimed gradient with the chain rule's at random sizes and points.

        Points outside the domain do not count: more are drawn where they are hard to find. A check in which none
        counted does not hold.
        """
        names = Names.of([self.weighted, self.claimed, self.entry], self._indices)
        source = random.Random(f"{seed} {self.statement}")
        result = Agreement()
        for number in range(_MOST_ROUNDS):
            try:
                point = draw(names, source, _STYLES[number % len(_STYLES)])
            except ValueError:  # no tensors of the sizes that were drawn
                continue
            self._compare(point, result)
            if result.disagreement is not None or (number + 1 >= rounds and result.entries):
                break
        return result

    @property
    def _indices(self) -> tuple[Any, ...]:
        # An axis of size 1 has no index: its place is 0.
        return tuple(place.symbol for place in self.entry.at if place.symbol is not None)

    def _compare(self, point: Point, result: Agreement) -> None:
        reason = Reason.UNDECIDED
        for system in exact_systems():
            try:
                found = gradients(self.weighted, [], 1, [self.entry.variable.name], system, point.sizes, point.values)[
                    self.entry.variable.name
                ]
            except Undefined as undefined:
                reason = undefined.reason
                if reason in (Reason.IRRATIONAL, Reason.UNDECIDED):
                    continue
                break
            claimed = Evaluation(system, point.sizes, point.values)(self.claimed, self._indices)
            data = np.asarray(found.data).reshape(claimed.data.shape)
            own = np.asarray(found.reasons).reshape(claimed.data.shape)
            if not self._agree(data, claimed.data, np.maximum(own, claimed.reasons), point, result):
                continue
            result.undefined += int(np.count_nonzero((own == 0) & np.isin(claimed.reasons, _WITHOUT_VALUE)))
            return
        result.skipped[reason] += 1

    def _agree(self, data: Any, claimed: Any, reasons: Any, point: Point, result: Agreement) -> bool:
        """Whether all entries were compared, or one differs; no entry counts twice."""
        equal = {}
        for at in np.ndindex(data.shape):
            if reasons[at]:
                if Reason(int(reasons[at])) in (Reason.IRRATIONAL, Reason.UNDECIDED):
                    return False
                result.skipped[Reason(int(reasons[at]))] += 1
                continue
            equal[at] = are_equal(data[at], claimed[at])
            if equal[at] is None:
                return False
        for at, is_equal in equal.items():
            if not is_equal:
                sizes = {symbol.name: size for symbol, size in point.sizes.items()}
                result.disagreement = Disagreement(sizes, point.values, at, data[at], claimed[at])
                return True
        result.entries += len(equal)
        result.points += bool(equal)
        return True

    def to_data(self) -> dict[str, Any]:
        """The certificate as what JSON holds."""
        graph = dump(self.weighted, self.entry, self.claimed)
        return {"statement": self.statement, "domain": list(self.domain), "graph": graph}

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> Certificate:
        """The certificate that was written.

        Raises:
            ValueError: it is no certificate.
        """
        try:
            statement, domain, graph = data["statement"], data["domain"], data["graph"]
        except (KeyError, TypeError) as error:
            raise ValueError("this is no certificate: it needs a statement, a domain and a graph") from error
        weighted, entry, claimed = load(graph)
        if not isinstance(entry, Entry):
            raise ValueError(f"{statement}: the certificate names no entry of an input")
        return Certificate(statement, cast("Expr", weighted), entry, cast("Expr", claimed), tuple(domain))


def certify(
    subject: str,
    outputs: Sequence[Tensor],
    upstreams: Sequence[Tensor],
    inputs: Mapping[str, Tensor],
    gradients: Mapping[str, Tensor | None],
    domain: tuple[str, ...] = (),
) -> Iterator[Certificate]:
    """A certificate for each gradient of a float input; two for a complex one.

    Args:
        subject: what the gradients are of.
        outputs: the outputs of the forward.
        upstreams: the upstream gradient of each output.
        inputs: the inputs by name.
        gradients: the claimed gradient of each input, None where none is claimed.
        domain: the conditions under which they are claimed.
    """
    weighted = add(*(weighted_sum(output, upstream) for output, upstream in zip(outputs, upstreams)))
    for name, gradient in gradients.items():
        if gradient is None:
            continue
        given, places = inputs[name], inputs[name].places
        body = gradient.body_at(*places)
        claims = [(given.body, body if isinstance(body, Expr) else bracket(body))]
        if given.imaginary is not None:
            claims.append((given.imaginary, gradient.imaginary_at(*places)))
        for entry, claimed in claims:
            if isinstance(entry, Entry):
                yield Certificate(f"{subject}, {name}", weighted, entry, claimed, domain)


def weighted_sum(output: Tensor, upstream: Tensor) -> Expr:
    """The sum of upstream times output; of both parts for complex tensors, as torch's gradients are meant.

    Args:
        output: a tensor.
        upstream: its upstream gradient, of the same sizes.
    """
    places = output.places
    total = _number(upstream.body_at(*places)) * _number(output.body_at(*places))
    if output.imaginary is not None:
        total = total + upstream.imaginary_at(*places) * output.imaginary
    for index in reversed(output.indices):
        total = Sum(index, total)
    return total


def _number(body: Any) -> Expr:
    return body if isinstance(body, Expr) else bracket(body)
