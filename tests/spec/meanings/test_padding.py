"""Padding and patches: as torch."""

from __future__ import annotations

from typing import Any

import pytest
from torch.nn import functional as F

from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.against_torch import assert_as_torch, assert_backward

SIZES = {"b": 2, "c": 2, "n": 4, "m": 5}
MODES = pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])


@MODES
@pytest.mark.parametrize("pad", [(1, 2), (2, 0), (0, 1), (0, 0)])
def test_padding_is_that_of_torch(mode: str, pad: tuple[int, ...]) -> None:
    assert_as_torch(lambda x: F.pad(x, pad, mode=mode), "b c m", **SIZES)
    assert_as_torch(lambda x: F.pad(x, (*pad, 1, 2), mode=mode), "b c n m", **SIZES)
    assert_backward("pad", "b c m", pad, f"={mode}", **SIZES)


def test_negative_padding_crops() -> None:
    assert_as_torch(lambda x: F.pad(x, (1, -1, 0, 2), value=3.0), "b c m", **SIZES)
    assert_as_torch(lambda x: F.pad(x, (-1, -2)), "b m", **SIZES)
    assert_backward("pad", "b m", (-1, -2), bound=0, **SIZES)


def test_cropping_in_another_mode_is_refused() -> None:
    with pytest.raises(NotExpressible, match="negative padding"):
        F.pad(variable("x", ("b", "c", 4)), (-1, 1), mode="circular")  # type: ignore[arg-type]  # a spec tensor


def test_masks_are_padded_with_false() -> None:
    assert_as_torch(lambda x: F.pad(x, (1, 1)), "bool: b m", **SIZES)


def test_symbolic_padding_is_that_of_torch() -> None:
    assert_as_torch(lambda x, m: F.pad(x, (m, m - 1)), "b n", **SIZES)


OPTIONS: list[dict[str, Any]] = [{}, {"dilation": (1, 2), "padding": 1, "stride": 2}]


@pytest.mark.parametrize("options", OPTIONS)
def test_patches_are_those_of_torch(options: dict[str, Any]) -> None:
    assert_as_torch(lambda x: F.unfold(x, (2, 3), **options), "b c 6 7", **SIZES)
    assert_as_torch(lambda x: F.unfold(x, (2, 3), **options), "c 6 7", **SIZES)
    assert_backward("functional.unfold", "b c 6 7", (2, 3), options=options, **SIZES)


def test_patches_put_together_are_those_of_torch() -> None:
    options = {"dilation": (1, 2), "padding": 1, "stride": 2}
    assert_as_torch(lambda x: F.fold(x, (6, 7), (2, 3), **options), "b 12 12", bound=1e-14, **SIZES)
    assert_as_torch(lambda x: F.fold(x, (6, 7), (2, 3), **options), "12 12", bound=1e-14, **SIZES)
    assert_backward("functional.fold", "b 12 12", (6, 7), (2, 3), options=options, **SIZES)
