"""An op with its own backward, for eager code, `torch.compile` and `torch.export` alike."""

from __future__ import annotations

from shaped.runtime.custom_grad.decorator import CustomGrad, custom_grad
from shaped.runtime.custom_grad.faults import (
    CustomGradError,
    GradientDeviceError,
    GradientDtypeError,
    GradientShapeError,
)

__all__ = [
    "CustomGrad",
    "CustomGradError",
    "GradientDeviceError",
    "GradientDtypeError",
    "GradientShapeError",
    "custom_grad",
]
