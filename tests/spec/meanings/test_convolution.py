"""Convolutions and their transposes: as torch, over strides, paddings, dilations and groups."""

from __future__ import annotations

from typing import Any

import pytest
from torch.nn import functional as F

from shaped.errors import ShapeError
from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.against_torch import SUM_BOUND, assert_as_torch, assert_backward

SIZES = {"b": 2, "c": 3, "o": 2, "k": 3, "w": 9}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"stride": 2, "padding": 1},
    {"stride": 3, "padding": 2, "dilation": 2},
    {"padding": "same", "dilation": 2},
    {"padding": "valid"},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_a_convolution_is_that_of_torch(options: dict[str, Any]) -> None:
    axes = "b c w", "o c k", "o"
    assert_as_torch(lambda x, weight, bias: F.conv1d(x, weight, bias, **options), *axes, bound=SUM_BOUND, **SIZES)
    assert_backward("conv1d", *axes, options=options, **SIZES)


def test_an_even_kernel_is_padded_to_the_same_size_as_by_torch() -> None:
    assert_as_torch(lambda x, weight: F.conv1d(x, weight, padding="same"), "b c w", "o c 4", bound=SUM_BOUND, **SIZES)


def test_symbolic_strides_paddings_and_dilations_are_followed() -> None:
    assert_as_torch(
        lambda x, weight, stride, pad, dilation: F.conv1d(x, weight, None, stride, pad, dilation),
        "b c w",
        "o c k",
        bound=SUM_BOUND,
        **SIZES,
        stride=2,
        pad=3,
        dilation=2,
    )


def test_groups_read_their_own_channels() -> None:
    assert_as_torch(lambda x, w: F.conv1d(x, w, groups=2), "b 4 w", "6 2 k", bound=SUM_BOUND, **SIZES)
    assert_as_torch(lambda x, w, c: F.conv1d(x, w, groups=c), "b c w", "c 1 k", bound=SUM_BOUND, **SIZES)
    assert_backward("conv1d", "b 4 w", "6 2 k", options={"groups": 2, "stride": 2, "padding": 1}, **SIZES)


def test_more_axes_and_inputs_without_a_batch_are_as_torch() -> None:
    options: dict[str, Any] = {"stride": (1, 2), "padding": (0, 1)}
    axes = "b c 5 6", "o c 2 3", "o"
    assert_as_torch(lambda x, w, b: F.conv2d(x, w, b, **options), *axes, bound=SUM_BOUND, **SIZES)
    assert_backward("conv2d", *axes, options=options, **SIZES)
    assert_as_torch(lambda x, w: F.conv1d(x, w), "c w", "o c k", bound=SUM_BOUND, **SIZES)
    assert_as_torch(
        lambda x, w: F.conv3d(x, w, stride=2, padding=1), "b 2 3 4 3", "3 2 2 2 2", bound=SUM_BOUND, **SIZES
    )


@pytest.mark.parametrize(
    "options", [{}, {"stride": 2, "padding": 1}, {"stride": 3, "padding": 1, "output_padding": 2, "dilation": 2}]
)
def test_a_transposed_convolution_is_that_of_torch(options: dict[str, Any]) -> None:
    axes = "b c 5", "c o k", "o"
    assert_as_torch(lambda x, w, b: F.conv_transpose1d(x, w, b, **options), *axes, bound=SUM_BOUND, **SIZES)
    assert_backward("conv_transpose1d", *axes, options=options, **SIZES)


def test_transposed_convolutions_in_groups_and_planes_are_as_torch() -> None:
    options: dict[str, Any] = {"groups": 2, "stride": 2}
    assert_as_torch(lambda x, w: F.conv_transpose1d(x, w, **options), "b 4 5", "4 3 2", bound=SUM_BOUND, **SIZES)
    assert_backward("conv_transpose1d", "b 4 5", "4 3 2", options=options, **SIZES)
    assert_as_torch(
        lambda x, w: F.conv_transpose2d(x, w, stride=2, output_padding=(1, 0)),
        "b c 3 2",
        "c o 2 3",
        bound=SUM_BOUND,
        **SIZES,
    )


def test_what_does_not_fit_is_a_fault_and_what_may_not_fit_is_refused() -> None:
    x, weight = variable("x", ("b", "c", "w")), variable("weight", ("o", "d", 3))
    with pytest.raises(ShapeError, match="input channels c and d differ"):
        F.conv1d(x, weight)  # type: ignore[call-overload]  # spec tensors
    with pytest.raises(NotExpressible, match="need not divide"):
        F.conv1d(x, variable("weight", ("o", 1, 3)), groups=x.shape[1])  # type: ignore[call-overload]
    with pytest.raises(ShapeError, match="longer than the axis"):
        F.conv1d(variable("x", ("b", 1, 2)), variable("weight", ("o", 1, 3)))  # type: ignore[call-overload]
