"""The gradients that a file declares: autograd Functions, ops of `custom_grad`, and forwards with backwards."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from shaped.runtime.custom_grad import CustomGrad
from shaped.verify.gradient import gradient
from shaped.verify.verdict import Level, Verdict

# `gelu_backward`, `backward_gelu`, `gelu_bwd`, `gelu_vjp`: the backward of `gelu`, `gelu_forward` or `gelu_fwd`.
_BACKWARD = re.compile(r"(?:(?P<before>.+?)_)?(?:backward|bwd|vjp)(?:_(?P<after>.+))?")
_FORWARDS = ("{}", "{}_forward", "{}_fwd", "forward_{}", "fwd_{}")


class FileError(Exception):
    """A file that cannot be read as a module: which, and why."""


@dataclass(frozen=True)
class Declared:
    """A gradient that a file declares.

    Args:
        name: of the Function or the op, or of the backward.
        line: where it starts.
        forward: the function, the Function or the op.
        backward: the backward beside it, None for a Function or an op.
        gradient_of: the function named `gradient_of` or `NAME_gradient_of`, whose gradient is meant.
        domain: the function named `domain` or `NAME_domain`: where the gradient is to be right.
    """

    name: str
    line: int
    forward: Callable[..., Any] | type[torch.autograd.Function]
    backward: Callable[..., Any] | None = None
    gradient_of: Callable[..., Any] | None = None
    domain: Callable[..., bool] | None = None

    def verdict(self) -> Verdict:
        """The verdict on it; what goes wrong on the way is no more than undecided."""
        try:
            return gradient(self.forward, self.backward, gradient_of=self.gradient_of, domain=self.domain)
        except Exception as error:  # a file may hold anything; each of its gradients gets its own answer
            return Verdict(Level.UNSUPPORTED, self.name, f"{type(error).__name__}: {error}")


def load_module(path: Path) -> ModuleType:
    """The file as a module, run from its own folder's point of view.

    Raises:
        FileError: it is not there, or running it fails.
    """
    if not path.is_file():
        raise FileError(f"{path} is no file: pass a Python file")
    name = f"shaped_verify_{path.stem}"
    found = importlib.util.spec_from_file_location(name, path)
    if found is None or found.loader is None:
        raise FileError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(found)
    folder = str(path.parent.resolve())
    sys.modules[name] = module  # what it declares is looked up there, as by dataclasses and type hints
    sys.path.insert(0, folder)
    try:
        found.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise FileError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
    return module


def declared(module: ModuleType) -> Iterator[Declared]:
    """The gradients that a module declares, in the order of the file."""
    yield from sorted((*_functions(module), *_ops(module), *_pairs(module)), key=lambda each: each.line)


def _functions(module: ModuleType) -> Iterator[Declared]:
    for name, value in vars(module).items():
        if isinstance(value, type) and issubclass(value, torch.autograd.Function) and _is_own(value, module):
            yield Declared(name, _line(value), value, None, *_declarations(module, name))


def _ops(module: ModuleType) -> Iterator[Declared]:
    for name, value in vars(module).items():
        if isinstance(value, CustomGrad) and _is_own(value, module):
            gradient_of, domain = _declarations(module, name)
            line = _line(value.backward_function or value.forward)
            yield Declared(name, line, value, None, value.gradient_of or gradient_of, domain)


def _pairs(module: ModuleType) -> Iterator[Declared]:
    of_ops = {id(value.backward_function) for value in vars(module).values() if isinstance(value, CustomGrad)}
    own = {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and _is_own(value, module) and id(value) not in of_ops
    }
    for name, backward in own.items():
        found = _BACKWARD.fullmatch(name)
        if found is None or name.startswith("_"):
            continue
        stem = found["before"] or found["after"] or ""
        forward = next((own[each.format(stem)] for each in _FORWARDS if each.format(stem) in own), own.get("forward"))
        if forward is not None and forward is not backward:
            yield Declared(name, _line(backward), forward, backward, *_declarations(module, stem))


def _declarations(module: ModuleType, name: str) -> tuple[Callable[..., Any] | None, Callable[..., bool] | None]:
    """What is declared of a gradient: the function whose gradient is meant, and where it is to be right."""
    scope = vars(module)
    gradient_of, domain = (
        scope.get(f"{name}_{word}", scope.get(f"{name.lower()}_{word}", scope.get(word)))
        for word in ("gradient_of", "domain")
    )
    return gradient_of, domain


def _is_own(value: Any, module: ModuleType) -> bool:
    return getattr(value, "__module__", None) == module.__name__


def _line(value: Any) -> int:
    try:
        return inspect.getsourcelines(value)[1]
    except (OSError, TypeError):
        return 0
