"""Is this gradient right? One question for people who do not care which level answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from shaped.verify.certifying import enclosed
from shaped.verify.exact import exact_gradcheck
from shaped.verify.hazards import float_hazards, numeric_refutation
from shaped.verify.pairs import as_pair
from shaped.verify.prove import prove
from shaped.verify.subject import Subject
from shaped.verify.trials import generic_samples
from shaped.verify.verdict import Level, Verdict

Function = Callable[..., Any]


def gradient(
    forward: Function | type[torch.autograd.Function],
    backward: Function | None = None,
    *inputs: Any,
    gradient_of: Function | None = None,
    domain: Callable[..., bool] | None = None,
) -> Verdict:
    """Whether a backward is the gradient of its forward, at the strongest level that can be had.

    A proof for every size and value is tried first, then the exact check at samples. Samples with random upstream
    gradients and special points look for a counterexample, and for what real numbers cannot show: NaN, infinity,
    underflow, inputs that are written to, gradients of another shape.

    Args:
        forward: a function of tensors, a module, a `torch.autograd.Function` class, or an op of `shaped.custom_grad`.
        backward: `backward(upstream, *inputs)`; it takes a tuple for several outputs, and returns a gradient for each
            input, None for integers and bools. None for a class or an op, which have one; for another function, the
            gradient is autograd's.
        *inputs: the values to check at, and the shapes of others; without them the jaxtyping annotations of `forward`
            say what to draw, and what to prove.
        gradient_of: the function whose gradient is meant, if it is not `forward`'s (a straight-through estimator).
        domain: a predicate of the inputs: where the gradient is to be right. Everywhere by default.

    Returns:
        The verdict. `verdict.ok`, `verdict.level`, `verdict.witness`, `verdict.explain()`.

    Raises:
        SubjectError: these are no forward and backward.
        AnnotationError: there are no inputs, and an annotation is missing or cannot be read.

    >>> import torch
    >>> from jaxtyping import Float
    >>> from torch import Tensor
    >>> def cube(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    ...     return x**3
    >>> def cube_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    ...     return (grad * 3 * x,)
    >>> print(gradient(cube, cube_backward))  # doctest: +ELLIPSIS
    cube: refuted: ...
    """
    forward, backward, gradient_of = as_pair(forward, backward, gradient_of)
    if backward is None and not (isinstance(forward, type) and issubclass(forward, torch.autograd.Function)):
        return _of_autograd(forward, inputs, gradient_of, domain)
    subject = Subject.of(forward, backward, gradient_of=gradient_of)
    proof = prove(forward, backward, gradient_of=gradient_of) if not inputs else None
    if proof is not None and proof.level is Level.REFUTED:
        return proof
    refutation = numeric_refutation(subject, *inputs, domain=domain)
    if refutation is not None:
        return refutation
    proved = proof is not None and proof.level is Level.PROVED
    hazards = float_hazards(forward, backward, *inputs, domain=domain, gradient_of=gradient_of, is_proved=proved)
    if hazards.level in (Level.HAZARD, Level.REFUTED):
        return replace(hazards, parts=(*hazards.parts, proof) if proof is not None and proof.ok else hazards.parts)
    if proof is not None and proof.ok:
        return proof
    exact = _exact(subject, inputs, domain)
    if exact.level is Level.UNSUPPORTED and not inputs:
        compared = enclosed(forward, backward, gradient_of)
        exact = exact if compared is None else compared
    return replace(exact, parts=(*exact.parts, proof)) if proof is not None else exact


def _of_autograd(
    forward: Any, inputs: tuple[Any, ...], gradient_of: Function | None, domain: Callable[..., bool] | None
) -> Verdict:
    """The verdict on the gradient that autograd gives, at the inputs or at samples."""
    function = forward if gradient_of is None else gradient_of
    points = [inputs] if inputs else _drawn(Subject.without_backward(forward), domain)
    return _together([exact_gradcheck(function, *point) for point in points])


def _exact(subject: Subject, inputs: tuple[Any, ...], domain: Callable[..., bool] | None) -> Verdict:
    """The exact check of a subject, at the inputs or at samples of several sizes."""
    function: Function | None = subject.surrogate or subject.forward
    backward = subject.backward
    if subject.function is not None:
        if subject.surrogate is None:
            function = partial(_applied, subject.function)
        else:
            backward = _backward_of(subject.function)
    assert function is not None, "a subject has a forward or is a Function"
    points = [inputs] if inputs else _drawn(subject, domain)
    return replace(
        _together([exact_gradcheck(function, *point, backward=backward) for point in points]), subject=subject.name
    )


def _applied(function: type[torch.autograd.Function], *inputs: Any) -> Any:
    """What a Function gives, with its own backward."""
    return function.apply(*inputs)  # type: ignore[no-untyped-call]  # as torch declares it


def _backward_of(function: type[torch.autograd.Function]) -> Function:
    """The backward of a Function as a function of the upstream gradient and the inputs."""

    def backward(upstream: Any, *inputs: Any) -> Any:
        leaves = [value.detach().requires_grad_(value.is_floating_point()) for value in inputs]
        outputs = _applied(function, *leaves)
        wanted = [leaf for leaf in leaves if leaf.requires_grad]
        found = iter(torch.autograd.grad(outputs, wanted, upstream, allow_unused=True))
        return tuple(next(found) if leaf.requires_grad else None for leaf in leaves)

    return backward


def _drawn(subject: Subject, domain: Callable[..., bool] | None) -> list[tuple[Any, ...]]:
    """Inputs of the first layouts that the forward accepts."""
    return [sample.inputs for sample in generic_samples(subject, _SAMPLES, domain=domain)]


def _together(verdicts: list[Verdict]) -> Verdict:
    """The verdict on several samples: a fault, then what was not decided; a kink only where all are at one."""
    decided = [each for each in verdicts if each.level is not Level.KINK] or verdicts
    first = min(decided, key=lambda verdict: _SEVERITY.index(verdict.level))
    return replace(
        first,
        kinks=tuple(dict.fromkeys(kink for each in verdicts for kink in each.kinks)),
        notes=tuple(dict.fromkeys(note for each in decided for note in each.notes)),
    )


# The verdict of several is that of the first level here that one of them has.
_SEVERITY = (Level.REFUTED, Level.UNSUPPORTED, Level.HAZARD, Level.KINK, Level.ENCLOSED, Level.EXACT, Level.PROVED)
_SAMPLES = 3  # of different layouts; the exact check takes some 50 ms at each
