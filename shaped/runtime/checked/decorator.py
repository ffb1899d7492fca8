"""`checked`: a function whose calls are checked against its annotations."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import warnings
import weakref
from collections.abc import Callable
from typing import Any, TypeVar, overload

from shaped.runtime.checked.fallback import by_jaxtyping
from shaped.runtime.checked.generation import deferred, generate
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

    What differs from jaxtyping: every item of a list, tuple or mapping of tensors is checked, not one by chance; what a
    coroutine gives is checked when it is awaited; forward references are resolved at the first call; a graph of
    `torch.compile` checks tensors and instances of classes only; an argument that the body resizes in a function that
    it calls is not seen.

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
    match target:
        case classmethod() | staticmethod():
            return type(target)(checked(target.__func__))
        case property(fget=get, fset=put, fdel=delete):
            return property(get and checked(get), put and checked(put), delete and checked(delete), target.__doc__)
        case functools.cached_property(func=compute):
            return functools.cached_property(checked(compute))
    if not callable(target):
        raise TypeError(f"checked takes a function or a class, not {target!r}")
    return _checked_function(target)


def _checked_class(target: type) -> type:
    """A dataclass checks what it is made of; other classes are left alone."""
    init: Any = target.__init__  # type: ignore[misc]  # that of this class, whatever subclasses make of it
    if dataclasses.is_dataclass(target) and not is_exempt(target) and inspect.isfunction(init) and init not in _MADE:
        type.__setattr__(target, "__init__", _checked_function(init))
    return target


def _checked_function(function: Callable[..., Any]) -> Callable[..., Any]:
    if is_exempt(function) or function in _MADE:
        return function
    made = _stand_in_for(function)
    if made is not function:
        _MADE.add(made)
    return made


def _stand_in_for(function: Callable[..., Any], deferred_as: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """The function that checks, by generated code if possible, by jaxtyping's if not.

    Args:
        function: the function to check.
        deferred_as: what stands for it already, where its annotations had to wait for the first call.
    """
    try:
        plan = plan_for(function)
        if plan.is_unresolved and deferred_as is None:
            return deferred(plan, functools.partial(_stand_in_for, function))
        return function if plan.checks_nothing else generate(plan, deferred_as)
    except NotUnderstood:
        pass
    except Exception as problem:  # a fault of ours never stops the user's program
        name = getattr(function, "__qualname__", repr(function))
        warnings.warn(f"jaxtyping checks {name}, shaped cannot: {problem!r}", RuntimeWarning, stacklevel=4)
    try:
        return by_jaxtyping(function)
    except Exception as problem:  # what jaxtyping and beartype refuse to decorate runs unchecked
        name = getattr(function, "__qualname__", repr(function))
        warnings.warn(f"the calls of {name} are not checked: {problem!r}", RuntimeWarning, stacklevel=4)
        return function
