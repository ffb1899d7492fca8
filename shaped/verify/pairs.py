"""An op of `shaped.custom_grad` as the pair of functions that it is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shaped.runtime.custom_grad import CustomGrad
from shaped.verify.subject import SubjectError

Function = Callable[..., Any]


def as_pair(
    forward: Any, backward: Function | None, gradient_of: Function | None
) -> tuple[Any, Function | None, Function | None]:
    """What to verify: for an op, its forward, its backward, and the function whose gradient it declares to be.

    Another backward, or another function whose gradient is meant, goes before the op's own.

    Raises:
        SubjectError: the op has no backward.
    """
    if not isinstance(forward, CustomGrad):
        return forward, backward, gradient_of
    backward = backward or forward.backward_function
    if backward is None:
        name = getattr(forward, "__name__", "the op")
        raise SubjectError(f"{name} has no backward: decorate one with @{name}.backward")
    return forward.forward, backward, gradient_of or forward.gradient_of
