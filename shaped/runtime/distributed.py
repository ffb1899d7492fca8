"""States whose tensors are spread over several processes (`DTensor`), made whole and spread again.

A checkpoint holds whole tensors only, so that it is the same file whatever number of processes wrote it.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar, cast

from torch import Tensor, nn
from torch.optim import Optimizer

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor

State = TypeVar("State")


def is_spread(value: object) -> TypeGuard[DTensor]:
    """Whether a value is a tensor of which each process has a part.

    >>> from torch import zeros
    >>> is_spread(zeros(2))
    False
    """
    # Its module takes half a second to import; where nobody has done so there is no such tensor.
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(value, module.DTensor)


def whole(state: State) -> State:
    """A state (dicts and lists of tensors and plain data) with every tensor whole, those that were spread on the CPU.

    Every process has to call it: they send each other their parts.

    >>> from torch import ones
    >>> whole({"weight": ones(2), "step": [3]})
    {'weight': tensor([1., 1.]), 'step': [3]}
    """
    return cast(State, _whole(state))


def _whole(value: Any) -> Any:
    if is_spread(value):
        return value.full_tensor().detach().cpu()
    if isinstance(value, MutableMapping):
        new = copy.copy(value)  # keeps what a `state_dict` has beside its items
        new.update({name: _whole(one) for name, one in value.items()})
        return new
    if isinstance(value, (list, tuple)):
        return type(value)(_whole(one) for one in value)
    return value


def spread_like(value: Any, pattern: object) -> Any:
    """This process's part of a whole tensor, where `pattern` is spread and of its shape; else the value as it is.

    Every process has to have the same value: nothing is sent.
    """
    if not is_spread(pattern) or not isinstance(value, Tensor) or value.shape != pattern.shape:
        return value
    from torch.distributed.tensor import distribute_tensor

    local = value.to(pattern.device_mesh.device_type)
    return distribute_tensor(local, pattern.device_mesh, pattern.placements, src_data_rank=None)


def spread_model_state(state: Mapping[str, Any], model: nn.Module) -> dict[str, Any]:
    """A whole state of a model with its tensors spread as the model's own are."""
    own = model.state_dict()
    return {name: spread_like(value, own.get(name)) for name, value in state.items()}


def spread_optimizer_state(state: Mapping[str, Any], optimizer: Optimizer) -> dict[str, Any]:
    """A whole state of an optimiser, as its `state_dict` gives it, with its moments spread as the parameters are."""
    parameters = {
        number: parameter
        for saved, group in zip(state["param_groups"], optimizer.param_groups)
        for number, parameter in zip(saved["params"], group["params"])
    }
    moments = {
        number: {name: spread_like(value, parameters.get(number)) for name, value in of_parameter.items()}
        for number, of_parameter in state["state"].items()
    }
    return {**state, "state": moments}
