"""Devices by name: which there are, what they can hold, and how long work on them takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import ParamSpec, TypeVar

import torch

from shaped.errors import DeviceError, DtypeError
from shaped.runtime.tensor_types import dtype_name

P = ParamSpec("P")
T = TypeVar("T")

BEST = "best"
_ACCELERATORS = ("cuda", "mps")  # the fastest first


def available_devices() -> list[str]:
    """The devices of this machine, the fastest first.

    >>> available_devices()[-1]
    'cpu'
    """
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return [f"cuda:{i}" for i in range(count)] + ["mps"] * torch.backends.mps.is_available() + ["cpu"]


def find_device(name: str | torch.device | None = None) -> torch.device:
    """A device by its name, which is there.

    Args:
        name: `cpu`, `mps`, `cuda`, `cuda:1`; `best` or None for the fastest there is. `meta` holds shapes without data.

    Raises:
        DeviceError: there is no such device; says which there are. It is a `ValueError` too.
        TypeError: it is no name.

    >>> find_device("cpu")
    device(type='cpu')
    >>> find_device("gpu")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    shaped.runtime.devices.NoDevice: device gpu: there is no such kind of device; here are ...
    """
    there = available_devices()
    if name is None or name == BEST:
        return torch.device(there[0].removesuffix(":0"))
    device = _named(name)
    if reason := _why_not_there(device, there):
        raise _no_device(name, reason)
    return device


def _named(name: str | torch.device) -> torch.device:
    """A device by its name, be it there or not."""
    if not isinstance(name, (str, torch.device)):
        raise TypeError(f"the device is {name!r}: a name is needed, such as 'cpu' or 'cuda:0'")
    try:
        return torch.device(name)
    except RuntimeError:
        raise _no_device(name, "there is no such kind of device") from None


def _why_not_there(device: torch.device, there: Sequence[str]) -> str:
    """Why this machine has no such device; empty if it has."""
    if device.type in ("cpu", "meta"):
        return ""
    if device.type == "mps":
        return "" if "mps" in there else _why_no_mps()
    if device.type == "cuda":
        if not torch.cuda.is_available():
            return _why_no_cuda()
        if str(device) not in ("cuda", *there):
            return f"there are {torch.cuda.device_count()} of its kind, counted from cuda:0"
        return ""
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        return f"torch cannot use it here ({str(error).splitlines()[0].split('. ')[0]})"
    return ""


class NoDevice(DeviceError, ValueError):
    """A device that is not there."""


def _no_device(name: str | torch.device, reason: str) -> NoDevice:
    there = available_devices()
    return NoDevice(f"device {name}", f"{reason}; here are {', '.join(there)}, and 'best' takes the first")


def _why_no_cuda() -> str:
    is_built = torch.backends.cuda.is_built()  # type: ignore[no-untyped-call]  # torch's own
    return "no GPU was found" if is_built else "this build of torch is without CUDA"


def _why_no_mps() -> str:
    return "macOS has no Metal GPU here" if torch.backends.mps.is_built() else "this build of torch is without MPS"


def require_device(device: torch.device | str, dtype: torch.dtype, what: str = "the trainer") -> torch.device:
    """The device, which is there and has floats of the dtype.

    Args:
        what: what asks for it, for the error.

    Raises:
        DtypeError: the dtype is no float dtype, or the device has none of it.
        DeviceError: there is no such device; it is a `ValueError` too.

    >>> require_device("cpu", torch.int64)
    Traceback (most recent call last):
    shaped.errors.DtypeError: the trainer: int64 is no float dtype
    hint: torch.float32
    """
    if not isinstance(dtype, torch.dtype):
        raise DtypeError(what, f"{dtype!r} is no dtype", hint="torch.float32")
    name = dtype_name(dtype)
    if not dtype.is_floating_point:
        raise DtypeError(what, f"{name} is no float dtype", hint="torch.float32")
    place = _named(device)
    if place.type == "mps" and dtype == torch.float64:
        raise DtypeError(f"device {place}", "has no float64", hint="dtype=torch.float32")
    place = find_device(place)
    try:
        torch.zeros(1, dtype=dtype, device=place)
    except (RuntimeError, NotImplementedError, TypeError) as error:
        raise ValueError(f"device {place} cannot hold {name}: {str(error).splitlines()[0].split('. ')[0]}") from None
    return place


def synchronize(device: torch.device | str) -> None:
    """Wait until all work on a device is done. Accelerators go on while Python does; the CPU is never ahead.

    Raises:
        DeviceError: there is no such device.
    """
    place = find_device(device)
    if place.type == "cuda":
        torch.cuda.synchronize(place)
    elif place.type == "mps":
        torch.mps.synchronize()


class Stopwatch:
    """The seconds that a block takes on a device, its work on the device begun and ended in them.

    >>> with Stopwatch("cpu") as watch:
    ...     total = torch.ones(10).sum()
    >>> 0 < watch.seconds < 60
    True
    """

    def __init__(self, device: torch.device | str) -> None:
        self.device = find_device(device)
        self.seconds = float("nan")
        self._start = 0.0

    def __enter__(self) -> Stopwatch:
        synchronize(self.device)
        self._start = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:  # after an exception the time is that of nothing, and to wait may fail again
            synchronize(self.device)
            self.seconds = time.perf_counter() - self._start


def timed(function: Callable[P, T], device: torch.device | str, *args: P.args, **kwargs: P.kwargs) -> tuple[T, float]:
    """Call a function; gives its result and the seconds that it took on a device.

    >>> result, seconds = timed(torch.add, "cpu", torch.ones(2), torch.ones(2))
    >>> result.tolist(), seconds > 0
    ([2.0, 2.0], True)
    """
    with Stopwatch(device) as watch:
        result = function(*args, **kwargs)
    return result, watch.seconds
