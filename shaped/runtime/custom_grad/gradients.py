"""What a backward returned, as one gradient for each value: as many as there are inputs, each like its input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from shaped.runtime.custom_grad.faults import (
    CustomGradError,
    GradientDeviceError,
    GradientDtypeError,
    GradientShapeError,
)
from shaped.runtime.custom_grad.layout import Layout
from shaped.runtime.custom_grad.signature import Signature
from shaped.runtime.tensor_types import dtype_name


def accepted(
    signature: Signature, layout: Layout, returned: Any, flat: Sequence[Any], *, is_autocast: bool
) -> list[Tensor | None]:
    """The gradients that a backward returned, one for each value of the row.

    Args:
        signature: what the op takes.
        layout: how the inputs lie in the row.
        returned: a gradient for each input, or for each that may be a tensor; for one such input, also alone.
        flat: the inputs; a gradient for what is None there is only taken to be a tensor.
        is_autocast: the forward was autocast, so a gradient may have fewer digits than its input, and is converted.

    Raises:
        CustomGradError: there are more or fewer, or one is unlike its input.
    """
    found = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    differentiable = signature.differentiable
    count = len(layout.lengths)
    while len(found) > count and found[-1] is None:
        found.pop()
    if len(found) != count:
        if len(found) != len(differentiable):
            raise _wrong_number(signature, len(found))
        by_place = dict(zip(differentiable, found))
        found = [by_place.get(place) for place in range(count)]
    if layout.has_lists:
        found = _items(signature, layout, found)
    for place, gradient in enumerate(found):
        if place not in layout.tensors:
            found[place] = None  # numbers have no gradient
        elif gradient is not None:
            found[place] = _like_its_input(signature.name, layout.names[place], flat[place], gradient, is_autocast)
    return found


def _items(signature: Signature, layout: Layout, found: list[Any]) -> list[Any]:
    """The gradients of lists of tensors as their items."""
    items: list[Any] = []
    for name, gradient, length in zip(signature.names, found, layout.lengths):
        if length is None:
            items.append(gradient)
        elif gradient is None:
            items += [None] * length
        elif isinstance(gradient, (list, tuple)) and len(gradient) == length:
            items += gradient
        else:
            given = f"{len(gradient)} gradients" if isinstance(gradient, (list, tuple)) else type(gradient).__name__
            raise CustomGradError(
                signature.name,
                f"the backward returns {given} for {name}, a list of {length}: return a list, one for each",
                input=name,
            )
    return items


def _wrong_number(signature: Signature, count: int) -> CustomGradError:
    names = signature.names
    missing = f", none for {', '.join(names[count:])}" if count < len(names) else ""
    return CustomGradError(
        signature.name,
        f"the backward returns {_counted(count, 'gradient')} for {_counted(len(names), 'input')}{missing}: "
        f"return one for each of {', '.join(names)}, None for those without a gradient",
        input=names[count] if count < len(names) else "",
    )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _like_its_input(owner: str, name: str, value: Tensor | None, gradient: Any, is_autocast: bool) -> Tensor:
    if not isinstance(gradient, Tensor):
        raise CustomGradError(owner, f"the gradient of {name} is a {type(gradient).__name__}, not a tensor", input=name)
    if value is None:
        return gradient
    if gradient.shape != value.shape:
        raise GradientShapeError(
            owner,
            f"the gradient of {name} has shape {tuple(gradient.shape)}, {name} has {tuple(value.shape)}",
            hint=_fix_of_shape(gradient, value),
            input=name,
        )
    if gradient.device != value.device:
        raise GradientDeviceError(
            owner, f"the gradient of {name} is on {gradient.device}, {name} is on {value.device}", input=name
        )
    if gradient.dtype != value.dtype and (value.is_floating_point() or value.is_complex()):
        if is_autocast and gradient.is_floating_point() and value.is_floating_point():
            return gradient.to(value.dtype)
        if not _holds(gradient.dtype, value.dtype):
            raise GradientDtypeError(
                owner,
                f"the gradient of {name} is {dtype_name(gradient.dtype)}, {name} is {dtype_name(value.dtype)}",
                hint=f"compute it in {dtype_name(value.dtype)}",
                input=name,
            )
    return gradient


def _fix_of_shape(gradient: Tensor, value: Tensor) -> str:
    """How to sum a gradient over the axes along which its input was stretched, if that is it."""
    extra = gradient.ndim - value.ndim
    if extra < 0:
        return ""
    stretched = [i for i in range(gradient.ndim) if i < extra or value.shape[i - extra] != gradient.shape[i]]
    if all(i < extra or value.shape[i - extra] == 1 for i in stretched):
        return "sum it over the axes that the forward broadcasts: grad.sum_to_size(input.shape)"
    return ""


def _holds(gradient: torch.dtype, value: torch.dtype) -> bool:
    """Whether a gradient can be converted to its input's dtype, as autograd does, without digits that were missing."""
    if not (gradient.is_floating_point or gradient.is_complex) or (gradient.is_complex and not value.is_complex):
        return False
    return torch.finfo(gradient).eps <= torch.finfo(value).eps
