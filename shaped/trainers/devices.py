"""Whether a device can hold a trainer's tensors."""

from __future__ import annotations

import torch

from shaped.errors import DtypeError
from shaped.runtime.tensor_types import dtype_name


def require_device(device: torch.device | str, dtype: torch.dtype) -> torch.device:
    """The device, which is there and has floats of the dtype.

    >>> require_device("cpu", torch.int64)
    Traceback (most recent call last):
    shaped.errors.DtypeError: the trainer: int64 is no float dtype
    hint: torch.float32

    Raises:
        DtypeError: the dtype is no float dtype, or the device has none of it.
        ValueError: there is no such device.
    """
    if not isinstance(dtype, torch.dtype):
        raise DtypeError("the trainer", f"{dtype!r} is no dtype", hint="torch.float32")
    name = dtype_name(dtype)
    if not dtype.is_floating_point:
        raise DtypeError("the trainer", f"{name} is no float dtype", hint="torch.float32")
    try:
        place = torch.device(device)
    except RuntimeError as error:
        raise ValueError(f"device {device}: {str(error).splitlines()[0]}") from None
    if place.type == "mps" and dtype == torch.float64:
        raise DtypeError(f"device {place}", "has no float64", hint="dtype=torch.float32")
    if place.type != "meta":
        try:
            torch.zeros(1, dtype=dtype, device=place)
        except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
            raise ValueError(
                f"device {place} cannot hold {name}: {str(error).splitlines()[0].split('. ')[0]}"
            ) from None
    return place
