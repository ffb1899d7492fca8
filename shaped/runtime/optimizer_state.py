"""The state of an optimiser, looked at before it is loaded.

`torch.optim.Optimizer.load_state_dict` takes a negative learning rate, NaN moments and half a step and goes on with
them; a moment that is missing or of the wrong shape fails only at the next step. Here a state is refused as a whole,
with everything that is wrong with it, and the optimiser stays as it was.
"""

from __future__ import annotations

import copy
import inspect
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.optim import SGD, Optimizer

# How a step is computed, not what: the probe computes it in the plainest way, on tensors without data.
_IMPLEMENTATION = ("foreach", "fused", "capturable", "differentiable")
# Added by schedulers and by `named_parameters`: an optimiser steps without them.
_OPTIONAL = ("initial_lr", "param_names")
# Means or sums of squares, of which torch's own optimisers take the root.
_OF_SQUARES = frozenset(
    ["exp_avg_sq", "max_exp_avg_sq", "square_avg", "acc_delta", "sum", "variance", "row_var", "col_var", "exp_inf"]
)


class OptimizerStateError(ValueError):
    """A state that does not belong to the optimiser, or that no optimiser can go on from.

    Args:
        optimizer: the class of the optimiser.
        problems: all that is wrong with the state.
    """

    def __init__(self, optimizer: str, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(
            f"the state does not fit {optimizer}, which is unchanged:" + "".join(f"\n  {p}" for p in problems)
        )


def load_optimizer_state(
    optimizer: Optimizer, state: Mapping[str, Any], names: Mapping[Tensor, str] | None = None
) -> None:
    """Load a state that `optimizer.state_dict()` gave, or leave the optimiser as it is.

    Args:
        names: what the parameters are called in messages.

    Raises:
        OptimizerStateError: with all that is wrong.

    >>> weight = torch.nn.Parameter(torch.zeros(2))
    >>> optimizer = torch.optim.Adam([weight])
    >>> state = optimizer.state_dict()
    >>> state["param_groups"][0]["lr"] = -1.0
    >>> load_optimizer_state(optimizer, state)
    Traceback (most recent call last):
    shaped.runtime.optimizer_state.OptimizerStateError: the state does not fit Adam, which is unchanged:
      group 0: Invalid learning rate: -1.0
    """
    if problems := optimizer_state_problems(optimizer, state, names):
        raise OptimizerStateError(type(optimizer).__name__, problems)
    # torch keeps the tensors of the state itself, which the next step would then change.
    optimizer.load_state_dict(copy.deepcopy(dict(state)))


def optimizer_state_problems(
    optimizer: Optimizer, state: object, names: Mapping[Tensor, str] | None = None
) -> list[str]:
    """All that is wrong with a state for an optimiser; empty if it can be loaded. Nothing is changed."""
    if not isinstance(state, Mapping) or not {"state", "param_groups"} <= set(state):
        return ["it has no `state` and `param_groups`: it was not made by an optimiser's state_dict()"]
    groups, moments = state["param_groups"], state["state"]
    if problems := _structure(optimizer, groups, moments):
        return problems
    for number, (group, saved) in enumerate(zip(optimizer.param_groups, groups)):
        wrong = _hyperparameters(group, saved)
        example: Optimizer | None = None
        if not wrong:
            example, wrong = _stepped(optimizer, group, saved)
        problems += [f"group {number}: {problem}" for problem in wrong]
        for position, (parameter, identity) in enumerate(zip(group["params"], saved["params"])):
            name = (names or {}).get(parameter, f"parameter {position} of group {number}")
            expected = None if example is None else example.state[example.param_groups[0]["params"][position]]
            of_parameter = moments.get(identity, {})
            problems += [f"{name}: {p}" for p in _moments(optimizer, parameter, of_parameter, expected)]
    return problems


def _structure(optimizer: Optimizer, groups: Any, moments: Any) -> list[str]:
    """What is wrong with the groups and the numbers that stand for parameters."""
    if not isinstance(moments, Mapping) or not isinstance(groups, Sequence):
        return ["`state` is no dict or `param_groups` is no list"]
    if not all(isinstance(group, Mapping) and isinstance(group.get("params"), Sequence) for group in groups):
        return ["a group of `param_groups` has no list `params`"]
    sizes = [len(group["params"]) for group in groups]
    own = [len(group["params"]) for group in optimizer.param_groups]
    if sizes != own:
        return [f"its groups have {_counts(sizes)} parameters, those of the optimiser {_counts(own)}"]
    identities = [identity for group in groups for identity in group["params"]]
    if not all(isinstance(identity, int) for identity in identities):
        return ["a parameter in `params` is not a number"]
    problems = [f"parameter {one} is there {count} times" for one, count in Counter(identities).items() if count > 1]
    # What is under other keys is no parameter's: torch keeps it as it is.
    unknown = [key for key in moments if isinstance(key, int) and key not in identities]
    problems += [f"there is a state for parameter {one}, which is in no group" for one in unknown]
    problems += [
        f"the state of parameter {key} is no dict"
        for key, value in moments.items()
        if key in identities and not isinstance(value, Mapping)
    ]
    return problems


def _counts(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes)) or "no"


def _hyperparameters(group: Mapping[str, Any], saved: Mapping[str, Any]) -> list[str]:
    """What is wrong with the settings of a group, whatever the optimiser."""
    problems = [f"{name} is missing" for name in group if name not in saved and name not in _OPTIONAL]
    for name, own in group.items():
        value = saved.get(name)
        if name in ("params", *_OPTIONAL) or name not in saved:
            continue
        if not _alike(own, value):
            problems.append(f"{name} is {value!r}, where the optimiser has {own!r}")
        elif any(math.isnan(number) for number in _numbers(value)):
            problems.append(f"{name} is NaN")
        elif name == "lr" and not all(math.isfinite(number) for number in _numbers(value)):
            problems.append(f"lr is {value}")
    return problems


