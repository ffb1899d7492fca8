"""Activations that are computed again in the backward pass, instead of being kept for it: time for memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeAlias

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

Which: TypeAlias = str | type[nn.Module] | Iterable[str | type[nn.Module]] | Callable[[nn.Module], bool]


@contextmanager
def activations_recomputed(model: nn.Module, which: Which | None) -> Iterator[None]:
    """In the block, the activations in some submodules are dropped after forward and computed again for backward.

    Gradients are the same to the bit: torch's random generators and autocast are as they were the first time, and
    buffers (running statistics) change once. Names of parameters, states, classes (`isinstance`) and copies stay as
    they are.

    Args:
        which: names of submodules, classes of them, or a function that says which ones. A submodule of one that is
            recomputed is recomputed with it.

    Raises:
        TypeError: it is neither; or a submodule is one that cannot be recomputed.
        ValueError: a name or a class is none in the model, or the function takes none.

    >>> model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    >>> with activations_recomputed(model, nn.Linear):
    ...     model(torch.ones(1, 2)).sum().backward()
    >>> model[0].weight.grad is not None
    True
    """
    chosen = [] if which is None else _chosen(model, which)
    classes = [(module, type(module)) for module in chosen]
    try:
        for module, kind in classes:
            module.__class__ = _recomputing(kind)
        yield
    finally:
        for module, kind in classes:
            module.__class__ = kind


def _chosen(model: nn.Module, which: Which) -> list[nn.Module]:
    """The outermost submodules that are meant."""
    submodules = {name: one for name, one in model.named_modules() if name}
    if isinstance(which, str) or not (isinstance(which, Iterable) or callable(which)):
        wanted: list[Any] = [which]
    elif isinstance(which, type) or not isinstance(which, Iterable):
        wanted = [which]
    else:
        wanted = list(which)
    found: dict[str, nn.Module] = {}
    for one in wanted:
        if isinstance(one, str):
            these = {one: submodules[one]} if one in submodules else {}
        elif isinstance(one, type) and issubclass(one, nn.Module):
            these = {name: module for name, module in submodules.items() if isinstance(module, one)}
        elif callable(one) and not isinstance(one, (type, nn.Module)):
            these = {name: module for name, module in submodules.items() if one(module)}
        else:
            raise TypeError(
                f"checkpoint_activations: {one!r} is no name of a submodule, no class of one and no function of one"
            )
        if not these:
            what = one if isinstance(one, str) else getattr(one, "__name__", repr(one))
            some = ", ".join(list(submodules)[:10]) or "none"
            raise ValueError(
                f"checkpoint_activations: {what} is no submodule of {type(model).__name__}, which has {some}"
            )
        found.update(these)
    for name, module in found.items():
        if isinstance(module, torch.jit.ScriptModule) or "forward" in vars(module):
            raise TypeError(f"checkpoint_activations: the forward of {name} is not that of its class: name its parts")
    outermost = {
        name: module for name, module in found.items() if not any(name.startswith(f"{other}.") for other in found)
    }
    return list(dict.fromkeys(outermost.values()))


def _recomputing(kind: type[nn.Module]) -> type[nn.Module]:
    """A class of modules that are as those of `kind`, but for what they keep."""

    def forward(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        if not torch.is_grad_enabled():
            return kind.forward(self, *args, **kwargs)
        contexts = lambda: (nullcontext(), _buffers_kept(self))  # noqa: E731
        return checkpoint(kind.forward, self, *args, use_reentrant=False, context_fn=contexts, **kwargs)

    def reduce(self: nn.Module, protocol: Any) -> Any:
        """Copies and pickles are of the class that everybody knows."""
        made = kind.__reduce_ex__(self, protocol)
        if not isinstance(made, tuple):
            return made
        make, arguments, *state = made
        # A pickle calls this one by a short name, with the class of the object itself alone.
        make = object.__new__ if getattr(make, "__name__", "") == "__newobj__" else make
        return (make, tuple(kind if one is type(self) else one for one in arguments), *state)

    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    return type(kind.__name__, (kind,), {**names, "forward": forward, "__reduce_ex__": reduce})


def _buffers_kept(module: nn.Module) -> AbstractContextManager[None]:
    """In the block, the module's buffers are copies: a running mean that forward moves is not moved twice."""

    @contextmanager
    def kept() -> Iterator[None]:
        owners = [(one, name, buffer) for one in module.modules() for name, buffer in one._buffers.items()]
        owners = [(one, name, buffer) for one, name, buffer in owners if buffer is not None]
        for one, name, buffer in owners:
            one._buffers[name] = buffer.clone() if buffer is not None else None
        try:
            yield
        finally:
            for one, name, buffer in owners:
                one._buffers[name] = buffer

    return kept()
