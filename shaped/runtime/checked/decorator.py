"""`checked`: a function whose calls are checked against its annotations."""

from __future__ import annotations

import dataclasses
import inspect
import weakref
from collections.abc import Callable
from typing import Any, TypeVar, overload

from shaped.runtime.checked.fallback import by_jaxtyping
from shaped.runtime.checked.generation import generate
from shaped.runtime.checked.lowering import NotUnderstood
from shaped.runtime.checked.plan import plan_for
from shaped.runtime.checked.switch import is_exempt, is_left_out

T = TypeVar("T")

_MADE: weakref.WeakSet[Any] = weakref.WeakSet()


@overload
def checked(target: T, /) -> T: ...


@overload
def checked() -> Callable[[T], T]: ...


def checked(target: Any = None, /) -> Any:
    """Check each call of a function against its annotations, as `jaxtyped(typechecker=beartype)` does, for less.

    The names of axes are bound once per call, by the arguments in order and then by the result. A class is returned as
    it is, but the `__init__` of a dataclass is checked. Methods, properties, static and class methods, coroutines and
    generators (what they are called with) may be decorated as well.

    Args:
        target: a function, a descriptor of one, or a class.

    Returns:
        The function that checks and then calls `target`, with its name, signature and docs.

    Raises:
        ShapeError, DtypeError, Fault: at a call; also a `TypeError`, with the same sentence as `shaped check` has.

    >>> import torch
    >>> from jaxtyping import Float
    >>> @checked
    ... def mix(x: Float[torch.Tensor, "b d"], w: Float[torch.Tensor, "d e"]) -> Float[torch.Tensor, "b e"]:
    ...     return x @ w
    >>> mix(torch.ones(3, 4), torch.ones(5, 2))
    Traceback (most recent call last):
    shaped.runtime.checked.failure.ShapeRefusal: argument w of mix: (5, 2) does not match "d e": axis 0 is 5, not d=4
    b = 3: axis 0 of x
    d = 4: axis 1 of x
    """
    if target is None:
        return checked
    if is_left_out():
        return target
    if inspect.isclass(target):
        return _checked_class(target)
    if isinstance(target, (classmethod, staticmethod)):
        return type(target)(checked(target.__func__))
    if isinstance(target, property):
        accessors = (target.fget, target.fset, target.fdel)
        return property(*(accessor and checked(accessor) for accessor in accessors), target.__doc__)
    if not callable(target):
        raise TypeError(f"checked takes a function or a class, not {target!r}")
    return _checked_function(target)


def _checked_class(target: type) -> type:
    """A dataclass checks what it is made of; other classes are left alone."""
    if dataclasses.is_dataclass(target) and not is_exempt(target) and "__init__" in vars(target):
        target.__init__ = _checked_function(target.__init__)  # type: ignore[misc]  # the class is the user's own
    return target


def _checked_function(function: Callable[..., Any]) -> Callable[..., Any]:
    if is_exempt(function) or function in _MADE:
        return function
    try:
        plan = plan_for(function)
        if plan.checks_nothing and not plan.is_unresolved:
            return function
        made = generate(plan)
    except NotUnderstood:
        made = by_jaxtyping(function)
    _MADE.add(made)
    return made
