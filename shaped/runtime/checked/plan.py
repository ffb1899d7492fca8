"""What a function's signature asks of its calls: the hints of its parameters and of its result, resolved."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from shaped.runtime.checked import reference
from shaped.runtime.checked.hints import Anything, Every, EveryPair, Hint
from shaped.runtime.checked.lowering import lower
from shaped.runtime.checked.reference import Bound, Mismatch, Unbound
from shaped.runtime.checked.scope import closure_of, names_in, reads_scope

EMPTY = inspect.Parameter.empty

# What changes a tensor's shape or dtype where it stands.
_CHANGE_AXES = frozenset(
    [
        "as_strided_",
        "data",
        "resize_",
        "resize_as_",
        "set_",
        "squeeze_",
        "swapaxes_",
        "swapdims_",
        "t_",
        "transpose_",
        "unsqueeze_",
    ]
)


@dataclass(frozen=True)
class Plan:
    """A function and the checks of its calls.

    Args:
        function: the function.
        signature: its parameters.
        parameters: what each parameter demands, in order.
        result: what the result demands.
        is_unresolved: some annotation names what does not exist yet.
        is_async: it is a coroutine function: the result is what it gives when awaited.
        is_scoped: its body runs within the call, and may ask for the names of the call.
        rechecks: its body may change the axes of an argument in place, so that the arguments are checked again.
        is_opaque: the signature is not its own, so that its arguments are handed on as they came.
    """

    function: Callable[..., Any]
    signature: inspect.Signature
    parameters: Mapping[str, Hint]
    result: Hint
    is_unresolved: bool
    is_async: bool
    is_scoped: bool
    rechecks: bool
    is_opaque: bool

    @property
    def operation(self) -> str:
        """The function's name for messages: `Mlp.forward`."""
        name = getattr(self.function, "__qualname__", None) or type(self.function).__qualname__
        return str(name).rpartition("<locals>.")[2]

    @property
    def checks_nothing(self) -> bool:
        """Whether every call passes, and binds nothing that its body asks for."""
        hints = (*self.parameters.values(), self.result)
        return all(isinstance(hint, Anything) for hint in hints) and not (self.is_scoped and reads_scope(self.function))


def plan_for(function: Callable[..., Any]) -> Plan:
    """The checks of a function's calls.

    Raises:
        NotUnderstood: jaxtyping has to check them itself.
    """
    signature = inspect.signature(function)
    plain = _plain(function)
    resolved = {name: _resolved(parameter.annotation, plain) for name, parameter in signature.parameters.items()}
    result, result_is_known = _resolved(signature.return_annotation, plain)
    is_async = inspect.iscoroutinefunction(function)
    is_generator = inspect.isgeneratorfunction(plain) or inspect.isasyncgenfunction(plain)
    is_late = is_generator or inspect.iscoroutinefunction(plain)
    # What wraps a generator or a coroutine may give anything in its place.
    if (is_async and _is_awaitable(result)) or (is_late and plain is not function and not is_async):
        result = Any
    parameters = {name: _of_parameter(signature.parameters[name], lower(hint)) for name, (hint, _) in resolved.items()}
    return Plan(
        function=function,
        signature=signature,
        parameters=parameters,
        result=lower(result),
        is_unresolved=not (result_is_known and all(known for _, known in resolved.values())),
        is_async=is_async,
        # The bodies of the others run after the call.
        is_scoped=not is_late,
        rechecks=not is_generator and not _CHANGE_AXES.isdisjoint(names_in(function)),
        is_opaque=not inspect.isfunction(function)
        or hasattr(function, "__wrapped__")
        or "__signature__" in vars(function),
    )


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that the user wrote, under its decorators."""
    function = inspect.unwrap(function)
    while isinstance(function, functools.partial):
        function = inspect.unwrap(function.func)
    return function


def _of_parameter(parameter: inspect.Parameter, hint: Hint) -> Hint:
    if isinstance(hint, Anything):
        return hint
    if parameter.kind is parameter.VAR_POSITIONAL:
        return Every(tuple, hint)
    if parameter.kind is parameter.VAR_KEYWORD:
        return EveryPair(dict, Anything(), hint)
    return hint


def _resolved(annotation: Any, function: Callable[..., Any]) -> tuple[Any, bool]:
    """An annotation without strings, and whether all of its names exist. What is no type hint is no demand.

    Like jaxtyping, it looks into the globals of the function; also into the variables around it that it uses.
    """
    if annotation is EMPTY:
        return Any, True

    def holder() -> None: ...

    holder.__annotations__ = {"value": annotation}
    try:
        hints = typing.get_type_hints(
            holder, getattr(function, "__globals__", {}), closure_of(function), include_extras=True
        )
    except NameError:
        return Any, False
    except Exception:  # as jaxtyping: an annotation that is no type may be documentation
        return Any, True
    return hints["value"], True


def _is_awaitable(hint: Any) -> bool:
    """Whether the annotation of a coroutine function is of the coroutine, not of what it gives."""
    return typing.get_origin(hint) in (collections.abc.Coroutine, collections.abc.Awaitable) or hint in (
        collections.abc.Coroutine,
        collections.abc.Awaitable,
    )


def needs_omitted(hint: Hint, default: Any) -> bool:
    """Whether a default has to be told from the same value given: where checking it fails, or binds names."""
    if default is EMPTY or isinstance(hint, Anything):
        return False
    bound = Bound()
    try:
        reference.check(hint, default, "default", bound)
    except (Mismatch, Unbound):
        return True
    return bool(bound.sizes or bound.packs)
