"""Running plain torch code on spec tensors.

While a program is traced, functions of torch with a meaning are stand-ins that take spec tensors and sizes: torch's own
would refuse a size that is no int, and would make tensors that hold no expressions. Functions of `math` are exact. All
names are put back afterwards.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional

from shaped.spec.calls import Meaning, Reading, call_named, reading, torch_names
from shaped.spec.meaning import find_meaning
from shaped.spec.op import find_op
from shaped.spec.size import Size
from shaped.spec.tensor import NotExpressible, Tensor
from shaped.verify.prove.numbers import EXACT_CONSTANTS, exact_math, stands_for

if TYPE_CHECKING:
    from types import ModuleType

# One program is traced at a time: the names that are replaced belong to all.
_lock = threading.RLock()

# What makes tensors of numbers, so that a program may write expressions into them.
_CREATING = frozenset(
    """
    zeros zeros_like ones ones_like empty empty_like full full_like arange linspace logspace eye
    tensor as_tensor asarray scalar_tensor tril_indices triu_indices
    """.split()  # noqa: SIM905  (a column of quoted names reads worse)
)
_MODULES = (torch, torch.nn.functional, torch.special, torch.linalg)
# Code that computes with numbers of its own, not with those of the traced program.
_OWN_NUMBERS = ("shaped.", "numpy", "fractions", "decimal", "random", "statistics")


def _ignore(name: str) -> None:
    """Take no notice of an operation."""


def _as_it_is(name: str, found: Any) -> Any:
    """The result of an operation, unchanged."""
    return found


@dataclass(frozen=True)
class Watch:
    """Who is told of each operation of a program.

    Args:
        called: is told its name.
        finished: is given its name and result, and gives the result to use.
        took: is told of a float that is taken for another number, and of this number.
    """

    called: Callable[[str], object] = _ignore
    finished: Callable[[str, Any], Any] = _as_it_is
    took: Callable[[str], object] = _ignore

    def number(self, value: float) -> Tensor | float:
        """What a float of the program stands for."""
        found = stands_for(value)
        if isinstance(found, Tensor):
            self.took(f"{value!r} is taken for {found.body}")
        return found


@contextmanager
def tracing(
    *programs: Callable[..., Any], replaced: Mapping[str, Meaning] | None = None, watch: Watch | None = None
) -> Iterator[None]:
    """Let programs run on spec tensors.

    Args:
        programs: the functions to run; names that their modules took from torch and `math` are replaced as well.
        replaced: meanings to use in place of those of the table.
        watch: who is told of each operation.
    """
    watch = watch or Watch()
    names = torch_names()
    with _lock, ExitStack() as stack:
        stand_ins = {function: _stand_in(function, name) for function, name in names.items() if _has_stand_in(name)}
        for module in _MODULES:
            stack.enter_context(
                _swapped(module, {k: stand_ins[v] for k, v in _values(module) if _is_key(v, stand_ins)})
            )
        stack.enter_context(_swapped(torch.nn.functional, _asking_for_bodies()))
        exact = dict(_exact_math())
        stack.enter_context(_swapped(math, {getattr(value, "__name__", ""): new for value, new in exact.items()}))
        stack.enter_context(_swapped(math, EXACT_CONSTANTS))
        everything: dict[Any, Any] = {**stand_ins, **exact}
        for scope in _scopes(programs):
            stack.enter_context(_swapped_items(scope, everything))
        stack.enter_context(reading(Reading(replaced or {}, watch.number, _run_body, watch.called, watch.finished)))
        yield


def _values(module: ModuleType) -> list[tuple[str, Any]]:
    return list(vars(module).items())


def _is_key(value: Any, table: Mapping[Any, Any]) -> bool:
    try:
        return value in table
    except TypeError:
        return False


def _scopes(programs: tuple[Callable[..., Any], ...]) -> list[dict[str, Any]]:
    """The global names of the programs, each module once."""
    found: dict[int, dict[str, Any]] = {}
    for program in programs:
        plain = getattr(program, "__func__", program)
        if isinstance(plain, torch.nn.Module):
            plain = type(plain).forward
        scope = getattr(plain, "__globals__", None)
        if scope is not None and not str(scope.get("__name__", "")).startswith("torch."):
            found[id(scope)] = scope
    return list(found.values())


def _has_stand_in(name: str) -> bool:
    """Whether an operation is called through a name of a module, and has a meaning."""
    if name.startswith("Tensor."):
        return False
    return find_meaning(name) is not None or (name.endswith("_") and find_meaning(name.rstrip("_")) is not None)


def _stand_in(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    declared = find_op(name)
    creates = declared is not None and declared.name in _CREATING

    @wraps(function, updated=())
    def stand_in(*args: Any, **kwargs: Any) -> Any:
        if _mentions_symbols(args) or _mentions_symbols(tuple(kwargs.values())):
            return call_named(name, args, kwargs)
        if creates and not _is_library_code():
            try:
                return call_named(name, args, kwargs)
            except NotExpressible:  # a tensor of given numbers will do where nothing is written into it
                return function(*args, **kwargs)
        return function(*args, **kwargs)

    return stand_in


def _is_library_code() -> bool:
    """Whether the caller of a stand-in is code of our own, which means torch's tensors."""
    return str(sys._getframe(2).f_globals.get("__name__", "")).startswith("shaped.")


