"""Whether an optimiser still optimises a model: that its parameters are those of the model, where they now are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from torch import Tensor, nn
from torch.optim import Optimizer

from shaped.runtime.arguments import named_tensors


def require_optimized(
    optimizer: Optimizer, model: nn.Module | Tensor | Mapping[str, Tensor] | Iterable[object]
) -> None:
    """Refuse an optimiser that was built before the parameters became others, and would change nothing of the model.

    `.to(device)` and `.to(dtype)` of a module mostly keep its parameters, but from or to the device meta, under
    `torch.__future__.set_overwrite_module_params_on_conversion`, and for loose tensors (`w = w.to(device)`) they make
    new ones; `load_state_dict(assign=True)` always does. torch steps on with the old ones, without a word. Moments that
    stayed behind on another device or in another dtype are refused too.

    Args:
        model: the module, or the loose tensors, by name or in order.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: says which parameter is not the model's, or which moment does not fit it, and what to do.

    >>> model = nn.Linear(2, 3)
    >>> from torch.optim import SGD
    >>> optimizer = SGD(model.parameters())
    >>> require_optimized(optimizer, model)
    >>> require_optimized(optimizer, model.to("meta"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: parameter 0 of the optimizer's group 0, (3, 2) (the shape of weight), is no parameter of the model: ...
    """
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"optimizer is a {type(optimizer).__name__}: a torch.optim.Optimizer is needed, then the model")
    own = named_tensors("model", model)
    names = {id(parameter): name for name, parameter in own.items()}
    for number, group in enumerate(optimizer.param_groups):
        for position, parameter in enumerate(group["params"]):
            if id(parameter) not in names:
                raise ValueError(_foreign(f"parameter {position} of the optimizer's group {number}", parameter, own))
            if problem := _left_behind(optimizer, parameter):
                raise ValueError(f"{names[id(parameter)]} was moved after the optimizer had stepped: {problem}")


def _foreign(what: str, parameter: Tensor, own: Mapping[str, Tensor]) -> str:
    alike = [name for name, one in own.items() if one.shape == parameter.shape]
    seems = f" (the shape of {alike[0]})" if alike else ""
    return (
        f"{what}, {tuple(parameter.shape)}{seems}, is no parameter of the model: the optimizer was made for another "
        "model, or before the model's parameters were replaced (.to(...), load_state_dict(assign=True)): make it after "
        "that, or give a function that makes it"
    )


def _left_behind(optimizer: Optimizer, parameter: Tensor) -> str:
    """A moment of one of torch's own optimisers that is not where its parameter is; others keep theirs as they like."""
    if not type(optimizer).__module__.startswith("torch.optim"):
        return ""
    for name, moment in optimizer.state.get(parameter, {}).items():
        # Single numbers, such as the count of steps, may stay on the CPU in float32.
        if not isinstance(moment, Tensor) or moment.dim() == 0 or not moment.is_floating_point():
            continue
        if moment.device != parameter.device:
            return f"its {name} is on {moment.device}, it on {parameter.device}: make the optimizer after .to(...)"
        if moment.dtype != parameter.dtype:
            return f"its {name} is {moment.dtype}, it {parameter.dtype}: make the optimizer after .to(...)"
    return ""
