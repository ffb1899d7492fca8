"""What can be wrong with an op and its backward when they run; each error names the input."""

from __future__ import annotations

from dataclasses import dataclass

from shaped.errors import DeviceError, DtypeError, Fault, ShapeError


@dataclass
class CustomGradError(Fault):
    """A forward or backward that does not keep to what `custom_grad` asks of it.

    Args:
        input: the input, output or upstream gradient that it is about; empty where it is about none alone.

    >>> str(CustomGradError("swish", "the forward writes to x", input="x"))
    'swish: the forward writes to x'
    """

    code: str = "gradient"
    input: str = ""


@dataclass
class GradientShapeError(CustomGradError, ShapeError):
    """A gradient of another shape than its input."""

    code: str = "shape"


@dataclass
class GradientDtypeError(CustomGradError, DtypeError):
    """A gradient of a dtype that cannot hold its input's."""

    code: str = "dtype"


@dataclass
class GradientDeviceError(CustomGradError, DeviceError):
    """A gradient on another device than its input."""

    code: str = "device"
