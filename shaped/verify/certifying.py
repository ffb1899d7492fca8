"""Certificates of gradients, and what their check alone says where nothing is proved.

The check encloses both sides at random sizes and points in balls of 128 bits and more, so a gradient that passes it is
right at these points to the digits that the balls have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from shaped.spec.tensor import NotExpressible
from shaped.verify.certificate import Certificate, certify
from shaped.verify.prove.bounds import bounds_of
from shaped.verify.prove.cases import cases
from shaped.verify.prove.programs import Program, trace
from shaped.verify.prove.untraceable import Untraceable
from shaped.verify.verdict import Level, Verdict

_RANKS = (1,)  # of packs
_ROUNDS = 12  # of random sizes and points


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