def _alike(own: object, value: object) -> bool:
    """Whether a setting is of the kind that it was: a number, a switch that may be None, a text, a tuple of such."""
    if isinstance(own, bool) or isinstance(value, bool) or own is None or value is None:
        # A limit that is None (off) may be a number in another run; a switch stays a switch.
        return not (isinstance(own, bool) and value is not None and not isinstance(value, bool))
    if isinstance(own, (int, float, Tensor)):
        return isinstance(value, (int, float)) or (isinstance(value, Tensor) and value.numel() == 1)
    if isinstance(own, (tuple, list)):
        return isinstance(value, (tuple, list)) and len(own) == len(value) and all(map(_alike, own, value))
    return isinstance(value, type(own))


def _numbers(value: object) -> list[float]:
    """The numbers in a setting."""
    if isinstance(value, (tuple, list)):
        return [number for one in value for number in _numbers(one)]
    if isinstance(value, (int, float)) or (isinstance(value, Tensor) and value.numel() == 1):
        return [float(value)]
    return []


def _stepped(
    optimizer: Optimizer, group: Mapping[str, Any], saved: Mapping[str, Any]
) -> tuple[Optimizer | None, list[str]]:
    """An optimiser of the same class and saved settings after one step: it has the moments that a state must have.

    The class itself judges the settings, in its constructor. None for a class that can be made only in another way, or
    that steps in another way (`LBFGS` takes a closure).
    """
    parameters: list[Tensor] = group["params"]
    try:
        if _made(optimizer, group, parameters) is None:
            return None, []
    except Exception:  # the constructor takes something else, or other settings than those it has now
        return None, []
    try:
        example = _made(optimizer, saved, parameters)
    except ValueError as error:
        return None, [str(error)]
    # Tensors without data first; some optimisers read numbers from them. One takes sparse gradients only.
    for device, is_sparse in (("meta", False), ("cpu", False), ("cpu", True)):
        example = _made(optimizer, saved, parameters, device)
        if example is None:
            break
        try:
            for parameter in example.param_groups[0]["params"]:
                parameter.grad = torch.zeros_like(parameter)
                if is_sparse:
                    parameter.grad = parameter.grad.to_sparse()
            example.step()
        except Exception:  # this optimiser does not step like that: try the next way
            continue
        return example, []
    return None, []


def _made(
    optimizer: Optimizer, group: Mapping[str, Any], parameters: Sequence[Tensor], device: str = "meta"
) -> Optimizer | None:
    """An optimiser of the same class with the settings of a group over parameters of the same shapes."""
    accepted = inspect.signature(type(optimizer).__init__).parameters
    settings = {
        name: value
        for name, value in group.items()
        if name in accepted and name not in ("params", *_IMPLEMENTATION, *_OPTIONAL)
    }
    like = [torch.nn.Parameter(torch.zeros_like(one, device=device, requires_grad=False)) for one in parameters]
    if not like:
        return None
    try:
        return type(optimizer)(like, **settings)
    except TypeError:
        return None


def _moments(
    optimizer: Optimizer, parameter: Tensor, saved: Mapping[str, Any], expected: Mapping[str, Any] | None
) -> list[str]:
    """What is wrong with the state of one parameter. A parameter that never had a gradient has none."""
    problems = []
    if "step" in saved and not _is_count(saved["step"]):
        problems.append(f"step is {_told(saved['step'])}, which is no number of steps")
    for name, value in saved.items():
        if name != "step" and isinstance(value, Tensor) and value.is_floating_point() and bool(value.isnan().any()):
            problems.append(f"{name} has NaN")
        elif name in _OF_SQUARES and _is_of_torch(optimizer) and isinstance(value, Tensor) and bool((value < 0).any()):
            problems.append(f"{name} has a negative number, where it is a mean or sum of squares")
    if not saved or expected is None:
        return problems
    for name, wanted in expected.items():
        if name not in saved:
            problems.append(f"{name} is missing")
        elif name == "step" or not isinstance(wanted, Tensor):
            continue
        elif saved[name] is None and isinstance(optimizer, SGD):
            continue  # torch's own SGD wrote None for a momentum without history
        elif not isinstance(value := saved[name], Tensor):
            problems.append(f"{name} is {_told(value)}, not a tensor")
        elif value.shape != wanted.shape:
            problems.append(f"{name} is {tuple(value.shape)}, not {tuple(wanted.shape)}")
        # torch rounds it to the parameter's dtype without a word.
        elif value.dtype != wanted.dtype and wanted.dim() > 0:
            problems.append(f"{name} is {value.dtype}, not {wanted.dtype}: the parameter is {parameter.dtype}")
    return problems


def _is_of_torch(optimizer: Optimizer) -> bool:
    """Whether an optimiser is torch's own; what the state of another means is its own affair."""
    return type(optimizer).__module__.startswith("torch.optim")


def _is_count(value: object) -> bool:
    """Whether a value is a whole number, 0 or more, as a number or as a tensor."""
    if isinstance(value, Tensor):
        if value.numel() != 1 or value.is_complex() or value.dtype == torch.bool:
            return False
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return math.isfinite(value) and value >= 0 and value == int(value)


def _told(value: object) -> str:
    if isinstance(value, Tensor):
        return str(value.item()) if value.numel() == 1 else f"a tensor of shape {tuple(value.shape)}"
    return repr(value)
