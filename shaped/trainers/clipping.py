"""Clipping by the norm of all gradients together, as measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from torch import Tensor, nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from shaped.runtime.arguments import named_tensors
from shaped.trainers.not_finite import NotFiniteGradientsError


def clip_grad_norm(
    parameters: nn.Module | Tensor | Mapping[str, Tensor] | Iterable[object],
    max_norm: float,
    norm_type: float = 2.0,
    *,
    error_if_nonfinite: bool = True,
) -> Tensor:
    """Scale all gradients by one factor so that their norm is at most `max_norm`; gives the norm as it was before.

    Where the norm is above `max_norm`, gradients are to the bit those of `torch.nn.utils.clip_grad_norm_`. Where it is
    not, they stay as they are: torch's makes (2.9999993, 3.999999) of a gradient (3, 4) with `max_norm=5`.

    Args:
        parameters: a model, or parameters, also by name; one that is there twice counts once, and those without a
            gradient are left out.
        max_norm: the largest norm, above 0; `math.inf` only measures.
        norm_type: of the p-norm over all elements; `math.inf` for the largest one.
        error_if_nonfinite: whether a norm that is NaN or infinite is an error, unlike in torch; else it is given, for
            the caller to look at. The gradients stay as they are in both cases.

    Returns:
        The norm before, a tensor of no dims on the first gradient's device.

    Raises:
        NotFiniteGradientsError: the norm is NaN or infinite; says by which parameters.
        ValueError: there is no gradient at all, where torch gives 0; or a number means nothing.
        TypeError: an argument is of another kind.

    >>> import torch
    >>> weight = nn.Parameter(torch.tensor([3.0, 4.0]))
    >>> (weight**2).sum().backward()
    >>> clip_grad_norm(weight, max_norm=20.0), weight.grad
    (tensor(10.), tensor([6., 8.]))
    >>> clip_grad_norm(weight, max_norm=1.0), weight.grad
    (tensor(10.), tensor([0.6000, 0.8000]))
    """
    _require_positive("max_norm", max_norm, "a number above 0")
    _require_positive("norm_type", norm_type, "a number above 0, or math.inf,")
    names: dict[Tensor, str] = {}
    for name, one in named_tensors("clip_grad_norm: parameters", parameters).items():
        names.setdefault(one, name)
    named = {name: one for one, name in names.items()}
    gradients = {name: one.grad for name, one in named.items() if one.grad is not None}
    if not gradients:
        raise ValueError(
            f"clip_grad_norm: none of {len(named)} parameters has a gradient: is it called before loss.backward(), or "
            "after optimizer.zero_grad()?"
        )
    norm = _whole(get_total_norm(gradients.values(), norm_type))
    measured = float(norm)
    if not math.isfinite(measured):
        if error_if_nonfinite:
            bad = [name for name, one in gradients.items() if not bool(_whole(one.isfinite().all()))]
            raise NotFiniteGradientsError(measured, bad)
    elif norm > max_norm:  # in the norm's own precision: a float32 of 0.1 is above the float64 of 0.1
        clip_grads_with_norm_(named.values(), max_norm, norm)
    return norm


def _require_positive(name: str, value: float, wanted: str) -> None:
    try:
        is_positive = value > 0
    except TypeError:
        raise TypeError(f"clip_grad_norm: {name} is {value!r}: {wanted} is needed") from None
    if not is_positive:
        raise ValueError(f"clip_grad_norm: {name} is {value!r}: {wanted} is needed")


def _whole(value: Tensor) -> Tensor:
    """The value on this process, of a tensor that may be sharded over several (`DTensor`)."""
    gather = getattr(value, "full_tensor", None)
    return value if gather is None else gather()
