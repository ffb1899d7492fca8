"""The op for graphs: registered with `torch.library`, `torch.compile` and `torch.export` keep it as one node."""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch

from shaped.runtime.custom_grad import autocast
from shaped.runtime.custom_grad.autocast import Autocast
from shaped.runtime.custom_grad.definition import Definition
from shaped.runtime.custom_grad.saved import restored, save

NAMESPACE = "custom_grad"
_NAME = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*")
# What was registered last under each name, as long as it lives.
_OWNERS: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
_TAKEN: set[str] = set()


def register(name: str, definition: Definition) -> torch._library.custom_ops.CustomOpDef:
    """Register an op, in place of one of the same name.

    Args:
        name: `namespace::name`.
        definition: its forward, which also says the shapes of what it returns; its backward may be set later.
    """
    layouts = definition.layouts

    def run(*arguments: Any) -> Any:
        *values, dtype = _with_autocast(definition, arguments)
        layout = layouts.of(values)
        flat = layout.flat(values)
        with autocast.entered(_state(flat, dtype)), _counting_writes():
            result = definition.run(layout, flat)
        return result[0] if definition.signature.is_single_tuple else result

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        *values, dtype = _with_autocast(definition, inputs)
        layout = layouts.of(values)
        flat = layout.flat(values)
        save(ctx, layout, flat, definition.kept, _state(flat, dtype))

    def backward(ctx: Any, *upstream: Any) -> Any:
        saved = ctx.saved
        needed = saved.layout.flat(ctx.needs_input_grad[: len(saved.layout.lengths)])
        gradients = definition.pull_back(saved.layout, restored(ctx), needed, upstream, saved.state)
        # torch leaves out the last argument, the autocast's, where it is None.
        return (*saved.layout.nested(gradients), None)[: len(ctx.needs_input_grad)]

    op = torch.library.custom_op(name, run, mutates_args=(), schema=definition.signature.schema)
    op.register_fake(run)
    op.register_autograd(backward, setup_context=setup_context)
    return op


def _counting_writes() -> AbstractContextManager[None]:
    """Tensors count how often they are written to, which they do not below autograd."""
    guard: AbstractContextManager[None] = torch._C._SetExcludeDispatchKeyGuard(
        torch._C.DispatchKey.ADInplaceOrView, False
    )
    return guard


def _with_autocast(definition: Definition, arguments: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments with that of the autocast, which torch leaves out where it is None."""
    missing = len(definition.signature.parameters) + 1 - len(arguments)
    return (*arguments, *(None,) * missing)


def _state(flat: Sequence[Any], dtype: torch.dtype | None) -> Autocast | None:
    return None if dtype is None else Autocast(autocast.device_of(flat), dtype)


def name_of(forward: Any, given: str | None) -> str:
    """The name to register a function by.

    A name that is not given is made of the module's and the function's. Defining a function again, as by running the
    cell of a notebook once more or by reloading a module, keeps the name; another function of the same name, as each
    call of a function that makes ops defines, gets a number.

    Raises:
        ValueError: the name that is given is none.
    """
    if given is not None:
        if not _NAME.fullmatch(given):
            raise ValueError(f'name={given!r} is no name of an op: write "mylib::{forward.__name__}"')
        return given
    words = f"{forward.__module__}.{forward.__qualname__}".replace("<locals>.", "")
    plain = re.sub(r"[\W_]+", "_", words).strip("_")
    name, count = f"{NAMESPACE}::{plain}", 1
    while name in _TAKEN and not _is_defined_again(name, forward):
        count += 1
        name = f"{NAMESPACE}::{plain}_{count}"
    return name


def _is_defined_again(name: str, forward: Any) -> bool:
    """Whether a function takes the place of the one that was registered by a name."""
    if "<locals>" in forward.__qualname__:
        return False  # the ops that a function makes live side by side; a graph may hold one whose object is gone
    owner = _OWNERS.get(name)
    if owner is None:
        return True
    found: Any = sys.modules.get(forward.__module__)
    for part in forward.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is owner


def take(name: str, owner: Any) -> Any:
    """Note who is registered by a name; gives who was before, None if that is gone."""
    before = _OWNERS.get(name)
    _OWNERS[name] = owner
    _TAKEN.add(name)
    return before
