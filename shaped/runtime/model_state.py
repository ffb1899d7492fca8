"""The state of a model, its parameters and buffers, compared with a saved one before any of it is replaced."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping
from typing import Any

from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from shaped.runtime.tensor_types import dtype_name

# How torch's own wrappers name what is in them.
_WRAPPERS = {"module": "DistributedDataParallel", "_orig_mod": "torch.compile"}


def model_problems(model: nn.Module, saved: object) -> list[str]:
    """Every difference between a model and saved weights and buffers: names, shapes, dtypes.

    >>> model_problems(nn.Linear(2, 3), nn.Linear(2, 4, bias=False).state_dict())
    ['weight is (4, 2) float32 in the file, (3, 2) float32 in the model', 'bias is missing: (3,) float32']
    """
    if not isinstance(saved, Mapping):
        return [f"the weights are a {type(saved).__name__}, not a dict"]
    own = model.state_dict(keep_vars=True)
    if problem := _prefix_problem(own, saved):
        return [problem]
    found = []
    for name, value in own.items():
        if name not in saved:
            found.append(f"{name} is missing: {kind_of(value)}")
        elif kind_of(saved[name]) != kind_of(value):
            found.append(f"{name} is {kind_of(saved[name])} in the file, {kind_of(value)} in the model")
    found += [f"{name} is in the file alone: {kind_of(saved[name])}" for name in saved if name not in own]
    return found or _tied_problems(own, saved)


def _prefix_problem(own: Mapping[str, object], saved: Mapping[Any, object]) -> str:
    """Whether the model is a part of what was saved, or the other way round, and what to do; empty if it is not."""
    if not all(isinstance(name, str) for name in saved) or any(name in saved for name in own):
        return ""
    if prefix := _prefix(own, saved):
        others = sorted(name for name in saved if not name.startswith(prefix))
        also = f", besides {', '.join(others[:3])}{' ...' if len(others) > 3 else ''}" if others else ""
        return (
            f"the names of the model are in the file behind {prefix!r}{_from_wrapper(prefix)}{also}: "
            f"shaped.runtime.weights.read_weights(path).part({prefix!r}).load(model) loads that part"
        )
    if prefix := _prefix(saved, own):
        return (
            f"the names of the file are in the model behind {prefix!r}{_from_wrapper(prefix)}: load into that part, "
            f"model.{prefix.removesuffix('.')}"
        )
    return ""


def _prefix(inner: Mapping[str, object], outer: Mapping[str, object]) -> str:
    """What stands in `outer` before every name of `inner`, but for further names of tied tensors; empty for nothing."""
    if not inner:
        return ""
    tied = tied_names(inner)
    wanted = [name for name in inner if name not in tied]
    found = [name.removesuffix(wanted[0]) for name in outer if name.endswith(f".{wanted[0]}")]
    return next((prefix for prefix in found if all(f"{prefix}{name}" in outer for name in wanted)), "")


def _from_wrapper(prefix: str) -> str:
    """By which of torch's wrappers a prefix was made."""
    parts = prefix.removesuffix(".").split(".")
    if any(part not in _WRAPPERS for part in parts):
        return ""
    return f" (of {' and '.join(_WRAPPERS[part] for part in parts)})"


def tied_names(state: Mapping[str, object]) -> dict[str, str]:
    """Each name of a tensor that has another name before it, with that name. They are one parameter or buffer, or are
    made of the very same memory.

    >>> import torch
    >>> weight = nn.Parameter(torch.zeros(2))
    >>> tied_names({"embedding": weight, "head": weight, "bias": torch.zeros(2)})
    {'head': 'embedding'}
    """
    first: dict[Hashable, str] = {}
    found = {}
    for name, value in state.items():
        if isinstance(value, Tensor) and (other := first.setdefault(_memory(value), name)) != name:
            found[name] = other
    return found


def _memory(tensor: Tensor) -> Hashable:
    """What is equal for tensors that are the same elements in the same places."""
    try:
        address = tensor.data_ptr()
    except (RuntimeError, NotImplementedError):  # it has no memory of its own: sparse, lazy, fake
        address = 0
    if not address:
        return id(tensor)
    return address, tensor.device, tensor.dtype, tensor.shape, tensor.stride()


def _tied_problems(own: Mapping[str, object], saved: Mapping[str, Any]) -> list[str]:
    """Names of one parameter whose saved values differ: one of them would be lost without a word."""
    return [
        f"{other} and {name} are one parameter of the model, but differ in the file"
        for name, other in tied_names(own).items()
        if not same_bits(saved[name], saved[other])
    ]


def load_model_state(model: nn.Module, saved: Mapping[str, Any]) -> None:
    """Copy a state that `model_problems` has nothing against into a model, all or nothing.

    What a module does with an extra state of its own is its own affair, and may fail: the model is then as it was.
    """
    own = model.state_dict()
    has_extra_state = not all(isinstance(value, Tensor) for value in own.values())
    before = copy.deepcopy(own) if has_extra_state else own
    try:
        model.load_state_dict(saved)
    except Exception:
        if has_extra_state:
            model.load_state_dict(before)
        raise


def same_bits(one: Tensor, other: Tensor) -> bool:
    """Whether tensors are equal, NaN being equal to itself."""
    return bool(((one == other) | ((one != one) & (other != other))).all())


def kind_of(value: object) -> str:
    """The shape and dtype of a tensor. The extra state of a module may be anything else."""
    if isinstance(value, Tensor) and is_lazy(value):
        return "not initialised (call the model once on a batch first)"
    if isinstance(value, Tensor):
        return f"{tuple(value.shape)} {dtype_name(value.dtype)}"
    return "no tensor"
