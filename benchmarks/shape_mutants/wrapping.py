"""The calls from `main` into a program, and the construction of its modules, seen by a `Wrapper`."""

from __future__ import annotations

import copy
import functools
import inspect
import random
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from benchmarks.shape_mutants.changes import DRIVERS

if TYPE_CHECKING:
    from collections.abc import Callable

# Methods that Python calls behind the program's back.
_SPECIAL_THAT_ARE_CALLED = {"__call__", "__getitem__", "__len__"}


@dataclass
class FunctionCall:
    """A call from `main` of a function or method of the program."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    inside: Callable[[Callable[[], Any]], Any]
    number: int

    def run(self) -> Any:
        """Call it."""
        return self.inside(lambda: self.function(*self.arguments, **self.keywords))

    def seed(self) -> None:
        """Let random numbers be the same as in the same call of another run."""
        torch.manual_seed(self.number)
        random.seed(self.number)

    def copied(self) -> FunctionCall | None:
        """The call with its tensors as they are now; None if it has none."""
        tensors = [one for one in (*self.arguments, *self.keywords.values()) if isinstance(one, Tensor)]
        if not tensors:
            return None
        arguments = tuple(_copied(one) for one in self.arguments)
        keywords = {name: _copied(one) for name, one in self.keywords.items()}
        return FunctionCall(self.name, self.function, arguments, keywords, self.inside, self.number)


def _copied(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().clone()
    return value if isinstance(value, nn.Module) else copy.copy(value)


class Wrapper:
    """What is done with the calls of a program. By default they are run."""

    def called(self, call: FunctionCall) -> Any:
        """Give the result of a call from `main`."""
        return call.run()

    def constructing(self, run: Callable[[], None]) -> None:
        """Run a constructor that `main` calls."""
        run()


def wrap(
    module: types.ModuleType,
    wrapper: Wrapper,
    check: Callable[[Any], Any] | None,
    after_construction: Callable[[nn.Module], None],
) -> None:
    """Let the functions and methods of a module be called through a wrapper.

    Args:
        module: the program.
        wrapper: what sees the calls that no other such call has made.
        check: a decorator that goes around each of them.
        after_construction: called with each `nn.Module` when it is complete.
    """
    depth = count = constructing = 0

    def inside(run: Callable[[], Any]) -> Any:
        nonlocal depth
        depth += 1
        try:
            return run()
        finally:
            depth -= 1

    def outermost(function: Any) -> Any:
        checked = _checked(function, check)

        @functools.wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            nonlocal count
            if depth:
                return checked(*arguments, **keywords)
            count += 1
            return wrapper.called(FunctionCall(function.__qualname__, checked, arguments, keywords, inside, count))

        return call

    def constructor(function: Any) -> Any:
        checked = _checked(function, check)

        @functools.wraps(function)
        def construct(self: Any, *arguments: Any, **keywords: Any) -> None:
            nonlocal constructing, count
            constructing += 1
            try:
                if depth or constructing > 1:
                    checked(self, *arguments, **keywords)
                else:
                    wrapper.constructing(lambda: inside(lambda: checked(self, *arguments, **keywords)))
            finally:
                constructing -= 1
            if not constructing and isinstance(self, nn.Module):
                after_construction(self)
                count += 1
                torch.manual_seed(count)

        return construct

    for name, value in list(vars(module).items()):
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if isinstance(value, types.FunctionType) and name not in DRIVERS and not _is_lazy(value):
            setattr(module, name, outermost(value))
        elif isinstance(value, type):
            _wrap_class(value, outermost, constructor)


def _wrap_class(cls: type, outermost: Callable[[Any], Any], constructor: Callable[[Any], Any]) -> None:
    for name, value in list(vars(cls).items()):
        if name == "__init__" and isinstance(value, types.FunctionType):
            setattr(cls, name, constructor(value))
        elif name.startswith("__") and name not in _SPECIAL_THAT_ARE_CALLED:
            continue
        elif isinstance(value, types.FunctionType) and not _is_lazy(value):
            setattr(cls, name, outermost(value))
        elif isinstance(value, (staticmethod, classmethod)):
            setattr(cls, name, type(value)(outermost(value.__func__)))


def _is_lazy(function: types.FunctionType) -> bool:
    return inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function)


def _checked(function: Any, check: Callable[[Any], Any] | None) -> Any:
    return check(function) if check is not None and getattr(function, "__annotations__", None) else function
