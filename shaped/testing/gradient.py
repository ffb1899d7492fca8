"""A test of a gradient in one line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from shaped.testing.record import ACCEPTED, LEVELS, RECORD, weakest
from shaped.testing.reproduction import reproduction
from shaped.verify.gradient import gradient as verified
from shaped.verify.verdict import Level

if TYPE_CHECKING:
    from shaped.verify.verdict import Verdict


def check_gradient(
    forward: Callable[..., Any],
    backward: Callable[..., Any] | None = None,
    *inputs: Any,
    gradient_of: Callable[..., Any] | None = None,
    domain: Any = None,
    level: str = "",
) -> Verdict:
    """Fail unless the gradient is right.

    Args:
        forward: the function, whose annotations give the shapes; a module, or a `torch.autograd.Function` class.
        backward: the hand-written backward, `backward(upstream, *inputs)`; None for a class or for autograd's own.
        *inputs: the values to check at, as in a property test; samples from the annotations if there are none. Inside a
            property test, an example at which there is no derivative is passed over.
        gradient_of: the function whose gradient is meant, if it is not `forward`'s (a straight-through estimator).
        domain: where the gradient is to be right, as in `shaped.verify.gradient`.
        level: the weakest level that passes: "proved", "exact" or "enclosed". The command line's `--shaped-level` asks
            for more, never for less.

    Raises:
        AssertionError: it is wrong, or not decided, or known at a weaker level; the text explains why, and ends with a
            program that shows the fault.
    """
    __tracebackhide__ = True  # pytest shows the caller's line
    if level and level not in ACCEPTED:
        raise ValueError(f"level={level!r} is no level that a gradient can pass at: give one of {', '.join(ACCEPTED)}")
    verdict = verified(forward, backward, *inputs, gradient_of=gradient_of, domain=domain)
    if verdict.level is Level.KINK and inputs:
        _pass_over_in_a_property_test()
    RECORD.note(verdict.subject, verdict.level.value)
    if not verdict.ok:
        raise AssertionError(_failure(verdict, forward, backward, gradient_of))
    required = min(level or ACCEPTED[-1], RECORD.required, key=LEVELS.index)
    if weakest(verdict.level.value, required) != required:
        raise AssertionError(f"{verdict.explain()}\n\nThe gradient is {verdict.level.value}, but has to be {required}.")
    return verdict


def _failure(
    verdict: Verdict,
    forward: Callable[..., Any],
    backward: Callable[..., Any] | None,
    gradient_of: Callable[..., Any] | None,
) -> str:
    text = verdict.explain()
    if verdict.witness is None:
        return text
    program = reproduction(verdict.witness, forward, backward, gradient_of)
    return f"{text}\n\nTo see it, run:\n\n" + "\n".join(f"    {line}".rstrip() for line in program.splitlines()) + "\n"


def _pass_over_in_a_property_test() -> None:
    """Let Hypothesis draw another example, if it runs this one."""
    if "hypothesis" in sys.modules:
        from hypothesis import currently_in_test_context, reject

        if currently_in_test_context():
            reject()
