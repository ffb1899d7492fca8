"""Arguments of another kind than is wanted, refused by name before anything is done with them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping

from torch import Tensor, nn


def require_whole(name: str, value: object) -> int:
    """A whole number of any kind, such as numpy's, as an int.

    Raises:
        TypeError: it is none; True and False are none either.

    >>> require_whole("batch_size", 4.0)
    Traceback (most recent call last):
    TypeError: batch_size is 4.0: a whole number is needed
    """
    if not isinstance(value, bool):
        try:
            return operator.index(value)  # type: ignore[arg-type]  # which says itself what is no whole number
        except TypeError:
            pass
    raise TypeError(f"{name} is {value!r}: a whole number is needed")


def require_tensor(name: str, value: object) -> Tensor:
    """A tensor; what could be made one is not, since its dtype would be a guess.

    Raises:
        TypeError: it is something else; says how to make one of it.

    >>> require_tensor("lengths", [3, 1])
    Traceback (most recent call last):
    TypeError: lengths is a list: a tensor is needed: torch.tensor(...)
    """
    if isinstance(value, Tensor):
        return value
    is_array = type(value).__module__ == "numpy" and type(value).__name__ == "ndarray"
    is_made = isinstance(value, (list, tuple, bool, int, float))
    how = ": torch.from_numpy(...)" if is_array else ": torch.tensor(...)" if is_made else ""
    raise TypeError(f"{name} is a {type(value).__name__}: a tensor is needed{how}")


def require_module(name: str, value: object) -> nn.Module:
    """A module.

    Raises:
        TypeError: it is something else, such as the class, or what `state_dict()` gives.

    >>> require_module("model", nn.Linear)
    Traceback (most recent call last):
    TypeError: model is the class Linear: a torch.nn.Module is needed, such as Linear(...)
    """
    if isinstance(value, nn.Module):
        return value
    if isinstance(value, type):
        raise TypeError(
            f"{name} is the class {value.__name__}: a torch.nn.Module is needed, such as {value.__name__}(...)"
        )
    raise TypeError(f"{name} is a {type(value).__name__}: a torch.nn.Module is needed")


def named_tensors(name: str, given: nn.Module | Tensor | Mapping[str, Tensor] | Iterable[object]) -> dict[str, Tensor]:
    """The parameters of a module, or loose tensors, by what they are called in messages.

    Args:
        given: a module; a tensor; tensors by name, in a mapping or in pairs as of `named_parameters()`; or in order.

    Raises:
        TypeError: it is something else, or holds it.

    >>> list(named_tensors("parameters", nn.Linear(2, 3)))
    ['weight', 'bias']
    >>> list(named_tensors("parameters", nn.Linear(2, 3).parameters()))
    ['parameter 0', 'parameter 1']
    """
    if isinstance(given, nn.Module):
        return dict(given.named_parameters())
    if isinstance(given, Tensor):
        return {"parameter 0": given}
    if isinstance(given, Mapping):
        pairs: list[tuple[object, object]] = list(given.items())
    elif isinstance(given, Iterable):
        pairs = [
            one if isinstance(one, tuple) and len(one) == 2 else (f"parameter {number}", one)
            for number, one in enumerate(given)
        ]
    else:
        raise TypeError(f"{name} is a {type(given).__name__}: a module is needed, or its parameters")
    return {str(key): require_tensor(f"{name}: {key}", one) for key, one in pairs}
