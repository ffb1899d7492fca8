"""Channels moved into space and back."""

from __future__ import annotations

from shaped.spec.dims import Dim
from shaped.verify.theorem import Theorem

r = Dim.name("r")

THEOREMS = [
    Theorem("pixel_shuffle", {"input": "b 4*c h w", "upscale_factor": 2}),
    Theorem("pixel_shuffle", {"input": "b c*r*r h w", "upscale_factor": r}),
    Theorem("pixel_unshuffle", {"input": "b c 2*h 2*w", "downscale_factor": 2}),
    Theorem("pixel_unshuffle", {"input": "b c r*h r*w", "downscale_factor": r}),
    Theorem("channel_shuffle", {"input": "b r*c h w", "groups": r}),
]
