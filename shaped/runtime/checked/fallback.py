"""Functions with annotations that no code is generated for: jaxtyping and beartype check them as ever.

Such are trees of arrays (`PyTree[...]`) and axes with a size of their own at each leaf (`?name`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import jaxtyping

from shaped.runtime.checked.failure import TypeRefusal, UnboundAxis
from shaped.runtime.checked.switch import SWITCH


def by_jaxtyping(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function checked by jaxtyping and beartype, with errors of this package. As it is without beartype."""
    try:
        import beartype
    except ImportError:
        return function
    checks: Callable[..., Any] = jaxtyping.jaxtyped(_without_result(function), typechecker=beartype.beartype)
    # How jaxtyping's own messages name the function.
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
    marks = tuple(f"whilst checking the {part} of {module}.{name}." for part in ("parameters", "return value"))
    operation = name.rpartition("<locals>.")[2]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if SWITCH.off or getattr(call, "__no_type_check__", False):
            return function(*args, **kwargs)
        try:
            return checks(*args, **kwargs)
        except jaxtyping.TypeCheckError as error:
            if isinstance(error, TypeRefusal) or not any(mark in str(error) for mark in marks):
                raise  # that of another function, which this one has called
            raise TypeRefusal(operation, str(error).strip()) from error
        except jaxtyping.AnnotationError as error:
            if isinstance(error, UnboundAxis):
                raise
            raise UnboundAxis(operation, str(error)) from error

    return call


def _without_result(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; for one that gives a coroutine, one that says nothing of what that will give."""
    if not inspect.iscoroutinefunction(function):
        return function
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    call.__signature__ = signature.replace(return_annotation=signature.empty)  # type: ignore[attr-defined]  # inspect's
    return call
