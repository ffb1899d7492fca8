"""A backward that returns None where the gradient is not zero: looked for once for each input, at the first such call.

Autograd takes None for zero, so a gradient that was forgotten shows only as a parameter that never learns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from shaped.runtime.checked.switch import is_checking
from shaped.runtime.custom_grad.faults import CustomGradError
from shaped.runtime.custom_grad.layout import Layout

# Rounding makes a gradient that is zero some 1e-8 of the upstream gradient in float32, and differs in float64.
_OF_THE_UPSTREAM = 1e-5
_AGREEMENT = 1e-2


class MissingGradients:
    """The inputs whose gradient was None, and has been looked at.

    Args:
        function: the function whose gradient is meant.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._seen: set[str] = set()

    def check(
        self, owner: str, layout: Layout, flat: Sequence[Any], place: int, upstream: Sequence[Tensor | None]
    ) -> None:
        """Refuse None for an input whose gradient is not zero.

        Nothing is refused where the gradient cannot be computed at once: in a graph under way, or where autograd does
        not follow the forward.

        Raises:
            CustomGradError: the gradient is not zero.
        """
        name = layout.names[place]
        if name in self._seen or not is_checking() or not _has_numbers([*flat, *upstream]):
            return
        self._seen.add(name)
        try:
            is_missing = self._is_nonzero(layout, flat, place, upstream)
        except Exception:  # autograd does not follow the forward, or memory is short: `shaped verify` tells more
            return
        if is_missing:
            self._seen.discard(name)
            raise CustomGradError(
                owner,
                f"the backward returns None for {name}, whose gradient is not zero",
                hint=f"return the gradient of {name}; if None is meant, say of what the backward is the gradient: "
                f"custom_grad(gradient_of=...), of a function that detaches {name}",
                input=name,
            )

    def _is_nonzero(self, layout: Layout, flat: Sequence[Any], place: int, upstream: Sequence[Tensor | None]) -> bool:
        fine = self._gradient(layout, flat, place, upstream, torch.float64)
        coarse = self._gradient(layout, flat, place, upstream, torch.float32)
        if fine is None or coarse is None:  # nothing depends on it
            return False
        largest = max((float(one.abs().max()) for one in upstream if one is not None and one.numel()), default=0.0)
        size = fine.abs()
        is_seen_by_both = (fine - coarse).abs() <= _AGREEMENT * size
        return bool(((size > _OF_THE_UPSTREAM * largest) & is_seen_by_both).any())

    def _gradient(
        self, layout: Layout, flat: Sequence[Any], place: int, upstream: Sequence[Tensor | None], dtype: torch.dtype
    ) -> Tensor | None:
        """The gradient of one value by autograd, computed in `dtype`; None if nothing depends on it."""
        own = [_converted(value, dtype) for value in flat]
        own[place].requires_grad_()
        cuda = {value.device.index for value in own if isinstance(value, Tensor) and value.is_cuda}
        # A forward that draws numbers draws those of the last run, and the program goes on as without this check.
        with torch.random.fork_rng([*cuda]), torch.enable_grad():
            result = self._function(*layout.nested(own))
            outputs = result if isinstance(result, (tuple, list)) else (result,)
            total = sum(
                (output * _converted(weight, dtype)).real.sum() if output.is_complex() else (output * weight).sum()
                for output, weight in zip(outputs, upstream)
                if weight is not None and output.requires_grad
            )
        if not isinstance(total, Tensor):
            return None
        gradients: tuple[Tensor | None, ...] = torch.autograd.grad(total, [own[place]], allow_unused=True)
        found = gradients[0]
        return None if found is None else found.to(torch.complex128 if found.is_complex() else torch.float64)


def _converted(value: Any, dtype: torch.dtype) -> Any:
    if not isinstance(value, Tensor):
        return value
    if value.is_complex():
        return value.detach().to(torch.complex128 if dtype is torch.float64 else torch.complex64, copy=True)
    return value.detach().to(dtype if value.is_floating_point() else value.dtype, copy=True)


def _has_numbers(values: Sequence[Any]) -> bool:
    """Whether the tensors are plain ones: no stand-ins of a graph that is traced, or of `torch.func`."""
    if torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active():
        return False
    return all(type(value) in (Tensor, torch.nn.Parameter) for value in values if isinstance(value, Tensor))
