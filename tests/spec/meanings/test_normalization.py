"""Normalisations mean what torch computes, and so do their gradients."""

from __future__ import annotations

import math

import pytest
import torch

from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.three_ways import Fixed, agree, random, values

X = random(2, 6, 4)
F = "torch.nn.functional."
CHANNELS = [random(6, seed=seed) for seed in (1, 2, 3)]
VARIANCE = random(6, seed=4, low=0.5)


def test_layer_norm_over_trailing_axes() -> None:
    agree(F + "layer_norm", X, (4,))
    agree(F + "layer_norm", X, (4,), random(4, seed=1), random(4, seed=2))
    agree(F + "layer_norm", X, (6, 4), random(6, 4, seed=1), random(6, 4, seed=2), 0.1)
    agree(F + "layer_norm", X, (4,), None, random(4, seed=2))


def test_rms_norm_over_trailing_axes() -> None:
    agree(F + "rms_norm", X, (4,), eps=1e-5)
    agree(F + "rms_norm", X, (6, 4), random(6, 4, seed=1), 0.1)
    with pytest.raises(NotExpressible, match="give eps"):
        torch.nn.functional.rms_norm(variable("x", ("n", "m")), (3,))


@pytest.mark.parametrize("shape", [(5, 6), (2, 6, 4), (2, 6, 2, 3)])
def test_batch_norm_in_training(shape: tuple[int, ...]) -> None:
    given = random(*shape)
    agree(F + "batch_norm", given, None, None, training=True)
    agree(F + "batch_norm", given, None, None, CHANNELS[0], CHANNELS[1], True)


def test_batch_norm_with_running_statistics() -> None:
    for weight, bias in ((None, None), (CHANNELS[1], CHANNELS[2]), (CHANNELS[1], None)):
        agree(F + "batch_norm", X, Fixed(CHANNELS[0]), Fixed(VARIANCE), weight, bias, eps=0.1)


def test_batch_norm_outside_of_training_needs_statistics() -> None:
    with pytest.raises(ValueError, match="running_mean"):
        torch.nn.functional.batch_norm(variable("x", ("n", "c")), None, None)


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_group_norm(groups: int) -> None:
    agree(F + "group_norm", X, groups, symbolic=False)
    agree(F + "group_norm", X, groups, CHANNELS[0], CHANNELS[1], symbolic=False)
    agree(F + "group_norm", random(2, 6, 2, 3), groups, CHANNELS[0], symbolic=False)


def test_groups_must_divide_the_channels_for_all_sizes() -> None:
    x = variable("x", ("n", "c", "w"))
    with pytest.raises(NotExpressible, match="write the axis as a product"):
        torch.nn.functional.group_norm(x, 2)
    assert x.sizes[0] == torch.nn.functional.group_norm(variable("x", ("n", "c", "w")), x.sizes[1]).sizes[0]


def test_instance_norm() -> None:
    agree(F + "instance_norm", X)
    agree(F + "instance_norm", X, None, None, CHANNELS[0], CHANNELS[1])
    agree(F + "instance_norm", X, Fixed(CHANNELS[0]), Fixed(VARIANCE), CHANNELS[1], use_input_stats=False)


@pytest.mark.parametrize("size", [2, 3])
def test_local_response_norm(size: int) -> None:
    agree(F + "local_response_norm", X, size, alpha=0.5)
    agree(F + "local_response_norm", random(2, 6, 2, 2), size, k=2.0)


@pytest.mark.parametrize("p", [2, 1, 3, math.inf])
def test_vectors_are_divided_by_their_norm(p: float) -> None:
    agree(F + "normalize", X, p, 1)
    agree(F + "normalize", values([0, 0], [3, 4]), p, -1)
