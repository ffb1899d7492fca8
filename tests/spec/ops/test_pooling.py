"""Pools against torch, over symbolic sizes, and their messages."""

from __future__ import annotations

import pytest
import torch

from shaped.spec.dims import Dim
from shaped.spec.values import TensorType
from tests.spec.ops.modules import (
    B,
    C,
    check_function,
    message,
)


def test_an_unpool_takes_the_sizes_before_the_pool():
    indices = torch.zeros(1, 1, 2, 2, dtype=torch.int64)
    args = (torch.zeros(1, 1, 2, 2), indices, 2)
    check_function("torch.nn.functional.max_unpool2d", *args, output_size=(5, 5))


def test_functions_have_torchs_shape_and_indices():
    image = torch.zeros(2, 3, 7, 6)
    for padding, ceil_mode in ((0, False), (1, True)):
        check_function("torch.nn.functional.max_pool2d", image, (3, 2), 2, padding, 1, ceil_mode, return_indices=True)
        check_function("torch.nn.functional.avg_pool2d", image, (3, 2), 2, padding, ceil_mode)
    check_function("torch.nn.functional.lp_pool2d", image, 2.0, 3, ceil_mode=True)
    check_function("torch.nn.functional.adaptive_max_pool2d", image, (None, 4), return_indices=True)
    check_function("torch.nn.functional.adaptive_avg_pool2d", image, 3)


def test_the_message_names_window_and_input():
    image = TensorType.of(B, C, 2, 2)
    assert message("torch.nn.functional.max_pool2d", image, Dim.of(3))[0] == (
        "max_pool2d: (b, c, 2, 2) with window (3, 3): the window spans 3, the padded input has 2"
    )


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_pool_with_indices_gives_both(count):
    image = torch.zeros(2, 3, *(6,) * count)
    check_function(f"torch.nn.functional.max_pool{count}d_with_indices", image, 2, 2, 1)
    check_function(f"torch.nn.functional.adaptive_max_pool{count}d_with_indices", image, 4)
    check_function(f"torch.max_pool{count}d", image, 2)
