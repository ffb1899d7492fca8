"""Pooling to a given size: as torch, whether or not the size divides the axis."""

from __future__ import annotations

import pytest
from torch.nn import functional as F

from tests.spec.meanings.against_torch import assert_as_torch, assert_backward

SIZES = {"b": 2, "c": 2, "n": 3, "w": 7}


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 9])
def test_the_mean_and_the_greatest_of_shares_are_those_of_torch(size: int) -> None:
    assert_as_torch(lambda x: F.adaptive_avg_pool1d(x, size), "b c w", bound=1e-14, **SIZES)
    assert_backward("adaptive_avg_pool1d", "b c w", size, **SIZES)
    assert_as_torch(lambda x: F.adaptive_max_pool1d(x, size), "b c w", **SIZES)
    assert_backward("adaptive_max_pool1d", "b c w", size, **SIZES)


def test_more_axes_are_as_torch() -> None:
    assert_as_torch(lambda x: F.adaptive_avg_pool2d(x, (None, 2)), "b c 3 4", bound=1e-14, **SIZES)
    assert_as_torch(lambda x: F.adaptive_avg_pool2d(x, 1), "b c n w", bound=1e-14, **SIZES)
    assert_as_torch(lambda x: F.adaptive_max_pool2d(x, (2, 3)), "b c n w", **SIZES)
    assert_backward("adaptive_avg_pool2d", "b c 3 4", (2, 2), **SIZES)
    assert_backward("adaptive_max_pool2d", "b c 3 4", (2, 3), **SIZES)


def test_symbolic_sizes_are_followed() -> None:
    assert_as_torch(lambda x, n: F.adaptive_avg_pool1d(x, n), "b c w", bound=1e-14, **SIZES)
    assert_as_torch(lambda x, n: F.adaptive_max_pool1d(x, n), "b c n*w", **SIZES)
