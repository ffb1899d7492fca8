"""Layers that are given: their classes, `norm_layer=nn.LayerNorm`, and layers themselves, `head: nn.Linear`."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from shaped.spec.op import find_module
from shaped.spec.values import UNKNOWN
from shaped.static.names import canonical
from shaped.static.values import External, Maybe, Partial, StaticValue

if TYPE_CHECKING:
    from collections.abc import Callable

    from shaped.spec.context import Context
    from shaped.spec.op import Module

# One of these is given where another one is the default: all keep the shape of what they are applied to.
_KEEPING = frozenset(
    [
        *("LayerNorm", "RMSNorm", "GroupNorm", "LocalResponseNorm", "SyncBatchNorm", "Identity"),
        *(f"{kind}{axes}d" for kind in ("BatchNorm", "InstanceNorm", "Dropout") for axes in (1, 2, 3)),
        *("ReLU", "ReLU6", "GELU", "SiLU", "ELU", "SELU", "CELU", "Mish", "LeakyReLU", "PReLU", "RReLU", "Hardswish"),
        *("Sigmoid", "Hardsigmoid", "LogSigmoid", "Tanh", "Hardtanh", "Softplus", "Softsign", "Tanhshrink", "Dropout"),
    ]
)
_NAMES = frozenset(["norm_layer", "act_layer", "activation_layer"])

KEEPS_SHAPES = Maybe(Partial(External("torch.nn.Identity"), (), ()))
"""None, or what makes a layer that keeps the shape of its input, from any arguments."""


def makes_kept_shapes(name: str, default: StaticValue) -> bool:
    """Whether a parameter takes classes of norms or activations: by its default, or by its name if it has none."""
    if default is None or default is UNKNOWN:
        return name in _NAMES
    made = default.function if isinstance(default, Partial) else default
    if not isinstance(made, External):
        return False
    module, _, word = canonical(made.name).rpartition(".")
    return module.startswith("torch.nn") and word in _KEEPING


def any_layer(context: Context, name: str) -> StaticValue:
    """Any layer of a class of `torch.nn`, whose sizes and options were not followed."""
    module = find_module(canonical(name))
    if module is None:
        return UNKNOWN
    parameters = list(inspect.signature(module.__init__).parameters.values())[2:]
    if any(parameter.kind is not parameter.POSITIONAL_OR_KEYWORD for parameter in parameters):
        return UNKNOWN
    make: Callable[..., Module] = module  # every module takes the context first, then torch's own parameters
    return make(context, **{parameter.name: UNKNOWN for parameter in parameters})
