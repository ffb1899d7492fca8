"""PyTorch's own initialisation as rules: the distributions that the `reset_parameters` of each `torch.nn` module draws
from, with the bits of this package."""

from __future__ import annotations

import math

from torch import nn

from shaped.init.places import Place
from shaped.init.rules import Choice, Decision, ExceptRows, Pattern, Rule, constant
from shaped.init.schemes import Normal, Ones, Scheme, Uniform, XavierUniform, Zeros

Norm = (
    nn.modules.batchnorm._NormBase,  # batch and instance norms
    nn.GroupNorm,
    nn.LayerNorm,
    nn.RMSNorm,
)


def one_over_root(fan: int) -> Scheme:
    """Uniform in [-1/sqrt(fan), 1/sqrt(fan)], which is torch's `kaiming_uniform_(a=sqrt(5))`; zero for a fan of 0."""
    limit = 1 / math.sqrt(fan) if fan > 0 else 0.0
    return Uniform(-limit, limit)


def linear(place: Place) -> Scheme:
    """Weight and bias of a linear layer, by the number of its inputs."""
    assert isinstance(place.module, nn.Linear)
    return one_over_root(place.module.in_features)


def bilinear(place: Place) -> Scheme:
    """Weight and bias of a bilinear layer, by the number of its first inputs, as torch has it."""
    assert isinstance(place.module, nn.Bilinear)
    return one_over_root(place.module.in1_features)


def convolution(place: Place) -> Scheme:
    """Kernel and bias of a convolution: the fan is the kernel's, so that of a transposed one counts its outputs."""
    module = place.module
    assert isinstance(module, nn.modules.conv._ConvNd)
    channels = module.out_channels if module.transposed else module.in_channels
    return one_over_root(channels // module.groups * math.prod(module.kernel_size))


def recurrent(place: Place) -> Scheme:
    """All parameters of a recurrent layer or cell, by the size of its state."""
    assert isinstance(place.module, (nn.RNNBase, nn.RNNCellBase))
    return one_over_root(place.module.hidden_size)


def prelu(place: Place) -> Scheme:
    """The slope that a PReLU was made with."""
    assert isinstance(place.module, nn.PReLU)
    return constant(place.module.init)


def attention(place: Place) -> Scheme:
    """What multi-head attention holds itself: projections of the inputs, their biases, and learnt keys and values."""
    if place.own_name == "in_proj_bias":
        return Zeros()
    if place.own_name in ("bias_k", "bias_v"):  # Xavier, as a normal distribution
        fan = math.prod(place.shape[1:]) + place.shape[0] * math.prod(place.shape[2:])
        return Normal(0.0, math.sqrt(2 / fan))
    return XavierUniform()


def padding_row(scheme: Scheme, place: Place) -> Decision:
    """The scheme, but zeros in the padding row of an embedding that has one."""
    assert isinstance(place.module, (nn.Embedding, nn.EmbeddingBag))
    row = place.module.padding_idx
    return scheme if row is None else ExceptRows(scheme, row, row + 1)


def _is_weight_of_transformer(place: Place) -> bool:
    """`nn.Transformer` draws all of its weights anew, those of its attention and feed-forward nets too."""
    return place.within(nn.Transformer) and len(place.shape) > 1


def _is_bias_of_attention(place: Place) -> bool:
    """Multi-head attention sets the bias of its output projection, which is a linear layer, to zero."""
    return place.own_name == "bias" and bool(place.ancestors) and isinstance(place.ancestors[-1], nn.MultiheadAttention)


def _rule(pattern: Pattern, scheme: Choice) -> Rule:
    return Rule(pattern, scheme, may_be_unused=True)


NORM_DEFAULTS: tuple[Rule, ...] = tuple(
    rule for kind in Norm for rule in (_rule((kind, "weight"), Ones()), _rule((kind, "bias"), Zeros()))
)

PYTORCH_DEFAULTS: tuple[Rule, ...] = (
    _rule(_is_weight_of_transformer, XavierUniform()),
    _rule(_is_bias_of_attention, Zeros()),
    _rule(nn.MultiheadAttention, attention),
    _rule(nn.Linear, linear),
    _rule(nn.Bilinear, bilinear),
    _rule(nn.modules.conv._ConvNd, convolution),
    _rule((nn.Embedding, "weight"), lambda place: padding_row(Normal(), place)),
    _rule((nn.EmbeddingBag, "weight"), lambda place: padding_row(Normal(), place)),
    _rule(nn.RNNBase, recurrent),
    _rule(nn.RNNCellBase, recurrent),
    _rule((nn.PReLU, "weight"), prelu),
    *NORM_DEFAULTS,
)
