"""Checking a theorem: the operation runs on symbolic tensors, and its backward is held against the adjoint."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shaped.errors import Fault
from shaped.spec.meaning import MEANINGS
from shaped.spec.tensor import NotExpressible, Tensor, variable
from shaped.verify.certificate import Certificate, certify
from shaped.verify.certifying import certificates_of
from shaped.verify.prove import judge, prove
from shaped.verify.theorem import AnyTheorem, ComputedTheorem, ProgramTheorem, ScanTheorem, Theorem, symbolic
from shaped.verify.verdict import Level, Verdict


class TheoremError(Exception):
    """A theorem that states nothing: what does not fit."""


@dataclass(frozen=True)
class Checked:
    """What came of a theorem.

    Args:
        verdict: how it is known.
        certificates: what a checker without a prover needs to check it again, one for each gradient.
    """

    verdict: Verdict
    certificates: tuple[Certificate, ...] = ()


def check(theorem: AnyTheorem) -> Checked:
    """The verdict on a theorem, and its certificates, which have passed their own check.

    A theorem that is not proved for every size is checked for every value at small sizes, and where that fails too, at
    random points.

    >>> print(check(Theorem("softmax", {"input": "b c", "dim": -1})).verdict)
    softmax(input=(b c), dim=-1): proved for every size and value
    """
    if isinstance(theorem, ProgramTheorem):
        return _of_program(theorem)
    if isinstance(theorem, ScanTheorem):
        return _of_scan(theorem)
    if isinstance(theorem, ComputedTheorem):
        found = theorem.holds()
        level = Level.PROVED if found is True else Level.REFUTED
        return Checked(Verdict(level, theorem.statement, "" if found is True else str(found)))
    try:
        stated = claim(theorem)
    except (NotExpressible, TheoremError, Fault, TypeError, LookupError, ValueError) as error:  # a misspelt call
        return Checked(Verdict(Level.UNSUPPORTED, theorem.statement, f"{type(error).__name__}: {error}"))
    verdict = stated.judged()
    if verdict.level is Level.REFUTED:  # there is nothing to certify
        return Checked(verdict)
    if verdict.level is Level.UNSUPPORTED:
        small = _at_small_sizes(theorem)
        verdict = replace(verdict, level=Level.ENCLOSED, reason=_NOT_PROVED) if small is None else small
    return _certified(verdict, stated.certificates(verdict))


_NOT_PROVED = "not proved, but compared at random sizes and points"
_LARGEST = {1: 4, 2: 3, 3: 2, 4: 2}  # the largest size that is tried, by the number of dims
_SECONDS = 20.0  # for the small sizes of one theorem
_MOST_STEPS = 3  # of a scan that is certified


@dataclass(frozen=True)
class Claim:
    """A theorem's two sides as spec tensors."""

    statement: str
    outputs: Sequence[Tensor]
    upstreams: Sequence[Tensor]
    inputs: Mapping[str, Tensor]
    gradients: Mapping[str, Tensor | None]

    def judged(self) -> Verdict:
        return judge(self.statement, self.outputs, self.upstreams, self.inputs, self.gradients)

    def certificates(self, verdict: Verdict) -> Iterator[Certificate]:
        return certify(verdict.subject, self.outputs, self.upstreams, self.inputs, self.gradients, verdict.domain)


def claim(theorem: Theorem, sizes: Mapping[str, int] | None = None) -> Claim:
    """The two sides of a theorem; `sizes` are dims that have a fixed size.

    Raises:
        NotExpressible, TheoremError, Fault: it has no index expression, or does not fit the operation.
    """
    arguments = theorem.symbolic_arguments(sizes)
    outputs = _flat(theorem.forward()(**arguments))
    upstreams = _upstreams(outputs)
    inputs = tensor_arguments(arguments)
    gradients = _by_input(theorem, inputs, theorem.backward()(_as_argument(upstreams), **arguments))
    return Claim(theorem.statement, outputs, upstreams, inputs, gradients)


def _at_small_sizes(theorem: Theorem) -> Verdict | None:
    """EXACT where it is proved for every value at small sizes, None where it is not."""
    dims = theorem.dims()
    largest = _LARGEST.get(len(dims), 2)
    stop = time.monotonic() + _SECONDS
    domain: dict[str, None] = {}
    tried = 0
    for chosen in itertools.product(range(1, largest + 1), repeat=len(dims)):
        try:
            verdict = claim(theorem, dict(zip(dims, chosen))).judged()
        except (NotExpressible, Fault):  # the operation takes no such sizes
            continue
        if verdict.level is not Level.PROVED or time.monotonic() > stop:
            return None
        domain.update(dict.fromkeys(verdict.domain))
        tried += 1
    if not dims or not tried:
        return None
    reason = f"proved for every value at sizes 1 to {largest} of {', '.join(dims)}"
    return Verdict(Level.EXACT, theorem.statement, reason, tuple(domain))


