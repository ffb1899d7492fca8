"""Gradients against the adjoint of the derivative: what is proved of each, and on what domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from shaped.spec.canonical import (
    Assumptions,
    Undecided,
    Undefined,
    adjoint,
    compare,
    outside_of_boundaries,
    requirements,
)
from shaped.spec.evaluation import check_equal
from shaped.spec.expr import ZERO, Condition, Expr, bracket, real
from shaped.verify.certificate import certify
from shaped.verify.prove.confirmation import Gradient
from shaped.verify.prove.detached import Definitions, Detached, inlined
from shaped.verify.prove.variables import free_place, variables_of
from shaped.verify.verdict import Level, Verdict, Witness

if TYPE_CHECKING:
    from shaped.spec.canonical import Comparison, Form
    from shaped.spec.dims import Dim
    from shaped.spec.evaluation import Agreement, Disagreement
    from shaped.spec.index import Index
    from shaped.spec.tensor import Tensor

NO_GRADIENT = "no input has a gradient: none is a tensor of floats or complex numbers"
_LONGEST = 160  # characters of a term in a message
_ROUNDS = (4, 24)  # points of the independent check
_OF_THE_BACKWARD = " (required by the backward alone)"

_NOTHING_ASSUMED = Assumptions()

Component = tuple[tuple["Index", ...], Expr]


@dataclass(frozen=True)
class Judgement:
    """What was found out about one gradient.

    Args:
        name: the input.
        equal: whether it is the adjoint: True for a proof, False for a difference, None for neither.
        reason: why it is not proved.
        domain: where both are defined.
        kinks: what was set aside.
        used: the methods of the proof.
        gradient: the two sides.
        disagreement: a point at which they differ.
        is_internal: the two ways of comparing contradict each other.
    """

    name: str
    equal: bool | None
    reason: str = ""
    domain: tuple[str, ...] = ()
    kinks: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    gradient: Gradient | None = None
    disagreement: Disagreement | None = None
    is_internal: bool = False


def judge(
    subject: str,
    outputs: Sequence[Tensor],
    upstreams: Sequence[Tensor],
    inputs: Mapping[str, Tensor],
    gradients: Mapping[str, Tensor | None],
    *,
    assumptions: Assumptions = _NOTHING_ASSUMED,
) -> Verdict:
    """The verdict on gradients of outputs, all as spec tensors.

    Args:
        subject: what the verdict is about.
        outputs: the outputs.
        upstreams: the upstream gradient of each output.
        inputs: the inputs by name.
        gradients: the gradient to judge for each input; None for zero. Inputs of ints and bools have none.
        assumptions: what may be taken for granted.
    """
    judgements = [
        judged(name, outputs, upstreams, inputs[name], gradient, Detached(), assumptions)
        for name, gradient in gradients.items()
        if inputs[name].kind in ("float", "complex")
    ]
    return combined(subject, judgements)


def judged(
    name: str,
    outputs: Sequence[Tensor],
    upstreams: Sequence[Tensor],
    variable: Tensor,
    gradient: Tensor | None,
    detached: Detached,
    assumptions: Assumptions,
    definitions: Definitions | None = None,
) -> Judgement:
    """What is found out about one gradient; `definitions` are those of intermediates."""
    if gradient is not None and gradient.sizes != variable.sizes:
        shapes = [f"({', '.join(map(str, each.sizes))})" for each in (gradient, variable)]
        return Judgement(name, False, f"the gradient of {name} has shape {shapes[0]}, {name} has {shapes[1]}")
    if gradient is not None and gradient.kind == "complex" != variable.kind:
        return Judgement(name, False, f"the gradient of {name} is complex, {name} is not")
    at, places = free_place(variable)
    returned = _returned(variable, gradient, places)
    pulled: list[tuple[Component, Expr]] = [
        pair for output, upstream in zip(outputs, upstreams) for pair in _components(output, upstream)
    ]
    try:
        forms = [
            adjoint([output for output, _ in pulled], [each for _, each in pulled], part, at, assumptions)
            for part in variables_of(variable)
        ]
        derived = tuple(detached.inlined(form.to_expr()) for form in forms)
        sides: Sequence[Form | Expr] = derived if detached.definitions else forms
        comparisons = [compare(side, other, assumptions) for side, other in zip(sides, returned)]
        whole = [inlined(output, definitions or {}) for (_, output), _ in pulled]
        required = [str(each) for output in whole for each in requirements(output, assumptions)]
        known: list[Form | Expr] = [*forms, *derived, *whole]
        known += [inlined(each, definitions or {}) for each in derived]
        smooth = _where_the_forward_is_smooth(comparisons, known, assumptions)
    except (Undecided, Undefined, RecursionError) as problem:
        return Judgement(name, None, f"the gradient of {name}: {problem}")
    own = Gradient(at, derived, returned)
    if detached.definitions:
        agreements = [_agreement(partial(check_equal, one, other, at)) for one, other in zip(derived, returned)]
    else:
        claimed = {name: gradient if gradient is not None else variable * 0}
        claims = certify(name, outputs, upstreams, {name: variable}, claimed)
        agreements = [_agreement(claim.check) for claim in claims]
    judgement = _checked(name, own, comparisons, tuple(dict.fromkeys(required)), agreements)
    if judgement.equal and smooth:
        reason = f"the gradient of {name} is another where {_shortened(smooth[0])}, and the forward has no kink there"
        return replace(judgement, equal=False, reason=reason)
    return judgement


def _where_the_forward_is_smooth(
    comparisons: Sequence[Comparison], sides: Sequence[Form | Expr], assumptions: Assumptions
) -> tuple[str, ...]:
    """Null sets that were set aside though the derivative exists on them: zeros of an upstream gradient, say."""
    kinks = [kink for comparison in comparisons for kink in comparison.kinks]
    if not kinks:
        return ()
    required = [each for comparison in comparisons for each in comparison.requirements]
    return outside_of_boundaries(kinks, sides, required, assumptions)


def _checked(
    name: str,
    gradient: Gradient,
    comparisons: Sequence[Comparison],
    known: Sequence[str],
    agreements: Sequence[Agreement],
) -> Judgement:
    """The judgement, which the independent check has to confirm."""
    domain = {str(each): None for comparison in comparisons for each in comparison.requirements}
    kinks = {kink: None for comparison in comparisons for kink in comparison.kinks}
    used = {method: None for comparison in comparisons for method in comparison.used}
    disagreement = next((each.disagreement for each in agreements if each.disagreement is not None), None)
    judgement = Judgement(
        name,
        None,
        "",
        tuple(
            _shortened(each) + ("" if each in known else _OF_THE_BACKWARD) for each in dict.fromkeys((*known, *domain))
        ),
        tuple(kinks),
        tuple(used),
        gradient,
        disagreement,
    )
    return _decided(judgement, comparisons, agreements)


def _agreement(check: Callable[..., Agreement]) -> Agreement:
    """Whether the two sides are equal at random points: at more of them until something was compared."""
    for rounds in _ROUNDS:
        agreement = check(rounds=rounds)
        if agreement.holds or agreement.disagreement is not None:
            break
    return agreement


def _decided(judgement: Judgement, comparisons: Sequence[Comparison], agreements: Sequence[Agreement]) -> Judgement:
    name = judgement.name
    if all(comparison.equal for comparison in comparisons):
        if judgement.disagreement is not None:
            reason = f"the gradient of {name} was proved, but differs at a point: {judgement.disagreement}"
            return replace(judgement, reason=reason, is_internal=True)
        if not all(agreement.holds for agreement in agreements):
            unchecked = next(agreement for agreement in agreements if not agreement.holds)
            return replace(judgement, reason=f"the proof for {name} could not be checked: {unchecked}")
        alone = [text for text in judgement.domain if text.endswith(_OF_THE_BACKWARD)]
        if alone and any(agreement.undefined for agreement in agreements):
            # At random points: not on a null set, as the zeros of x are for 1/x.
            reason = f"the gradient of {name} has no value where the forward has a derivative: it needs {alone[0]}"
            return replace(judgement, equal=False, reason=reason.removesuffix(_OF_THE_BACKWARD))
        return replace(judgement, equal=True)
    left = next(comparison for comparison in comparisons if not comparison.equal)
    shown = _shortened(str(left.residual))
    if judgement.disagreement is not None or left.equal is False:
        return replace(judgement, equal=False, reason=f"the gradient of {name} lacks {shown}")
    why = "; ".join(left.used)
    reason = f"the gradient of {name}: not shown to be 0: {shown}" + (f" ({why})" if why else "")
    return replace(judgement, reason=reason)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _components(output: Tensor, upstream: Tensor) -> list[tuple[Component, Expr]]:
    """Each real part of an output with its indices, and the upstream gradient there."""
    assert not isinstance(output.body, Condition)
    places = output.places
    found = [((output.indices, output.body), upstream.body_at(*places))]
    if output.imaginary is not None:
        found.append(((output.indices, output.imaginary), upstream.imaginary_at(*places)))
    return [(component, real(each) if isinstance(each, Expr) else bracket(each)) for component, each in found]


def _returned(variable: Tensor, gradient: Tensor | None, places: Sequence[Dim]) -> tuple[Expr, ...]:
    """The entry of a gradient at a place, the imaginary part second where the input is complex."""
    parts = 1 if variable.imaginary is None else 2
    if gradient is None:
        return (ZERO,) * parts
    body = gradient.body_at(*places)
    first = body if isinstance(body, Expr) else bracket(body)
    return (first, gradient.imaginary_at(*places))[:parts]


def _witness(point: Disagreement | None) -> Witness | None:
    """The point at which the two sides differ."""
    if point is None:
        return None
    return Witness(dict(point.sizes), {name: _numbers(value) for name, value in point.values.items()})


def _numbers(value: Any) -> object:
    return [_numbers(each) for each in value] if getattr(value, "ndim", 0) else float(value)


def combined(subject: str, judgements: Sequence[Judgement]) -> Verdict:
    """The verdict on all gradients: that of the first which is not proved."""
    domain = tuple(dict.fromkeys(each for judgement in judgements for each in judgement.domain))
    kinks = tuple(dict.fromkeys(each for judgement in judgements for each in judgement.kinks))
    notes = tuple(dict.fromkeys(f"used: {each}" for judgement in judgements for each in judgement.used))
    if not judgements:
        return Verdict(Level.UNSUPPORTED, subject, NO_GRADIENT)
    open_ones = [judgement for judgement in judgements if not judgement.equal]
    if not open_ones:
        return Verdict(Level.PROVED, subject, "", domain, kinks, notes)
    first = next((judgement for judgement in open_ones if judgement.equal is False), open_ones[0])
    level = Level.REFUTED if first.equal is False and first.disagreement is not None else Level.UNSUPPORTED
    reason = f"internal: {first.reason}" if first.is_internal else first.reason
    return Verdict(level, subject, reason, domain, kinks, notes, witness=_witness(first.disagreement))
