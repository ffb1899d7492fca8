"""Pixels and channels rearranged and resampled: as torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional as F

from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.against_torch import assert_as_torch, assert_backward

SIZES = {"b": 2, "c": 2, "r": 3, "n": 3, "m": 4}


def test_shuffles_are_those_of_torch() -> None:
    assert_as_torch(lambda x: F.pixel_shuffle(x, 2), "b 8 n m", **SIZES)
    assert_as_torch(lambda x, r: F.pixel_shuffle(x, r), "b c*r*r n m", **SIZES)
    assert_as_torch(lambda x: F.pixel_unshuffle(x, 2), "b c 2*n 4", **SIZES)
    assert_as_torch(lambda x: torch.channel_shuffle(x, 2), "b 6 n m", **SIZES)


def test_the_backward_of_a_shuffle_is_the_shuffle_back() -> None:
    assert_backward("pixel_shuffle", "b 8 n m", 2, bound=0, **SIZES)
    assert_backward("pixel_unshuffle", "b c 2*n 4", 2, bound=0, **SIZES)
    assert_backward("channel_shuffle", "b 6 n m", 2, bound=0, **SIZES)


@pytest.mark.parametrize(
    "options", [{"scale_factor": 2}, {"scale_factor": 0.5}, {"scale_factor": 1.5}, {"size": 3}, {"size": 12}]
)
def test_the_nearest_pixels_are_those_of_torch(options: dict[str, Any]) -> None:
    assert_as_torch(lambda x: F.interpolate(x, **options), "b c 6", **SIZES)
    assert_as_torch(lambda x: F.interpolate(x, **options, mode="nearest-exact"), "b c 6", **SIZES)


@pytest.mark.parametrize("align_corners", [True, False])
@pytest.mark.parametrize("options", [{"scale_factor": 2}, {"scale_factor": 0.5}, {"size": 1}, {"size": 7}, {"size": 3}])
def test_linear_resampling_is_that_of_torch(options: dict[str, Any], align_corners: bool) -> None:
    def program(x: Any) -> Any:
        return F.interpolate(x, **options, mode="linear", align_corners=align_corners)

    assert_as_torch(program, "b c 5", bound=1e-14, **SIZES)


def test_bilinear_resampling_is_that_of_torch() -> None:
    assert_as_torch(lambda x: F.interpolate(x, (4, 5), mode="bilinear"), "b c 6 3", bound=1e-14, **SIZES)
    assert_as_torch(lambda x, n: F.interpolate(x, 2 * n, mode="linear"), "b c n", bound=1e-14, **SIZES)


def test_resampling_of_planes_is_as_torch() -> None:
    assert_as_torch(lambda x: F.interpolate(x, (4, 5)), "b c 6 3", **SIZES)
    assert_as_torch(lambda x, n: F.interpolate(x, 2 * n), "b c n", **SIZES)
    assert_as_torch(lambda x: F.interpolate(x, (4, 5), mode="area"), "b c 6 3", bound=1e-14, **SIZES)


def test_what_is_not_followed_is_refused() -> None:
    with pytest.raises(NotExpressible, match="bicubic"):
        F.interpolate(variable("x", (1, 1, 4, 4)), 8, mode="bicubic")  # type: ignore[arg-type]  # a spec tensor
    with pytest.raises(NotExpressible, match="need not divide"):
        F.pixel_shuffle(variable("x", ("b", "c", 4, 4)), 2)  # type: ignore[arg-type]  # a spec tensor
