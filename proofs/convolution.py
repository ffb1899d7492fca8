"""Convolutions and their transposes, for any stride, padding and dilation."""

from __future__ import annotations

from shaped.spec.dims import Dim
from shaped.verify.theorem import Theorem

s, p, d, g = map(Dim.name, "spdg")

_1D = {"input": "b c w", "weight": "o c k"}
_2D = {"input": "b c h w", "weight": "o c k l"}
_GROUPED = {"input": "b g*c w", "weight": "g*o c k", "groups": g}
_TRANSPOSED = {"input": "b c w", "weight": "c o k"}

THEOREMS = [
    Theorem("conv1d", {**_1D, "bias": "o"}),
    Theorem("conv1d", {**_1D, "stride": 2, "padding": 1}),
    Theorem("conv1d", {**_1D, "padding": "same"}),
    Theorem("conv1d", {**_1D, "stride": s, "padding": p, "dilation": d}, note="any stride, padding and dilation"),
    Theorem("conv1d", {"input": "c w", "weight": "o c k"}, note="without a batch"),
    Theorem("conv1d", {**_GROUPED, "bias": "g*o"}, note="any number of groups"),
    Theorem("conv1d", {"input": "b g w", "weight": "g 1 k", "groups": g, "padding": 1}, note="depthwise"),
    Theorem("conv2d", {**_2D, "bias": "o"}),
    Theorem("conv2d", {**_2D, "padding": 1}),
    Theorem("conv2d", {**_2D, "stride": s, "padding": p, "dilation": d}),
    Theorem("conv2d", {"input": "b c h w", "weight": "o c 3 3", "stride": 2, "padding": 1}),
    Theorem("conv3d", {"input": "b c f h w", "weight": "o c j k l"}),
    Theorem("conv_transpose1d", {**_TRANSPOSED, "bias": "o"}),
    Theorem("conv_transpose1d", {**_TRANSPOSED, "stride": 2, "padding": 1, "output_padding": 1}),
    Theorem("conv_transpose1d", {**_TRANSPOSED, "stride": s, "dilation": d}),
    Theorem("conv_transpose1d", {"input": "b g*c w", "weight": "g*c o k", "groups": g}),
    Theorem("conv_transpose2d", {"input": "b c h w", "weight": "c o k l", "stride": 2}),
]
