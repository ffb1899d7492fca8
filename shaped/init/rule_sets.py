"""Rule sets by name, for models that are initialised as others are."""

from __future__ import annotations

import math

from torch import nn
from torch.nn.utils.weight_norm import WeightNorm

from shaped.init.places import Place
from shaped.init.pytorch_defaults import NORM_DEFAULTS, padding_row, prelu
from shaped.init.rules import Rule, RuleError
from shaped.init.schemes import Normal, Scheme, XavierUniform, Zeros, valid_int


def weights(scheme: Scheme) -> tuple[Rule, ...]:
    """The rules that a single scheme stands for.

    The scheme for each parameter of two or more axes (an embedding's padding row stays zero); zeros for biases; ones
    and zeros for the weights and biases of norms, the slope that it was made with for a PReLU. Any other parameter
    with fewer than two axes, such as a scale of one's own, is left to a rule.
    """
    return (
        *NORM_DEFAULTS,
        Rule((nn.PReLU, "weight"), prelu, may_be_unused=True),
        Rule((nn.Embedding, "weight"), lambda place: padding_row(scheme, place), may_be_unused=True),
        Rule((nn.EmbeddingBag, "weight"), lambda place: padding_row(scheme, place), may_be_unused=True),
        Rule(_is_weight, scheme, may_be_unused=True),
        Rule(_is_bias, Zeros(), may_be_unused=True),
    )


def gpt2(layers: int, *, std: float = 0.02, residual: str = "*.c_proj.weight") -> tuple[Rule, ...]:
    """GPT-2's: weights normal with `std`, those that end a residual branch with `std/sqrt(2*layers)`.

    Args:
        layers: the number of blocks; each adds two branches to the residual stream.
        std: the standard deviation of weights and embeddings.
        residual: a glob on the names of the weights that end a branch.

    Source: Radford et al., "Language models are unsupervised multitask learners" (2019), 2.3, and its code.
    """
    if valid_int("gpt2: layers", layers) < 1:
        raise RuleError(f"gpt2: layers is {layers}: 1 or more is needed")
    return (Rule(residual, Normal(0.0, std / math.sqrt(2 * layers))), *weights(Normal(0.0, std)))


TORCHLEAN: tuple[Rule, ...] = (
    Rule((nn.Linear, "weight"), XavierUniform(), may_be_unused=True),
    Rule((nn.Linear, "bias"), Zeros(), may_be_unused=True),
)
"""TorchLean's linear layers; with `seeds="reference"`, its bits too."""


def _is_weight(place: Place) -> bool:
    """Whether it has two axes or more; not the lengths by which the hook of `torch.nn.utils.weight_norm` multiplies."""
    hooks = place.module._forward_pre_hooks.values()
    lengths = {f"{hook.name}_g" for hook in hooks if isinstance(hook, WeightNorm)}
    return len(place.shape) >= 2 and place.own_name not in lengths


def _is_bias(place: Place) -> bool:
    return "bias" in place.own_name
