"""The exact gradient check: `<g, J dx> == <vjp(g), dx>` over residues, with no tolerance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from shaped.verify.exact.aten.registry import UnsupportedError
from shaped.verify.exact.branches import Branches
from shaped.verify.exact.confirm import true_derivative
from shaped.verify.exact.field import multiply, random, reduce
from shaped.verify.exact.interpreter import read
from shaped.verify.exact.samples import normal_like, samples
from shaped.verify.exact.trace import Function, Joint, floating, joint, trace
from shaped.verify.exact.value import Value, tangent_of
from shaped.verify.verdict import Level, Verdict, Witness

_SEEDS = 3  # a rejection is repeated at other residues: one may come from a division by 0
_SEEDS_FOR_ROOTS = 12  # more where a residue had no root
_LOOSE = 1e-3  # a graph that depends on the values of the inputs is off by far more


@dataclass(frozen=True)
class Problem:
    """A function of floating tensors.

    Args:
        function: of the floating inputs.
        backward: written by hand, giving the gradients of them; None for autograd.
        inputs: the floating inputs.
        names: how a message calls them.
        subject: how it calls the function.
    """

    function: Function
    backward: Function | None
    inputs: tuple[Tensor, ...]
    names: tuple[str, ...]
    subject: str


@dataclass
class Outcome:
    """What the samples gave."""

    agreed: int = 0
    branches: Branches = field(default_factory=Branches)
    kinks: dict[str, None] = field(default_factory=dict)
    undefined: dict[str, None] = field(default_factory=dict)


def exact_gradcheck(
    fn: Callable[..., Any] | nn.Module,
    *inputs: Any,
    backward: Callable[..., Any] | None = None,
    order: int = 1,
    seed: int = 0,
) -> Verdict:
    """Check the gradient of a function in exact arithmetic.

    The function and its backward are traced to ATen operations, which are then read modulo a prime at random residues:
    what is equal there is equal as a formula, up to a probability below 1e-6. Floats only tell which way comparisons go.

    Args:
        fn: a function of tensors, or a module, whose parameters are then differentiated too. It returns a tensor, or
            tensors in a tuple or list.
        inputs: its arguments. Floating tensors are differentiated, all else is held fixed.
        backward: a backward written by hand to check in place of autograd's: `backward(upstream, *inputs)` returns a
            gradient for each input, None for what is held fixed. With several results, `upstream` is a tuple.
        order: 2 checks the backward's own backward too.
        seed: of what is drawn.

    Returns:
        EXACT, KINK (all samples sit at ties), UNSUPPORTED (with the operation) or REFUTED (with a witness).

    >>> exact_gradcheck(torch.tanh, torch.randn(5)).level
    <Level.EXACT: 'exact'>
    >>> wrong = exact_gradcheck(torch.tanh, torch.ones(1), backward=lambda g, x: (g * (1 - x.tanh()),))
    >>> wrong.level
    <Level.REFUTED: 'refuted'>
    """
    if order not in (1, 2):
        raise ValueError(f"exact_gradcheck: order is {order}; it checks first (1) and second (2) derivatives")
    if order == 2 and backward is not None:
        raise ValueError("exact_gradcheck: a backward written by hand has no double backward; use order=1")
    try:
        problem = _problem(fn, inputs, backward)
        verdict = _check(problem, seed)
        if order == 2 and verdict.level is Level.EXACT:
            second = _check(_second(problem), seed)
            if second.level is not Level.EXACT:
                return second
            kinks = tuple(dict.fromkeys(verdict.kinks + second.kinks))
            notes = tuple(dict.fromkeys((*verdict.notes, *second.notes, "second derivatives too")))
            return Verdict(Level.EXACT, verdict.subject, kinks=kinks, notes=notes)
    except UnsupportedError as error:
        return Verdict(Level.UNSUPPORTED, _name(fn), str(error))
    return verdict


def _name(fn: Any) -> str:
    return getattr(fn, "__name__", None) or type(fn).__name__


def _problem(fn: Any, inputs: Sequence[Any], backward: Any) -> Problem:
    """Sort the arguments: what is differentiated, and what is held fixed."""
    for position, one in enumerate(inputs):
        if isinstance(one, Tensor) and one.is_complex():
            raise UnsupportedError(f"input {position} is complex")
    places = [k for k, one in enumerate(inputs) if isinstance(one, Tensor) and one.is_floating_point()]
    fixed = list(inputs)

    def filled(tensors: Sequence[Tensor]) -> list[Any]:
        arguments = list(fixed)
        for place, tensor in zip(places, tensors):
            arguments[place] = tensor
        return arguments

    def hand_written(upstream: Any, *tensors: Tensor) -> list[Any]:
        assert backward is not None
        given = backward(upstream, *filled(tensors[: len(places)]))
        gradients = [given] if isinstance(given, Tensor) else list(given)
        if len(gradients) != len(inputs):
            raise UnsupportedError(
                f"backward returned {len(gradients)} gradients for {len(inputs)} inputs; it is to return one for each, "
                "None for what is held fixed"
            )
        return [gradients[place] for place in places]

    values = [inputs[place].detach() for place in places]
    names = ["input" if len(inputs) == 1 else f"inputs[{place}]" for place in places]
    if not isinstance(fn, nn.Module):
        function: Function = lambda *tensors: fn(*filled(tensors))  # noqa: E731  # one of two forms
        return Problem(function, hand_written if backward else None, tuple(values), tuple(names), _name(fn))
    if backward is not None:
        raise ValueError("exact_gradcheck: a module's backward is autograd's; pass a function to check one by hand")
    module = fn
    parameters = dict(module.named_parameters())
    buffers = dict(module.named_buffers())

    def of_module(*tensors: Tensor) -> Any:
        state = dict(zip(parameters, tensors[len(places) :]))
        # Copies: a forward may write to its buffers.
        copies = {name: buffer.clone() for name, buffer in buffers.items()}
        return torch.func.functional_call(module, {**state, **copies}, tuple(filled(tensors[: len(places)])))

    values += [one.detach() for one in parameters.values()]
    names += list(parameters)
    return Problem(of_module, None, tuple(values), tuple(names), _name(fn))


def _second(problem: Problem) -> Problem:
    """The backward as a function of the upstream gradients and the inputs."""
    both = joint(problem.function, None)
    with torch.no_grad():
        results = floating(problem.function(*problem.inputs))
    count = len(results)
    generator = torch.Generator().manual_seed(1)

    def gradients(*tensors: Tensor) -> list[Tensor]:
        upstreams, inputs = tensors[:count], tensors[count:]
        results = floating(problem.function(*inputs))
        pairs = [(one, upstream) for one, upstream in zip(results, upstreams) if one.requires_grad]
        if not pairs:
            return []
        derived, given = zip(*pairs)
        wanted = [one for one in inputs if one.requires_grad]
        found = torch.autograd.grad(derived, wanted, given, allow_unused=True, create_graph=True)
        return [one for one in found if one is not None]

    _ = both
    names = tuple(f"upstream[{k}]" for k in range(count)) + problem.names
    inputs = (*normal_like(results, generator), *problem.inputs)
    return Problem(gradients, None, inputs, names, f"the backward of {problem.subject}")


def _check(problem: Problem, seed: int) -> Verdict:
    """The verdict on first derivatives."""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            leaves = [one.detach().requires_grad_() for one in problem.inputs]
            results = [one.detach() for one in floating(problem.function(*leaves))]
        except Exception as error:
            raise UnsupportedError(f"the function raised {type(error).__name__}: {error}") from error
        if not results:
            raise UnsupportedError("the function returned no floating tensor")
        upstreams = normal_like(results, generator)
        both = joint(problem.function, problem.backward)
        wrong_shape = _wrong_shape(problem, both, upstreams)
        if wrong_shape is not None:
            return wrong_shape
        try:
            graph = trace(both, upstreams, problem.inputs)
        except UnsupportedError:
            raise
        except Exception as error:
            raise UnsupportedError(f"tracing raised {type(error).__name__}: {str(error).splitlines()[0]}") from error
        _require_faithful(problem, both, graph, upstreams, seed)
        return _over_samples(problem, graph, upstreams, seed)


def _wrong_shape(problem: Problem, both: Function, upstreams: Sequence[Tensor]) -> Verdict | None:
    """A refusal if a backward written by hand gives gradients of other shapes than the inputs."""
    if problem.backward is None:
        return None
    gradients = both(upstreams, problem.inputs)[len(upstreams) :]
    for name, one, gradient in zip(problem.names, problem.inputs, gradients):
        if gradient is not None and gradient.shape != one.shape:
            reason = f"the gradient of {name} has shape {tuple(gradient.shape)}, the input {tuple(one.shape)}"
            return Verdict(Level.REFUTED, problem.subject, reason)
    return None


def _require_faithful(problem: Problem, both: Function, graph: Joint, upstreams: Sequence[Tensor], seed: int) -> None:
    """Run the graph at other inputs: it must do what the function does, or it was made from values of the inputs.

    Raises:
        UnsupportedError: it does something else.
    """
    generator = torch.Generator().manual_seed(seed + 1)
    tested = 0
    for inputs in samples(problem.inputs, generator):
        torch.manual_seed(seed)
        try:
            expected = both(upstreams, inputs)
        except Exception:  # outside of the domain of the function
            continue
        torch.manual_seed(seed)
        actual = graph.module(list(upstreams), list(inputs))
        for one, other in zip(expected, actual):
            if (one is None) != (other is None) or (one is not None and not _close(one, other)):
                raise UnsupportedError(
                    "the trace depends on the values of the inputs (.item(), numpy, Python control flow)"
                )
        tested += 1
        if tested == 2:
            return


def _close(one: Tensor, other: Tensor) -> bool:
    if one.shape != other.shape:
        return False
    finite = torch.isfinite(one) & torch.isfinite(other)
    difference = torch.where(finite, one.detach() - other.detach(), torch.zeros_like(one)).double().norm()
    size = torch.where(finite, one.detach(), torch.zeros_like(one)).double().norm()
    return bool(difference <= _LOOSE * size + 1e-12)


def _over_samples(problem: Problem, graph: Joint, upstreams: Sequence[Tensor], seed: int) -> Verdict:
    """Read the graph at samples until every branch was taken or no sample takes a new one."""
    outcome = Outcome()
    generator = torch.Generator().manual_seed(seed + 2)
    for number, shadows in enumerate(samples(problem.inputs, generator)):
        agreed, branches, residue_seed = _agrees(graph, upstreams, shadows, seed + 1000 * number)
        outcome.kinks.update(branches.kinks)
        outcome.undefined.update(branches.undefined)
        if branches.kinks or branches.undefined:
            continue
        if not agreed:
            return _rejected(problem, graph, upstreams, shadows, residue_seed)
        outcome.agreed += 1
        outcome.branches.add(branches)
        if not outcome.branches.one_sided:
            break
    if not outcome.agreed:
        if outcome.kinks:
            return Verdict(Level.KINK, problem.subject, next(iter(outcome.kinks)), kinks=tuple(outcome.kinks))
        reason = f"the comparison {next(iter(outcome.undefined))} met NaN at every sample"
        return Verdict(Level.UNSUPPORTED, problem.subject, reason)
    notes = tuple(
        f"branch not visited: {node.partition(':')[2]} was never {'false' if always else 'true'}"
        for node, always in outcome.branches.one_sided
    )
    return Verdict(Level.EXACT, problem.subject, kinks=tuple(outcome.kinks), notes=tuple(dict.fromkeys(notes)))


def _agrees(
    graph: Joint, upstreams: Sequence[Tensor], shadows: Sequence[Tensor], seed: int
) -> tuple[bool, Branches, int]:
    """Whether the two sides agree; a disagreement is repeated at other residues."""
    tries = _SEEDS
    attempt = 0
    while True:
        branches = Branches()
        gap = _gap(graph, upstreams, shadows, branches, seed + attempt)
        if gap == 0 or branches.kinks or branches.undefined:
            return gap == 0, branches, seed + attempt
        if branches.rootless:
            tries = _SEEDS_FOR_ROOTS
        attempt += 1
        if attempt >= tries:
            return False, branches, seed + attempt - 1


def _gap(
    graph: Joint,
    upstreams: Sequence[Tensor],
    shadows: Sequence[Tensor],
    branches: Branches,
    seed: int,
    directions: Sequence[Tensor] | None = None,
) -> int:
    """`<g, J dx> - <vjp(g), dx>` at random residues.

    Args:
        graph: of both.
        upstreams: shadows of g.
        shadows: of the inputs.
        branches: records the comparisons.
        seed: of the residues.
        directions: 1 where dx is to be drawn, 0 where it is to be 0; everywhere if None.
    """
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    given = [Value(one.double(), random(one.shape, generator)) for one in upstreams]
    inputs = []
    for k, one in enumerate(shadows):
        residue, tangent = random(one.shape, generator), random(one.shape, generator)
        inputs.append(Value(one.double(), residue, tangent if directions is None else tangent * directions[k]))
    outputs = read(graph, [*given, *inputs], branches, generator)
    results, gradients = outputs[: graph.upstreams], outputs[graph.upstreams :]
    gap = torch.zeros((), dtype=torch.int64)
    for upstream, result in zip(given, results):
        gap = gap + multiply(upstream.residue, tangent_of(result)).sum()
    for one, gradient in zip(inputs, gradients):
        if gradient is not None:
            gap = gap - multiply(gradient.residue.expand(one.shape), tangent_of(one)).sum()
    return int(reduce(gap))


def _rejected(
    problem: Problem, graph: Joint, upstreams: Sequence[Tensor], shadows: Sequence[Tensor], seed: int
) -> Verdict:
    """Find an entry whose gradient is rejected, and confirm it in floats: the rejection may be a law that is not known."""
    which, entry = _locate(graph, upstreams, shadows, seed)
    index = _index(entry, shadows[which].shape)
    name = problem.names[which]
    generator = torch.Generator().manual_seed(seed)
    both = joint(problem.function, problem.backward)
    for inputs in samples(shadows, generator):
        try:
            precise = [one.double() for one in inputs]
            weights = [one.double() for one in upstreams]
            try:
                gradient = both(weights, precise)[len(upstreams) + which]
            except RuntimeError:  # the function is of its own precision
                precise, weights = list(inputs), list(upstreams)
                gradient = both(weights, precise)[len(upstreams) + which]
            expected, error = true_derivative(problem.function, precise, weights, which, entry)
        except Exception:  # outside of the domain of the function
            continue
        actual = 0.0 if gradient is None else float(gradient.reshape(-1)[entry])
        if abs(actual - expected) > 10 * error:
            witness = Witness(
                {},
                {one: value.tolist() for one, value in zip(problem.names, precise) if value.numel() <= 64},
                name,
                index,
                expected,
                actual,
            )
            return Verdict(Level.REFUTED, problem.subject, f"the gradient of {name} is wrong", witness=witness)
    reason = f"the gradient of {name}{list(index)} differs in exact arithmetic, which floats do not confirm"
    return Verdict(Level.UNSUPPORTED, problem.subject, reason)


def _locate(graph: Joint, upstreams: Sequence[Tensor], shadows: Sequence[Tensor], seed: int) -> tuple[int, int]:
    """An input and a place in it along which the two sides disagree, by bisection."""
    sizes = [one.numel() for one in shadows]
    low, high = 0, sum(sizes)
    while high - low > 1:
        middle = (low + high) // 2
        flat = torch.zeros(sum(sizes), dtype=torch.int64)
        flat[low:middle] = 1
        masks = [part.reshape(one.shape) for part, one in zip(flat.split(sizes), shadows)]
        if _gap(graph, upstreams, shadows, Branches(), seed, masks):
            high = middle
        else:
            low = middle
    which = 0
    while low >= sizes[which]:
        low -= sizes[which]
        which += 1
    return which, low


def _index(entry: int, shape: torch.Size) -> tuple[int, ...]:
    return tuple(int(one) for one in torch.unravel_index(torch.tensor(entry), shape)) if shape else ()
