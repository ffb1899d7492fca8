"""What a recording would lose without a word: hooks, attributes that a forward changes, tensors of other classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DataParallel, DistributedDataParallel
from torch.nn.parameter import is_lazy
from torch.utils import _pytree as pytree

from shaped.runtime.compiled.guards import hooked
from shaped.runtime.compiled.program import CannotCompile

_PLAIN = (Tensor, nn.Parameter, nn.Buffer)


def is_plain(tensor: Tensor) -> bool:
    """Whether a tensor is one of torch's own, with numbers in memory."""
    return type(tensor) in _PLAIN and tensor.layout is torch.strided


def require_traceable(model: nn.Module, inputs: Sequence[object]) -> None:
    """Refuse what a recording would leave out.

    Raises:
        CannotCompile: the model is wrapped or has hooks, or a tensor is of a class that does more than torch's own.
    """
    if isinstance(model, (DistributedDataParallel, DataParallel)):
        raise CannotCompile(
            f"{type(model).__name__} exchanges gradients between processes, which a recording would leave out: "
            "train it in eager, or compile model.module for prediction"
        )
    if hasattr(model, "_orig_mod"):
        raise CannotCompile("torch.compile has been here: give the model that was given to it")
    if isinstance(model, torch.jit.ScriptModule):
        raise CannotCompile("a scripted model has its own interpreter: give the model that was scripted")
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        if is_lazy(tensor):
            raise CannotCompile(f"{name!r} has no shape yet: call the model once before")
        if not is_plain(tensor):
            raise CannotCompile(f"{name!r} is a {_kind(tensor)}: it takes a dense torch.Tensor")
    found = hooked(model)
    if found is not None:
        raise CannotCompile(f"{found} has hooks, which would run when it is recorded, and not again: remove them")
    for leaf in pytree.tree_leaves(tuple(inputs)):
        if isinstance(leaf, Tensor) and not is_plain(leaf):
            raise CannotCompile(f"an input is a {_kind(leaf)}: it takes dense torch.Tensors")


def _kind(tensor: Tensor) -> str:
    return type(tensor).__name__ if tensor.layout is torch.strided else f"tensor of the layout {tensor.layout}"


@contextmanager
def attributes_kept(model: nn.Module) -> Iterator[None]:
    """Put back the attributes of modules that are changed within, and refuse the change of what was there before.

    An attribute that was None or missing may be filled: it is a cache, which the recording reads as a constant, or a
    value for somebody to look at, who will find None.

    Raises:
        CannotCompile: an attribute was changed, such as a counter: a recording would not change it again.
    """
    before = [(name, module, dict(vars(module)), _contents(module)) for name, module in model.named_modules()]
    changed: list[str] = []
    try:
        yield
    finally:
        for name, module, attributes, contents in before:
            changed += [f"{name}.{each}".lstrip(".") for each in _changed(module, attributes, contents)]
            _restore(module, attributes, contents)
    if changed:
        raise CannotCompile(
            f"the forward changes {', '.join(changed)}, which a recording would not change again: use buffers "
            "(register_buffer) for what a model remembers"
        )


def _contents(module: nn.Module) -> dict[str, Any]:
    """Copies of the lists, dicts and sets that a module has as attributes."""
    return {
        name: type(value)(value)
        for name, value in vars(module).items()
        if type(value) in (list, dict, set) and not name.startswith("_")
    }


def _changed(module: nn.Module, attributes: dict[str, Any], contents: dict[str, Any]) -> Iterator[str]:
    if type(module).__module__.startswith("torch.nn."):
        return  # a recurrent layer's list of weights follows the weights, which are others while it is recorded
    now = vars(module)
    for name, value in attributes.items():
        is_changed = value is not None and now.get(name) is not value
        if is_changed or (name in contents and not _is_same(contents[name], value)):
            yield name


def _is_same(before: Any, now: Any) -> bool:
    """Whether a list, dict or set has the same objects as before."""
    if len(before) != len(now):
        return False
    if isinstance(before, dict):
        return all(name in now and now[name] is value for name, value in before.items())
    if isinstance(before, set):
        return bool(before == now)
    return all(one is other for one, other in zip(before, now))


def _restore(module: nn.Module, attributes: dict[str, Any], contents: dict[str, Any]) -> None:
    now = vars(module)
    for name in [name for name in now if name not in attributes]:
        del now[name]
    now.update(attributes)
    for name, value in contents.items():
        own = attributes[name]
        own.clear()
        own.extend(value) if isinstance(own, list) else own.update(value)


__all__ = ["attributes_kept", "is_plain", "require_traceable"]
