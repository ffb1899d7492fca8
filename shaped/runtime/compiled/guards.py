"""Whether what a program was made for is still so: shapes of inputs, tensors of the module, its modes, the optimiser.

A test is one function of comparisons, for a step of a small model takes microseconds. What it costs is in proportion to
the number of tensors and modules, never to their sizes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.utils.hooks import RemovableHandle

# What torch runs around a module's forward and backward.
HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
_LINES_OF_ONE_EXPRESSION = 50  # Python's parser has a limit


class Conditions:
    """Comparisons that are joined to one function.

    >>> conditions = Conditions()
    >>> given = [1]
    >>> conditions.add(f"len({conditions.name(given)}) == 1")
    >>> is_same = conditions.test()
    >>> is_same(), given.append(2), is_same()
    (True, None, False)
    """

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._conditions: list[str] = []

    def name(self, value: object) -> str:
        """What the function calls a value."""
        name = f"v{len(self._values)}"
        self._values[name] = value
        return name

    def add(self, *conditions: str) -> None:
        """More comparisons, in Python."""
        self._conditions += conditions

    def test(self, parameters: Sequence[str] = ()) -> Callable[..., bool]:
        """The function: whether all of them hold."""
        return self.function(parameters, "True", otherwise=False)

    def function(self, parameters: Sequence[str], result: str, *, otherwise: object) -> Callable[..., Any]:
        """A function that gives a result, in Python, if all of them hold, and otherwise something else."""
        size = _LINES_OF_ONE_EXPRESSION
        parts = [" and ".join(self._conditions[at : at + size]) for at in range(0, len(self._conditions), size)]
        other = self.name(otherwise)
        lines = [f"def function({', '.join(parameters)}):", "    try:"]
        lines += [f"        if not ({part}): return {other}" for part in parts or ["True"]]
        # What is asked for by its name may be gone.
        lines += ["    except KeyError:", f"        return {other}", f"    return {result}"]
        exec("\n".join(lines), self._values)
        function: Callable[..., Any] = self._values.pop("function")
        return function


def same_inputs(examples: Sequence[Tensor]) -> Callable[..., bool]:
    """A test of whether tensors are of the kinds of these, and as many different ones.

    >>> is_same = same_inputs([torch.zeros(2, 3)])
    >>> is_same(torch.ones(2, 3)), is_same(torch.ones(3, 2)), is_same(torch.ones(2, 3).double())
    (True, False, False)
    >>> is_same(torch.ones(3, 2).t())  # its numbers lie in another order
    False
    """
    conditions = Conditions()
    return conditions.test(require_inputs(conditions, examples))


def require_inputs(conditions: Conditions, examples: Sequence[Tensor]) -> list[str]:
    """Add the comparisons of `same_inputs`; gives the names of the parameters."""
    names = [f"x{number}" for number in range(len(examples))]
    for given, one in zip(names, examples):
        conditions.add(f"type({given}) is {conditions.name(type(one))}")
        conditions.add(f"{given}.shape == {conditions.name(one.shape)}")
        conditions.add(f"{given}.dtype is {conditions.name(one.dtype)}")
        conditions.add(f"{given}.is_cpu" if one.is_cpu else f"{given}.device == {conditions.name(one.device)}")
        conditions.add(f"{given}.layout is {conditions.name(one.layout)}")
        if one.layout is torch.strided and one.is_contiguous():
            conditions.add(f"{given}.is_contiguous()")
        elif one.layout is torch.strided:
            conditions.add(f"{given}.stride() == {conditions.name(one.stride())}")
    for (first, one), (second, other) in combinations(zip(names, examples), 2):
        conditions.add(f"{first} {'is' if one is other else 'is not'} {second}")
    return names


def same_module(model: nn.Module) -> Callable[[], bool]:
    """A test of whether a model has the parts that it has now: modules, parameters and buffers, at the same places.

    Their contents may change. What decides which operations run is tested too: modes, hooks, whether parameters are
    trained, autocast and the default dtype.
    """
    conditions = Conditions()
    require_module(conditions, model)
    return conditions.test()


def require_module(conditions: Conditions, model: nn.Module) -> None:
    """Add the comparisons of `same_module`."""
    for kind in ("cpu", "cuda"):
        is_on = torch.is_autocast_enabled(kind)
        conditions.add(f"{conditions.name(torch.is_autocast_enabled)}({kind!r}) is {is_on}")
        if is_on:
            dtype = conditions.name(torch.get_autocast_dtype(kind))
            conditions.add(f"{conditions.name(torch.get_autocast_dtype)}({kind!r}) is {dtype}")
    dtype = conditions.name(torch.get_default_dtype())
    conditions.add(f"{conditions.name(torch.get_default_dtype)}() is {dtype}")
    hooks = [getattr(module, kind) for module in model.modules() for kind in HOOKS]
    _require_no_hooks(conditions, [one for one in hooks if not one])
    for module in model.modules():
        conditions.add(f"{conditions.name(module.__dict__)}['training'] is {module.training}")
        for kind in ("_modules", "_parameters", "_buffers"):
            parts = conditions.name(getattr(module, kind)) if getattr(module, kind) else ""
            for key, part in getattr(module, kind).items():
                own = conditions.name(part)
                conditions.add(f"{parts}[{key!r}] is {own}")
                if isinstance(part, Tensor):
                    conditions.add(f"{own}.data_ptr() == {part.data_ptr()}")
                    conditions.add(f"{own}.requires_grad is {part.requires_grad}")


def _require_no_hooks(conditions: Conditions, hooks: Sequence[Mapping[int, object]]) -> None:
    """Add that mappings of hooks are empty. They are looked at only if torch has made a hook, anywhere, since."""
    seen = [RemovableHandle.next_id]

    def are_empty() -> bool:
        if any(hooks):
            return False
        seen[0] = RemovableHandle.next_id
        return True

    handle, count = conditions.name(RemovableHandle), conditions.name(seen)
    conditions.add(f"({handle}.next_id == {count}[0] or {conditions.name(are_empty)}())")


def same_optimizer(optimizer: Optimizer, moments: Mapping[nn.Parameter, Mapping[str, Tensor]]) -> Callable[[], bool]:
    """A test of whether an optimiser has the groups, the parameters and the moments that it has now, and no hooks.

    Args:
        moments: what the state of each parameter has; none before the first step.
    """
    conditions = Conditions()
    require_optimizer(conditions, optimizer, moments)
    return conditions.test()


def require_optimizer(
    conditions: Conditions, optimizer: Optimizer, moments: Mapping[nn.Parameter, Mapping[str, Tensor]]
) -> None:
    """Add the comparisons of `same_optimizer`."""
    own = conditions.name(optimizer)
    state = conditions.name(optimizer.state)
    conditions.add(f"{own}.state is {state}", f"len({state}) == {len(optimizer.state)}")
    groups = conditions.name(optimizer.param_groups)
    conditions.add(f"{own}.param_groups is {groups}", f"len({groups}) == {len(optimizer.param_groups)}")
    for number, group in enumerate(optimizer.param_groups):
        params = conditions.name(group["params"])
        conditions.add(f"{groups}[{number}]['params'] is {params}", f"len({params}) == {len(group['params'])}")
    _require_no_hooks(conditions, [optimizer._optimizer_step_pre_hooks, optimizer._optimizer_step_post_hooks])
    if moments:
        # Tensors have their hashes from Python, slowly: the states are gone through in their order.
        states = conditions.name(list(optimizer.state.values()))
        conditions.add(f"all(map({conditions.name(operator.is_)}, {state}.values(), {states}))")
    for parameter, parts in moments.items():
        one = conditions.name(optimizer.state[parameter])
        for name, part in parts.items():
            conditions.add(f"{one}[{name!r}] is {conditions.name(part)}")


def hooked(model: nn.Module) -> str | None:
    """The name of what has hooks; None if nothing has."""
    for name, module in model.named_modules():
        if any(getattr(module, kind) for kind in HOOKS):
            return f"the module {(name or type(module).__name__)!r}"
    for name, parameter in model.named_parameters():
        if parameter._backward_hooks or getattr(parameter, "_post_accumulate_grad_hooks", None):
            return f"the parameter {name!r}"
    return None


__all__ = [
    "HOOKS",
    "Conditions",
    "hooked",
    "require_inputs",
    "require_module",
    "require_optimizer",
    "same_inputs",
    "same_module",
    "same_optimizer",
]
