"""What floats tell about a problem and its trace: that they are run as they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from shaped.verify.exact.aten.registry import UnsupportedError
from shaped.verify.exact.problem import Problem
from shaped.verify.exact.samples import normal_like, samples
from shaped.verify.exact.trace import Joint, same_graph, trace
from shaped.verify.verdict import Level, Verdict

# How far floats may be from what the graph is read as: loose for the rounding of long functions, far below any error
# that a wrong reading of an operation makes.
_LOOSE = {torch.float64: 1e-6}
_LOOSE_OTHERWISE = 1e-2
# How far inputs close by are from the given ones: little, and far more than the above.
_CLOSE = {torch.float64: 1e-3}
_CLOSE_OTHERWISE = 0.1
_MOST_CLOSE = 4
_NEXT_TO_NOTHING = 1e-13  # log(1 + e) and log1p(e) for an e below the rounding of 1


def hazard(problem: Problem, upstreams: Sequence[Tensor], seed: int) -> str:
    """What goes wrong in floats at the given inputs: a gradient that is NaN; empty if nothing does."""
    torch.manual_seed(seed)
    computed = _run(problem, [one.clone() for one in upstreams], [one.clone() for one in problem.inputs])
    results, gradients = computed[: len(upstreams)], computed[len(upstreams) :]
    if not all(one is not None and bool(torch.isfinite(one).all()) for one in results):
        return ""
    for name, gradient in zip(problem.names, gradients):
        if gradient is not None and bool(torch.isnan(gradient).any()):
            place = torch.isnan(gradient).nonzero()[0].tolist()
            return f"the gradient of {name}{place or ''} is NaN in floats at the given inputs"
    return ""


def written(problem: Problem, upstreams: Sequence[Tensor], seed: int) -> str:
    """What the function or its backward writes to; empty if it leaves its arguments as they are."""
    torch.manual_seed(seed)
    given = [one.clone() for one in upstreams]
    inputs = [one.clone() for one in problem.inputs]
    _run(problem, given, inputs)
    for k, (before, after) in enumerate(zip(upstreams, given)):
        if not torch.equal(before.nan_to_num(), after.nan_to_num()):
            return "the upstream gradient" if len(given) == 1 else f"upstream gradient {k}"
    for name, before, after in zip(problem.names, problem.inputs, inputs):
        if not torch.equal(before.nan_to_num(), after.nan_to_num()):
            return name
    return ""


def wrong_shape(problem: Problem, upstreams: Sequence[Tensor]) -> Verdict | None:
    """A refusal if a backward written by hand gives gradients of other shapes than the inputs."""
    gradients = _run(problem, upstreams, problem.inputs)[len(upstreams) :]
    for name, one, gradient in zip(problem.names, problem.inputs, gradients):
        if gradient is not None and gradient.shape != one.shape:
            reason = f"the gradient of {name} has shape {tuple(gradient.shape)}, the input {tuple(one.shape)}"
            return Verdict(Level.REFUTED, problem.subject, reason)
    return None


def traced(problem: Problem, upstreams: Sequence[Tensor], inputs: Sequence[Tensor]) -> Joint:
    try:
        return trace(problem.both, upstreams, inputs)
    except UnsupportedError:
        raise
    except Exception as error:
        first_line = str(error).partition("\n")[0]
        raise UnsupportedError(f"tracing raised {type(error).__name__}: {first_line}") from error


def require_faithful(problem: Problem, graph: Joint, upstreams: Sequence[Tensor], seed: int) -> None:
    """Run the graph at other inputs: it must do what the function does, or it was made from values of the inputs.

    Where Python code branched on values, it is run close to the given inputs, which take the same path.

    Raises:
        UnsupportedError: it does something else.
    """
    generator = torch.Generator().manual_seed(seed + 1)
    drawn = (
        _close_by(problem, generator) if graph.decided else (one.inputs for one in samples(problem.inputs, generator))
    )
    for number, inputs in enumerate(drawn):
        torch.manual_seed(seed)
        try:
            expected = problem.both(upstreams, inputs)
            # Random numbers may be drawn in another way by the graph, which then is traced again.
            again = traced(problem, upstreams, inputs) if graph.is_random else None
        except Exception:  # outside of the domain of the function
            continue
        if again is not None:
            faithful = same_graph(graph, again)
        else:
            actual = graph.run(upstreams, inputs)
            faithful = all_close(expected, actual)
        if not faithful:
            raise UnsupportedError("the trace depends on values of the inputs (.item(), numpy, Python control flow)")
        if number:
            return
    raise UnsupportedError("the function raises at all other inputs, where its trace was to be tested")


def _close_by(problem: Problem, generator: torch.Generator) -> Iterator[list[Tensor]]:
    """The inputs, then others so close that a branch on a value is the same, but for rounding not equal."""
    yield [one.detach() for one in problem.inputs]
    for _ in range(_MOST_CLOSE):
        yield [
            one.detach() + normal_like(one, generator, _CLOSE.get(one.dtype, _CLOSE_OTHERWISE))
            for one in problem.inputs
        ]


def all_close(first: Sequence[Tensor | None], second: Sequence[Tensor | None]) -> bool:
    """Whether tensors are equal but for rounding; entries that are not finite are left out.

    What is 0 but for rounding is compared with the size of all others.
    """
    size = max((_finite_norm(one) for one in first if one is not None), default=0.0)
    for one, other in zip(first, second):
        if one is None or other is None:
            if one is not other:
                return False
            continue
        if one.shape != other.shape:
            return False
        loose = _LOOSE.get(one.dtype, _LOOSE_OTHERWISE)
        noise = 1e4 * torch.finfo(one.dtype).eps * size if one.is_floating_point() else 0.0
        if (
            _finite_norm(one.detach().double() - other.detach().double())
            > loose * _finite_norm(one) + noise + _NEXT_TO_NOTHING
        ):
            return False
    return True


def _finite_norm(value: Tensor) -> float:
    value = value.detach().double()
    return float(value[torch.isfinite(value)].norm())


def _run(problem: Problem, upstreams: Sequence[Tensor], inputs: Sequence[Tensor]) -> list[Tensor | None]:
    """The results and the gradients in floats.

    Raises:
        UnsupportedError: the function or its backward raised.
    """
    try:
        return problem.both(upstreams, inputs)
    except ValueError as error:
        if "return one for each input" in str(error):
            raise
        raise UnsupportedError(f"it raised ValueError: {error}") from error
    except Exception as error:
        first_line = str(error).partition("\n")[0]
        raise UnsupportedError(f"it raised {type(error).__name__}: {first_line}") from error
