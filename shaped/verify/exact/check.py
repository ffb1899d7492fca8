"""The exact gradient check: `<g, J dx> == <vjp(g), dx>` over residues, with no tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from shaped.verify.exact.aten.registry import UnsupportedError
from shaped.verify.exact.branches import Branches
from shaped.verify.exact.confirm import Estimate, computed_derivative, contradict, true_derivative
from shaped.verify.exact.floats import all_close, hazard, require_faithful, traced, written, wrong_shape
from shaped.verify.exact.gap import Reading, differing_entry, read_until_equal
from shaped.verify.exact.problem import Problem, name_of, problem_of, second
from shaped.verify.exact.samples import Sample, normal_like, samples
from shaped.verify.exact.thresholds import NEXT_TO, WIDER, crossings
from shaped.verify.exact.trace import Joint
from shaped.verify.exact.value import Value
from shaped.verify.verdict import Level, Verdict, Witness

_MOST_REJECTIONS = 3  # samples of extreme size with a difference that are looked into
_FAR = 3.0  # of normal inputs to which paths lead: past the thresholds of clamps
_MOST_SHOWN = 64  # entries of an input that a witness shows


def exact_gradcheck(
    fn: Callable[..., Any] | nn.Module,
    *inputs: Any,
    backward: Callable[..., Any] | None = None,
    order: int = 1,
    seed: int = 0,
) -> Verdict:
    """Check the gradient of a function in exact arithmetic.

    The function and its backward are traced to ATen operations, which are then read modulo a prime at random residues:
    what is equal there is equal as a formula, up to a probability of about 1e-6. Floats only tell which way comparisons
    go.

    Args:
        fn: a function of tensors, or a module, whose parameters are then differentiated too. It returns a tensor, or
            tensors in a tuple or list.
        inputs: its arguments. Floating tensors are differentiated, all else is held fixed.
        backward: a backward written by hand to check in place of autograd's: `backward(upstream, *inputs)` returns a
            gradient for each input, None for what is held fixed. With several results, `upstream` is a tuple.
        order: 2 checks the backward's own backward too.
        seed: of what is drawn.

    Raises:
        TypeError: `fn` or `backward` is no function.
        ValueError: there is no such order, or no second derivative to check.

    Returns:
        EXACT, KINK (all samples sit at ties), UNSUPPORTED (with the operation), REFUTED (with a witness), or HAZARD
        (right as a formula, but the gradient is NaN at the inputs, or an argument is written to).

    >>> exact_gradcheck(torch.tanh, torch.randn(5)).level
    <Level.EXACT: 'exact'>
    >>> wrong = exact_gradcheck(torch.tanh, torch.ones(1), backward=lambda g, x: (g * (1 - x.tanh()),))
    >>> wrong.level
    <Level.REFUTED: 'refuted'>
    """
    for function in (fn, *([] if backward is None else [backward])):
        if not callable(function):
            raise TypeError(
                f"exact_gradcheck: {function!r} is no function: pass exact_gradcheck(fn, *inputs, backward=...)"
            )
    if order not in (1, 2):
        raise ValueError(f"exact_gradcheck: order is {order}; it checks first (1) and second (2) derivatives")
    if order == 2 and backward is not None:
        raise ValueError("exact_gradcheck: a backward written by hand has no double backward; use order=1")
    try:
        problem = problem_of(fn, inputs, backward)
        verdict = _check(problem, seed)
        if order == 1 or verdict.level is not Level.EXACT:
            return verdict
        generator = torch.Generator().manual_seed(seed)
        twice = _check(second(problem, generator), seed)
    except UnsupportedError as error:
        return Verdict(Level.UNSUPPORTED, name_of(fn), str(error))
    if twice.level is not Level.EXACT:
        return twice
    notes = dict.fromkeys((*verdict.notes, *twice.notes, "second derivatives were checked too"))
    kinks = dict.fromkeys(verdict.kinks + twice.kinks)
    return Verdict(Level.EXACT, verdict.subject, kinks=tuple(kinks), notes=tuple(notes))


def _check(problem: Problem, seed: int) -> Verdict:
    """The verdict on the derivatives of a problem."""
    if not problem.inputs:
        raise UnsupportedError("no input is a floating tensor, so there is no gradient")
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            results = problem.results(problem.inputs)
        except Exception as error:
            raise UnsupportedError(f"the function raised {type(error).__name__}: {error}") from error
        if not results:
            raise UnsupportedError("no result is a floating tensor that requires grad")
        upstreams = [normal_like(one, generator) for one in results]
        if problem.backward is not None and (refusal := wrong_shape(problem, upstreams)) is not None:
            return refusal
        if target := written(problem, upstreams, seed):
            return Verdict(Level.HAZARD, problem.subject, f"it writes to {target}, which others may still use")
        graph = traced(problem, upstreams, problem.inputs)
        require_faithful(problem, graph, upstreams, seed)
        verdict = _Check(problem, graph, upstreams, seed).over_samples()
        reason = hazard(problem, upstreams, seed) if verdict.level is Level.EXACT else ""
        return replace(verdict, level=Level.HAZARD, reason=reason) if reason else verdict


@dataclass
class _Check:
    """The samples of one problem, and what they gave.

    Args:
        problem: what is checked.
        graph: its trace.
        upstreams: shadows of the upstream gradients.
        seed: of what is drawn.
    """

    problem: Problem
    graph: Joint
    upstreams: list[Tensor]
    seed: int
    agreed: int = 0
    rejected: int = 0
    compared: bool = False
    branches: Branches = field(default_factory=Branches)
    kinks: dict[str, None] = field(default_factory=dict)
    undefined: dict[str, None] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)

    def over_samples(self) -> Verdict:
        """Read the graph at samples until every branch was taken, or none takes a new one."""
        generator = torch.Generator().manual_seed(self.seed + 2)
        visited: list[list[Tensor]] = []
        for number, sample in enumerate(samples(self.problem.inputs, generator)):
            seen = self.branches if self.agreed else None
            reading = read_until_equal(self.graph, self.upstreams, sample.inputs, self.seed + 1000 * number, seen)
            self.kinks.update(reading.branches.kinks)
            self.undefined.update(reading.branches.undefined)
            if not self.compared and reading.is_decided:
                self._require_same_floats(reading, sample)
            outside = number > 0 and reading.gap != 0 and not reading.is_finite
            if reading.is_decided and not outside:
                if reading.gap:
                    refusal = self._rejection(sample, reading)
                    if refusal is not None:
                        return refusal
                else:
                    self.agreed += 1
                    self.branches.add(reading.branches)
                    if sample.ordinary:
                        visited.append(sample.inputs)
            if self.graph.decided:
                # Other samples may take another path through the Python code than this graph.
                self.notes["Python code branched on values: checked on the branch of the given inputs"] = None
                break
            if self.agreed and not self.branches.one_sided:
                break
        if not self.graph.decided and not self.graph.is_random and (self.branches.true or self.branches.false):
            refusal = self._at_thresholds(visited, generator)
            if refusal is not None:
                return refusal
        return self._verdict()

    def _at_thresholds(self, visited: list[list[Tensor]], generator: torch.Generator) -> Verdict | None:
        """Read the graph on both sides of the points where comparisons change sides."""
        far = [normal_like(one, generator, _FAR) for one in self.problem.inputs]
        for crossing in crossings(self.graph, self.upstreams, [*visited, far], generator) if visited else ():
            for side in (-1, 1):
                found: tuple[Sample, Reading] | None = None
                distance = side * NEXT_TO
                while abs(distance) < 1:
                    sample = Sample(crossing.at(distance), 1.0, True, "next to where a comparison changes sides")
                    try:
                        reading = read_until_equal(self.graph, self.upstreams, sample.inputs, self.seed, self.branches)
                    except UnsupportedError:  # outside of the domain of an operation
                        break
                    if not reading.gap or not reading.is_decided or not reading.is_finite:
                        break
                    # As far from the point as the two sides differ, where finite differences have room.
                    found = sample, reading
                    distance *= WIDER
                if found is not None and (refusal := self._rejection(*found)) is not None:
                    return refusal
        return None

    def _require_same_floats(self, reading: Reading, sample: Sample) -> None:
        """The shadows must be what torch computes, or an operation was read wrongly.

        Raises:
            UnsupportedError: they are not.
        """
        torch.manual_seed(reading.seed)
        computed = self.graph.run(self.upstreams, sample.inputs)
        shadows = [one.shadow if isinstance(one, Value) else one for one in reading.outputs]
        if not all_close(computed, shadows):
            raise UnsupportedError("an operation was read as another function than torch computes")
        self.compared = True

    def _rejection(self, sample: Sample, reading: Reading) -> Verdict | None:
        """What a difference means: it may be a law that is not known, so floats have to confirm it."""
        given = self.agreed == 0
        what = sample.where or f"for inputs of size {sample.size:g}"
        if not given and not sample.ordinary:
            self.rejected += 1
            if self.rejected > _MOST_REJECTIONS:
                self.notes[f"not decided {what}"] = None
                return None
        which, entry = differing_entry(self.graph, self.upstreams, sample.inputs, reading.seed)
        shape = sample.inputs[which].shape
        index = tuple(int(one) for one in torch.unravel_index(torch.tensor(entry), shape)) if shape else ()
        name = self.problem.names[which]
        try:
            inputs, true, computed = self._estimates(sample, which, entry)
        except UnsupportedError:
            if given or sample.ordinary:
                raise
            self.notes[f"not decided {what}"] = None
            return None
        subject = self.problem.subject
        where = f"{name}{list(index)}" if index else name
        # NaN is a gradient of nothing; elsewhere the function may have no derivative either.
        if true is not None and (contradict(true, computed) or (given and math.isnan(computed.value))):
            shown = {
                one: value.tolist() for one, value in zip(self.problem.names, inputs) if value.numel() <= _MOST_SHOWN
            }
            witness = Witness({}, shown, name, index, true.value, computed.value)
            if given or sample.ordinary:
                return Verdict(Level.REFUTED, subject, f"the gradient of {name} is wrong", witness=witness)
            self.notes[f"{what} {str(witness).rpartition(': ')[2]}"] = None
            return None
        if given:
            reason = f"the gradient of {where} differs in exact arithmetic, which floats do not confirm"
            return Verdict(Level.UNSUPPORTED, subject, reason)
        new = sorted({node.partition(":")[2] for node in self._new_branches(reading.branches)})
        what = f"on a branch of {', '.join(new)}" if new else what
        if true is None or true.error > 1e-4 * abs(true.value):
            if sample.ordinary:
                reason = f"{what} the gradient of {where} differs in exact arithmetic, which floats do not confirm"
                return Verdict(Level.UNSUPPORTED, subject, reason)
            self.notes[f"not decided {what}"] = None
        else:
            self.notes[f"{what} the gradient is that of another formula, equal to the digits of floats"] = None
        return None

    def _new_branches(self, branches: Branches) -> set[str]:
        return (branches.true - self.branches.true) | (branches.false - self.branches.false)

    def _estimates(self, sample: Sample, which: int, entry: int) -> tuple[list[Tensor], Estimate | None, Estimate]:
        """The inputs, in float64 where the function takes it, with the true and the computed derivative there."""
        generator = torch.Generator().manual_seed(self.seed)
        count = len(self.upstreams)
        last: Exception | None = None
        for dtype in (torch.float64, None):
            inputs = [one.to(dtype or one.dtype) for one in sample.inputs]
            upstreams = [one.to(dtype or one.dtype) for one in self.upstreams]

            def gradient(moved: Sequence[Tensor], upstreams: list[Tensor] = upstreams) -> Tensor | None:
                torch.manual_seed(self.seed)
                found: Tensor | None = self.problem.both(upstreams, moved)[count + which]
                return found

            def results(moved: Sequence[Tensor]) -> list[Tensor]:
                torch.manual_seed(self.seed)
                return self.problem.results(moved)

            try:
                computed = computed_derivative(gradient, inputs, which, entry, generator)
                return inputs, true_derivative(results, inputs, upstreams, which, entry), computed
            except Exception as error:
                # The function is of its own precision, or these inputs are outside of its domain.
                last = error
        raise UnsupportedError(f"a difference in exact arithmetic, where the function raised {last}")

    def _verdict(self) -> Verdict:
        if self.graph.is_random:
            self.notes["random numbers are held as they were drawn"] = None
        if self.graph.without_onednn:
            self.notes["oneDNN's kernels were checked as the operations that they are made of"] = None
        if not any(one.numel() for one in self.problem.inputs):
            self.notes["no input has an entry, so there was no gradient to compare"] = None
        subject, kinks = self.problem.subject, tuple(self.kinks)
        if not self.agreed and kinks:
            return Verdict(Level.KINK, subject, kinks[0], kinks=kinks)
        if not self.agreed:
            comparison = next(iter(self.undefined), "")
            return Verdict(Level.UNSUPPORTED, subject, f"the comparison {comparison} met NaN at every sample")
        for node, always in self.branches.one_sided:
            operation = node.partition(":")[2]
            self.notes[f"branch not visited: {operation} was never {'false' if always else 'true'}"] = None
        return Verdict(Level.EXACT, subject, kinks=kinks, notes=tuple(self.notes))