def _mentions_symbols(values: Any) -> bool:
    return any(
        isinstance(value, (Tensor, Size)) or (isinstance(value, (list, tuple)) and _mentions_symbols(value))
        for value in values
    )


def _exact_math() -> Iterator[tuple[Callable[..., Any], Callable[..., Any]]]:
    """The functions of `math` with what replaces them for a traced program."""
    for name, original in _values(math):
        exact = exact_math(original, name) if callable(original) else None
        if exact is not None:
            yield original, _for_programs(original, exact)


def _for_programs(original: Callable[..., Any], exact: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original, updated=())
    def function(*args: Any) -> Any:
        caller = str(sys._getframe(1).f_globals.get("__name__", ""))
        own = caller.startswith(_OWN_NUMBERS) and not _mentions_symbols(args)
        return original(*args) if own else exact(*args)

    return function


def _asking_for_bodies() -> dict[str, Any]:
    """`has_torch_function` and its kin: no for a function of torch whose Python body is to be run."""
    functional = vars(torch.nn.functional)

    def asked(original: Callable[..., bool]) -> Callable[..., bool]:
        def has(*args: Any) -> bool:
            return sys._getframe(1).f_code not in _bodies and original(*args)

        return has

    names = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")
    return {name: asked(functional[name]) for name in names}


_bodies: set[Any] = set()  # the code of functions of torch that are run as they are written


def _run_body(function: Callable[..., object], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Run a function of `torch.nn.functional` that has no meaning of its own, as it is written there.

    Raises:
        NotExpressible: it is not written in Python.
    """
    code = getattr(function, "__code__", None)
    if code is None or getattr(function, "__module__", "") != "torch.nn.functional":
        raise NotExpressible(f"{getattr(function, '__name__', function)}, which has no meaning in the table")
    _bodies.add(code)
    return function(*args, **kwargs)


@contextmanager
def _swapped(module: ModuleType, values: Mapping[str, Any]) -> Iterator[None]:
    """Other values for names of a module."""
    before = {name: getattr(module, name) for name in values if hasattr(module, name)}
    for name in before:
        setattr(module, name, values[name])
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


@contextmanager
def _swapped_items(scope: dict[str, Any], values: Mapping[Any, Any]) -> Iterator[None]:
    """Other values for the names of a scope that have one of these values."""
    before = {name: value for name, value in scope.items() if callable(value) and _is_key(value, values)}
    for name, value in before.items():
        scope[name] = values[value]
    try:
        yield
    finally:
        scope.update(before)