def _certified(verdict: Verdict, certificates: Iterable[Certificate]) -> Checked:
    """A verdict whose certificates hold. A certificate that does not is a fault of the prover, and no proof."""
    kept = tuple(certificates)
    for certificate in kept:
        agreement = certificate.check()
        if agreement.disagreement is not None:
            if verdict.level is Level.ENCLOSED:
                return Checked(replace(verdict, level=Level.REFUTED, reason=str(agreement.disagreement)))
            reason = f"internal: the prover and the check of its certificate disagree: {agreement.disagreement}"
            return Checked(Verdict(Level.UNSUPPORTED, verdict.subject, reason))
        if not agreement.holds and verdict.level is Level.ENCLOSED:
            return Checked(replace(verdict, level=Level.UNSUPPORTED, reason=str(agreement)))
    return Checked(verdict, kept)


def _of_program(theorem: ProgramTheorem) -> Checked:
    verdict = prove(theorem.forward, theorem.backward, name=theorem.name)
    if not verdict.ok:
        return Checked(verdict)
    return _certified(verdict, certificates_of(theorem.forward, theorem.backward, domain=verdict.domain))


def _of_scan(theorem: ScanTheorem) -> Checked:
    """The step is proved; the scan of a few steps is certified, which is the induction at work."""
    arguments = {name: symbolic(name, value, {}) for name, value in theorem.arguments.items()}
    inputs = tensor_arguments(arguments)
    outputs = _flat(theorem.step(*arguments.values()))
    upstreams = _upstreams(outputs)
    gradients = dict(zip(inputs, _flat(theorem.backward(_as_argument(upstreams), *arguments.values()))))
    step = Claim(theorem.statement, outputs, upstreams, inputs, gradients)
    verdict = step.judged()
    if not verdict.ok:
        return Checked(verdict)
    notes = (*verdict.notes, "by induction over the steps, from one step and the chain rule")
    verdict = replace(verdict, notes=notes)
    for steps in range(2, _MOST_STEPS + 1):
        checked = _certified(verdict, _unrolled(theorem, steps).certificates(verdict))
        if not checked.verdict.ok:
            return checked
    return _certified(verdict, step.certificates(verdict))


def _unrolled(theorem: ScanTheorem, steps: int) -> Claim:
    """A scan of some steps over an input for each, with its backward in reverse."""
    (state_name, state_axes), (input_name, input_axes), *weights = theorem.arguments.items()
    arguments = {
        state_name: symbolic(state_name, state_axes, {}),
        input_name: symbolic(input_name, f"{steps} {input_axes}", {}),
        **{name: symbolic(name, value, {}) for name, value in weights},
    }
    inputs = tensor_arguments(arguments)
    state, sequence, *parameters = arguments.values()
    assert isinstance(sequence, Tensor), "a scan runs over one sequence"
    states: list[Any] = [state]
    for step in range(steps):
        states.append(theorem.step(states[-1], sequence[step], *parameters))
    outputs = _flat(states[-1])
    upstreams = _upstreams(outputs)
    carried, pulled, totals = _as_argument(upstreams), list[Tensor](), list[Tensor]()
    for step in reversed(range(steps)):
        carried, of_input, *of_weights = theorem.backward(carried, states[step], sequence[step], *parameters)
        pulled.insert(0, of_input)
        totals = [total + each for total, each in zip(totals, of_weights)] if totals else of_weights
    gradients = dict(zip(inputs, (*_flat(carried), MEANINGS["stack"].entry(pulled), *totals)))
    return Claim(f"{theorem.statement}, {steps} steps", outputs, upstreams, inputs, gradients)


def _upstreams(outputs: Sequence[Tensor]) -> list[Tensor]:
    """An upstream gradient for each output."""
    return [
        variable("grad" if len(outputs) == 1 else f"grad{number}", output.sizes, _float_kind(output))
        for number, output in enumerate(outputs)
    ]


def _as_argument(tensors: Sequence[Tensor]) -> Any:
    """One tensor as it is, several as a tuple."""
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def tensor_arguments(arguments: Mapping[str, object]) -> dict[str, Tensor]:
    """The tensors among arguments, those of a list by their place (`tensors[0]`)."""
    found: dict[str, Tensor] = {}
    for name, value in arguments.items():
        if isinstance(value, Tensor):
            found[name] = value
        elif isinstance(value, (list, tuple)):
            found.update({f"{name}[{at}]": each for at, each in enumerate(value) if isinstance(each, Tensor)})
    return found


def _by_input(theorem: Theorem, inputs: Mapping[str, Tensor], returned: object) -> dict[str, Tensor | None]:
    """The returned gradients by the input that each belongs to.

    A backward returns one for each tensor that is given, or one for each parameter that may be a tensor.

    Raises:
        TheoremError: there are more or fewer.
    """
    gradients = _flat(returned, keep_none=True)
    if len(gradients) != len(inputs):
        names = [
            name for name in theorem.tensor_parameters() if not any(each.startswith(f"{name}[") for each in inputs)
        ]
        if len(gradients) != len(names):
            raise TheoremError(
                f"{theorem.op} has {len(inputs)} tensor arguments, its backward returns {len(gradients)}"
            )
        return {name: each for name, each in zip(names, gradients) if name in inputs}
    return dict(zip(inputs, gradients))


def _flat(value: Any, *, keep_none: bool = False) -> list[Any]:
    """The tensors of a result; nested tuples as one list."""
    if isinstance(value, (list, tuple)):
        return [each for part in value for each in _flat(part, keep_none=keep_none)]
    return [value] if keep_none or isinstance(value, Tensor) else []


def _float_kind(output: Tensor) -> str:
    return "complex" if output.kind == "complex" else "float"
