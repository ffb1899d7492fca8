"""Certificates of gradients, and what their check alone says where nothing is proved.

The check encloses both sides at random sizes and points in balls of 128 bits and more, so a gradient that passes it is
right at these points to the digits that the balls have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from shaped.spec.expr import Entry, Expr, Sum, add, bracket
from shaped.spec.tensor import NotExpressible, Tensor
from shaped.verify.certificate import Certificate
from shaped.verify.prove.bounds import bounds_of
from shaped.verify.prove.cases import cases
from shaped.verify.prove.programs import Program, Untraceable, trace
from shaped.verify.verdict import Level, Verdict

_RANKS = (1,)  # of packs
_ROUNDS = 12  # of random sizes and points


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
    weighted = add(*(_weighted(output, upstream) for output, upstream in zip(outputs, upstreams)))
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


def _weighted(output: Tensor, upstream: Tensor) -> Expr:
    """The sum of upstream times output; of both parts for complex tensors, as torch's gradients are meant."""
    places = output.places
    total = _number(upstream.body_at(*places)) * _number(output.body_at(*places))
    if output.imaginary is not None:
        total = total + upstream.imaginary_at(*places) * output.imaginary
    for index in reversed(output.indices):
        total = Sum(index, total)
    return total


def _number(body: Any) -> Expr:
    return body if isinstance(body, Expr) else bracket(body)


def certificates_of(
    forward: Callable[..., Any] | type[torch.autograd.Function],
    backward: Callable[..., Any] | None = None,
    gradient_of: Callable[..., Any] | None = None,
    domain: tuple[str, ...] = (),
) -> list[Certificate]:
    """The certificates of a program with its backward, for each case that its annotations leave open.

    Raises:
        Untraceable, NotExpressible: it has no index expression.
    """
    program = Program.of(forward, backward, gradient_of)
    found: list[Certificate] = []
    for case in cases(program.signature, _RANKS):
        traced = trace(program, case)
        bounds = bounds_of(traced)
        if bounds:
            traced = trace(program, replace(case, bounds=bounds))
        if traced.detached.definitions:
            raise NotExpressible("a detached value in a certificate")
        found += certify(
            program.name, traced.outputs, traced.upstreams, traced.inputs.tensors, traced.gradients, domain
        )
    return found


def enclosed(
    forward: Callable[..., Any] | type[torch.autograd.Function],
    backward: Callable[..., Any] | None = None,
    gradient_of: Callable[..., Any] | None = None,
) -> Verdict | None:
    """ENCLOSED where the certificates of a program hold, None where one does not or says nothing."""
    try:
        certificates = certificates_of(forward, backward, gradient_of)
    except (Untraceable, NotExpressible):
        return None
    compared = 0
    for certificate in certificates:
        agreement = certificate.check(rounds=_ROUNDS)
        if not agreement.holds:
            return None
        compared += agreement.entries
    name = getattr(forward, "__name__", type(forward).__name__)
    if not compared:
        return None
    return Verdict(Level.ENCLOSED, name, notes=(f"compared at {compared} entries of random sizes and points",))
