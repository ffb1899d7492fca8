"""Pooling over windows: as torch, over strides, paddings, and windows that reach beyond the end."""

from __future__ import annotations

from typing import Any

import pytest
from torch.nn import functional as F

from shaped.errors import ShapeError
from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.against_torch import assert_as_torch, assert_backward

SIZES = {"b": 2, "c": 2, "w": 8}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"stride": 1},
    {"stride": 2, "padding": 1},
    {"ceil_mode": True},
    {"stride": 2, "padding": 1, "ceil_mode": True},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("width", [7, 8, 9])
def test_the_greatest_and_the_mean_of_windows_are_those_of_torch(options: dict[str, Any], width: int) -> None:
    axes = f"b c {width}"
    assert_as_torch(lambda x: F.max_pool1d(x, 3, **options), axes, **SIZES)
    assert_backward("max_pool1d", axes, 3, options=options, **SIZES)
    for count in (True, False):
        assert_as_torch(lambda x: F.avg_pool1d(x, 3, count_include_pad=count, **options), axes, bound=1e-14, **SIZES)  # noqa: B023  (called at once)
        assert_backward("avg_pool1d", axes, 3, options={"count_include_pad": count, **options}, **SIZES)


def test_dilated_windows_are_as_torch() -> None:
    assert_as_torch(lambda x: F.max_pool1d(x, 3, 2, 1, dilation=2), "b c w", **SIZES)
    assert_backward("max_pool1d", "b c w", 3, 2, 1, 2, **SIZES)


def test_more_axes_and_inputs_without_a_batch_are_as_torch() -> None:
    assert_as_torch(lambda x: F.max_pool2d(x, (3, 2), 2, 1), "b c 5 w", **SIZES)
    assert_backward("max_pool2d", "b c 5 6", (3, 2), 2, 1, **SIZES)
    assert_as_torch(lambda x: F.avg_pool2d(x, (3, 2), 2, 1, divisor_override=5), "b c 5 w", bound=1e-14, **SIZES)
    assert_as_torch(lambda x: F.avg_pool2d(x, 2), "c 5 w", bound=1e-14, **SIZES)
    assert_as_torch(lambda x: F.avg_pool3d(x, 2), "b c 4 2 4", bound=1e-14, **SIZES)


def test_norms_of_windows_are_those_of_torch() -> None:
    assert_as_torch(lambda x: F.lp_pool1d(x, 2, 3, 2), "b c 9", bound=1e-14, **SIZES)
    assert_as_torch(lambda x: F.lp_pool2d(x, 2, 3, 2), "b c 5 5", bound=1e-14, **SIZES)


def test_symbolic_windows_are_followed() -> None:
    assert_as_torch(lambda x, k, s: F.avg_pool1d(x, k, s), "b c w", bound=1e-14, **SIZES, k=3, s=2)


def test_what_is_not_followed_is_refused() -> None:
    x = variable("x", ("b", "c", "w"))
    with pytest.raises(NotExpressible, match="max_pool1d_with_indices"):
        F.max_pool1d(x, 2, return_indices=True)  # type: ignore[arg-type]  # a spec tensor
    with pytest.raises(NotExpressible, match="ceil_mode"):
        F.max_pool1d(x, 3, 2, ceil_mode=True)  # type: ignore[arg-type]  # a spec tensor
    with pytest.raises(ShapeError, match="must be positive"):
        F.max_pool1d(x, 2, -1)  # type: ignore[arg-type]  # a spec tensor
