"""Devices by name, and times that are those of the device. What this machine lacks is played."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from shaped.errors import DeviceError, DtypeError
from shaped.runtime import devices
from shaped.runtime.devices import Stopwatch, available_devices, find_device, require_device, synchronize, timed


class Machine:
    """A machine with some GPUs, that records what is asked of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, cuda: int = 0, *, has_mps: bool = False) -> None:
        self.calls: list[object] = []
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: has_mps)
        monkeypatch.setattr(torch.cuda, "synchronize", lambda device: self.calls.append(device))
        monkeypatch.setattr(torch.mps, "synchronize", lambda: self.calls.append("mps"))


@pytest.mark.parametrize(
    "cuda, has_mps, names, best",
    [
        (0, False, ["cpu"], "cpu"),
        (2, False, ["cuda:0", "cuda:1", "cpu"], "cuda"),
        (0, True, ["mps", "cpu"], "mps"),
        (1, True, ["cuda:0", "mps", "cpu"], "cuda"),
    ],
)
def test_the_best_device_is_the_fastest_there_is(
    cuda: int, has_mps: bool, names: list[str], best: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(monkeypatch, cuda, has_mps=has_mps)
    assert available_devices() == names
    assert find_device() == find_device("best") == torch.device(best)


def test_a_device_that_is_there_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    Machine(monkeypatch, 2, has_mps=True)
    for name in ("cpu", "cuda", "cuda:0", "cuda:1", "mps", "meta"):
        assert find_device(name) == find_device(torch.device(name)) == torch.device(name)


@pytest.mark.parametrize(
    "name, cuda, message",
    [
        ("gpu", 0, "device gpu: there is no such kind of device; here are cpu, and 'best' takes the first"),
        ("cuda:2", 2, "device cuda:2: there are 2 of its kind, counted from cuda:0; here are cuda:0, cuda:1, cpu, and"),
        ("cuda", 0, "device cuda: .*; here are cpu"),
        ("mps", 0, "device mps: .*; here are cpu"),
        ("xpu", 0, "device xpu: torch cannot use it here .*; here are cpu"),
    ],
)
def test_a_device_that_is_not_there_is_refused_by_name(
    name: str, cuda: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(monkeypatch, cuda)
    with pytest.raises(DeviceError, match=message):
        find_device(name)
    with pytest.raises(ValueError, match=message):
        find_device(name)


@pytest.mark.parametrize(
    "module, is_built, reason",
    [
        ("cuda", False, "this build of torch is without CUDA"),
        ("cuda", True, "no GPU was found"),
        ("mps", False, "this build of torch is without MPS"),
        ("mps", True, "macOS has no Metal GPU here"),
    ],
)
def test_why_a_device_is_not_there_is_told(
    module: str, is_built: bool, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(monkeypatch)
    monkeypatch.setattr(getattr(torch.backends, module), "is_built", lambda: is_built)
    with pytest.raises(DeviceError, match=reason):
        find_device(module)


def test_float64_on_mps_is_refused_by_name_before_the_device_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "zeros", lambda *args, **kwargs: pytest.fail("the device was asked"))
    with pytest.raises(DtypeError, match="device mps: has no float64") as raised:
        require_device("mps", torch.float64)
    assert raised.value.hint == "dtype=torch.float32"


def test_a_device_is_named_by_a_text() -> None:
    with pytest.raises(TypeError, match=r"the device is 1.5: a name is needed, such as 'cpu' or 'cuda:0'"):
        find_device(1.5)  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize(
    "use",
    [
        synchronize,
        Stopwatch,
        lambda name: timed(int, name),
        lambda name: require_device(name, torch.float32),
    ],
)
def test_whoever_uses_a_device_that_is_not_there_is_told_which_are(
    use: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(monkeypatch)
    with pytest.raises(DeviceError, match=r"device cuda:1: .*; here are cpu"):
        use("cuda:1")


def test_a_float_dtype_on_a_device_that_is_there_is_accepted() -> None:
    assert require_device("cpu", torch.float64) == torch.device("cpu")
    assert require_device("meta", torch.bfloat16) == torch.device("meta")


def test_who_asks_for_a_dtype_is_named() -> None:
    with pytest.raises(DtypeError, match="the export: int32 is no float dtype"):
        require_device("cpu", torch.int32, "the export")


def test_each_kind_of_device_is_waited_for_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, 2, has_mps=True)
    synchronize("cpu")
    synchronize("meta")
    assert machine.calls == []
    synchronize("cuda:1")
    synchronize(torch.device("mps"))
    assert machine.calls == [torch.device("cuda:1"), "mps"]


def test_a_time_begins_and_ends_when_the_device_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    Machine(monkeypatch, 2)
    clock = iter([10.0, 12.5])
    monkeypatch.setattr(devices, "synchronize", lambda device: events.append(f"wait for {device}"))
    monkeypatch.setattr("time.perf_counter", lambda: events.append("clock") or next(clock))
    result, seconds = timed(lambda x, *, y: events.append("work") or x + y, "cuda:1", 1, y=2)
    assert (result, seconds) == (3, 2.5)
    assert events == ["wait for cuda:1", "clock", "work", "wait for cuda:1", "clock"]


def test_an_exception_of_what_is_timed_arrives_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, 1)
    watch = Stopwatch("cuda")
    with pytest.raises(ZeroDivisionError), watch:
        raise ZeroDivisionError
    assert len(machine.calls) == 1
    assert watch.seconds != watch.seconds
