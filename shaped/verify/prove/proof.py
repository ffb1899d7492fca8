"""Proofs that a backward is the gradient of its forward, for every size and value."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from torch.autograd import Function
from torch.nn import Module

from shaped.errors import AnnotationError
from shaped.spec.canonical import Assumptions
from shaped.spec.meaning import MEANINGS
from shaped.spec.tensor import NotExpressible
from shaped.verify.pairs import as_pair
from shaped.verify.prove.bounds import bounds_of
from shaped.verify.prove.cases import RANKS, Case, cases, cases_of_needs, factor_orders
from shaped.verify.prove.confirmation import confirm
from shaped.verify.prove.elementwise import is_elementwise
from shaped.verify.prove.judgement import NO_GRADIENT, Judgement, judged
from shaped.verify.prove.parameters import in_float64
from shaped.verify.prove.programs import Program, Traced, trace
from shaped.verify.prove.refutation import refuted
from shaped.verify.prove.untraceable import Untraceable
from shaped.verify.subject import Subject, SubjectError
from shaped.verify.verdict import Level, Verdict

RAISES = "SHAPED_RAISE_INTERNAL_ERRORS"
"""The environment variable under which faults of the prover itself are raised, as its tests want."""

_FIXED = {0: 1, 1: 4, 2: 4, 3: 3, 4: 2}  # the largest fixed size, by the number of dims
_MOST_FIXED = 32
_MOST_SECONDS = 20.0  # for all fixed sizes: what takes longer stays undecided


def prove(
    forward: Callable[..., Any] | type[Function],
    backward: Callable[..., Any] | None = None,
    *,
    gradient_of: Callable[..., Any] | None = None,
    name: str = "",
) -> Verdict:
    """Whether a backward is the gradient of its forward, for every size and value.

    Both are plain torch code. They are run on symbolic tensors of the annotated shapes, the derivative of the forward
    is taken, and the backward compared with its adjoint. A proof is confirmed by exact arithmetic at random points and
    by running the program; a refutation comes with inputs at which torch's own autograd disagrees.

    Args:
        forward: a function with jaxtyping annotations, a module with an annotated `forward`, or a
            `torch.autograd.Function` class with an annotated `forward`; or an op of `shaped.custom_grad`.
        backward: a function of the upstream gradient (a tuple of them for several outputs), then of the inputs. None
            for a class or an op.
        gradient_of: the function whose gradient is meant, if that is not `forward`.
        name: the name for messages.

    Returns:
        A verdict: PROVED for every size from 1 and every value of its domain; EXACT where only some sizes could be
        proved, for every value of these; REFUTED with a witness; HAZARD where it writes into what
        others still use; UNSUPPORTED, with the construct and its line, where nothing was decided.

    Raises:
        SubjectError: these are no forward and backward.
        AnnotationError: an annotation is missing or cannot be read.

    >>> from jaxtyping import Float
    >>> from torch import Tensor
    >>> def scale(x: Float[Tensor, "b n"], w: Float[Tensor, "n"]) -> Float[Tensor, "b n"]:
    ...     return x * w
    >>> def scale_backward(grad: Float[Tensor, "b n"], x: Float[Tensor, "b n"], w: Float[Tensor, "n"]):
    ...     return grad * w, (grad * x).sum(0)
    >>> print(prove(scale, scale_backward))
    scale: proved for every size and value
    """
    forward, backward, gradient_of = as_pair(forward, backward, gradient_of)
    called = forward.forward if isinstance(forward, Module) else forward
    Subject.of(called, backward, gradient_of=gradient_of, name=name)  # raises for what is no forward and backward
    program = Program.of(forward, backward, gradient_of, name)
    try:
        return Proof(program).verdict()
    except (SubjectError, AnnotationError):
        raise
    except Exception as error:  # a fault of the prover must not stop the user's tests
        if os.environ.get(RAISES):
            raise
        return Verdict(Level.UNSUPPORTED, program.name, f"internal: {type(error).__name__}: {error}")


@dataclass(frozen=True)
class Outcome:
    """What was found out in one case."""

    case: Case
    level: Level
    reason: str = ""
    domain: tuple[str, ...] = ()
    kinks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    place: str = ""
    traced: Traced | None = None
    judgements: tuple[Judgement, ...] = ()


class Proof:
    """All cases of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.subject = _subject(program)

    def verdict(self) -> Verdict:
        outcomes: list[Outcome] = []
        notes: list[str] = []
        try:
            for case in self._cases(notes):
                outcome = self.outcome(case)
                if outcome.level is Level.UNSUPPORTED:
                    outcome = self._with_fixed_sizes(outcome)
                if outcome.level is Level.REFUTED:
                    refutation = self._refuted(outcome)
                    if refutation is not None:
                        return refutation
                    reason = f"no witness was found that torch confirms: {outcome.reason}"
                    if case.needed:
                        reason = f"{outcome.reason}, where {case.needed} alone needs a gradient"
                    outcome = self._with_fixed_sizes(replace(outcome, level=Level.UNSUPPORTED, reason=reason))
                if outcome.level is not Level.PROVED and outcome.level is not Level.EXACT:
                    return self._verdict(Level.UNSUPPORTED, [outcome], notes, outcome.reason)
                outcomes.append(outcome)
        except NotExpressible as problem:
            return Verdict(Level.UNSUPPORTED, self.program.name, str(problem))
        return self._together(outcomes, notes)

    def _cases(self, notes: list[str]) -> Iterator[Case]:
        """The cases to prove: all ranks of packs, one for an elementwise program."""
        signature = self.program.signature
        if signature.packs:
            first = next(iter(cases(signature, (1,))))
            try:
                traced = trace(self.program, first)
            except Untraceable:
                traced = None
            if traced is not None and is_elementwise(self.program, traced):
                notes.append("every operation is elementwise, so one axis stands for any number of axes")
                yield from self._with_needs(cases(signature, (1,)))
                return
            ranks = f"{RANKS[0]} to {RANKS[-1]}"
            notes.append(f"{' and '.join(f'*{pack}' for pack in signature.packs)}: proved for {ranks} axes each")
        yield from self._with_needs(cases(signature))

    def _with_needs(self, found: Iterator[Case]) -> Iterator[Case]:
        """The cases, and for a class also those in which autograd asks for one gradient alone."""
        for number, case in enumerate(found):
            yield case
            if number == 0 and self.program.function is not None:
                yield from cases_of_needs(self.program.signature, case)

    def outcome(self, case: Case) -> Outcome:
        """What is found out in one case: with intermediates, then written out, then with axes made in other ways."""
        first: Outcome | None = None
        for factors in factor_orders(self.program.signature):
            for with_intermediates in (True, False):
                found = self._attempt(replace(case, factors=factors), with_intermediates=with_intermediates)
                differs = any(judgement.disagreement is not None for judgement in found.judgements)
                if found.level is Level.PROVED or differs:
                    return found
                first = first or found
                if found.traced is None or not found.traced.intermediates.known:
                    break
        assert first is not None
        return first

    def _attempt(self, case: Case, *, with_intermediates: bool) -> Outcome:
        try:
            traced = trace(self.program, case, with_intermediates=with_intermediates)
            bounds = bounds_of(traced)
            if bounds:
                case = replace(case, bounds=bounds)
                traced = trace(self.program, case, with_intermediates=with_intermediates)
        except Untraceable as problem:
            return self._of_untraceable(case, problem)
        judgements = tuple(
            judged(
                name,
                traced.outputs,
                traced.upstreams,
                traced.inputs.tensors[name],
                gradient,
                traced.detached,
                Assumptions(),
                traced.intermediates.definitions,
            )
            for name, gradient in traced.gradients.items()
        )
        return self._of_judgements(case, traced, judgements)

    def _of_untraceable(self, case: Case, problem: Untraceable) -> Outcome:
        level = Level.UNSUPPORTED
        if problem.part == "backward" and problem.is_wrong:
            level = Level.REFUTED
        return Outcome(case, level, problem.reason, place=problem.place)

    def _of_judgements(self, case: Case, traced: Traced, judgements: tuple[Judgement, ...]) -> Outcome:
        domain = tuple(dict.fromkeys([*traced.inputs.domain, *(each for j in judgements for each in j.domain)]))
        kinks = tuple(dict.fromkeys([*_kinks_of(traced), *(each for j in judgements for each in j.kinks)]))
        notes = (*traced.taken, *dict.fromkeys(f"used: {each}" for j in judgements for each in j.used))
        found = Outcome(case, Level.PROVED, "", domain, kinks, notes, "", traced, judgements)
        wrong = next((j for j in judgements if j.equal is False), None)
        if wrong is not None:
            return replace(found, level=Level.REFUTED, reason=wrong.reason)
        unknown = next((j for j in judgements if j.equal is None), None)
        if unknown is not None:
            reason = f"internal: {unknown.reason}" if unknown.is_internal else unknown.reason
            return replace(found, level=Level.UNSUPPORTED, reason=reason)
        return self._confirmed(found, traced)

    def _confirmed(self, found: Outcome, traced: Traced) -> Outcome:
        """A proof that running the program confirms."""
        gradients = {j.name: j.gradient for j in found.judgements if j.gradient is not None}
        if not gradients:
            return found
        with in_float64(self.program.module) as parameters:
            confirmation = confirm(self.subject, traced, gradients, parameters)
        if confirmation.fault:
            return replace(found, level=Level.UNSUPPORTED, reason=f"internal: {confirmation.fault}")
        if not confirmation.points:
            return replace(found, notes=(*found.notes, "not confirmed by running it: no inputs were accepted"))
        return found

    def _with_fixed_sizes(self, outcome: Outcome) -> Outcome:
        """The case for some fixed sizes, where it cannot be proved for all."""
        dims = [name for name in self.program.signature.dims if name not in outcome.case.sizes]
        largest = _FIXED.get(len(dims), 1)
        if not dims or largest < 2:
            return outcome
        sizes = itertools.islice(itertools.product(range(1, largest + 1), repeat=len(dims)), _MOST_FIXED)
        found: list[Outcome] = []
        end = time.monotonic() + _MOST_SECONDS
        for chosen in sizes:
            if time.monotonic() > end:
                return outcome
            each = self._attempt(replace(outcome.case, sizes=dict(zip(dims, chosen))), with_intermediates=False)
            if each.level is Level.REFUTED and outcome.traced is None:
                return each
            if each.level is not Level.PROVED:
                return outcome
            found.append(each)
        return replace(
            found[-1],
            level=Level.EXACT,
            domain=tuple(dict.fromkeys(text for each in found for text in each.domain)),
            reason=f"proved for every value at sizes 1 to {largest} of {', '.join(dims)}",
            notes=(*found[-1].notes, f"not for all sizes: {outcome.reason}"),
            place=outcome.place,
        )

    def _together(self, outcomes: list[Outcome], notes: list[str]) -> Verdict:
        if not any(each.judgements for each in outcomes):
            return self._verdict(Level.UNSUPPORTED, outcomes, notes, NO_GRADIENT)
        weaker = next((each for each in outcomes if each.level is Level.EXACT), None)
        changed = [name for each in outcomes if each.traced is not None for name in each.traced.changed]
        if changed:
            names = " and ".join(dict.fromkeys(changed))
            return self._verdict(Level.HAZARD, outcomes, notes, f"it writes into {names}, which others still use")
        if weaker is not None:
            return self._verdict(Level.EXACT, outcomes, notes, weaker.reason)
        return self._verdict(Level.PROVED, outcomes, notes)

    def _verdict(self, level: Level, outcomes: list[Outcome], notes: list[str], reason: str = "") -> Verdict:
        def all_of(texts: Callable[[Outcome], tuple[str, ...]]) -> tuple[str, ...]:
            return tuple(dict.fromkeys(text for each in outcomes for text in texts(each)))

        place = next((each.place for each in outcomes if each.place), "")
        return Verdict(
            level,
            self.program.name,
            reason,
            all_of(lambda each: each.domain),
            all_of(lambda each: each.kinks),
            (*notes, *all_of(lambda each: each.notes)),
            place=place,
        )

    def _refuted(self, outcome: Outcome) -> Verdict | None:
        """A refutation with a witness that torch confirms."""
        with in_float64(self.program.module):
            found = refuted(self.subject, outcome.traced, outcome.judgements)
        if found is None:
            return None
        differs = [each.reason for each in outcome.judgements if each.equal is False and each.reason]
        return replace(found, notes=(*found.notes, *differs))


def _kinks_of(traced: Traced) -> list[str]:
    """The kinks of the operations that were called, as the table declares them."""
    found = sorted(name for name in traced.operations if name in MEANINGS and MEANINGS[name].kinks)
    return [f"{name}: {MEANINGS[name].kinks}" for name in found]


def _subject(program: Program) -> Subject:
    """The program as torch runs it."""
    forward = program.function or (program.forward if program.module is None else program.module.forward)
    return Subject.of(forward, program.backward, gradient_of=program.surrogate, name=program.name)
