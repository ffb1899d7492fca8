"""Names of devices, and operands on two of them."""

from __future__ import annotations

import pytest

from shaped.errors import DeviceError
from shaped.spec.context import Context
from shaped.spec.devices import are_two, device_name
from shaped.spec.dims import Dim
from shaped.spec.op import find_op
from shaped.spec.settings import Settings
from shaped.spec.values import UNKNOWN, Device, TensorType


def on(device, *sizes):
    """A tensor on a device."""
    return TensorType(TensorType.of(*sizes).shape, device=device)


def call(name, *args, context=None, **kwargs):
    """The result of a rule."""
    operation = find_op(name)
    assert operation is not None, name
    return operation.apply(context or Context(), args, kwargs)


@pytest.mark.parametrize(
    ("device", "index", "name"),
    [
        ("cuda", None, "cuda"),
        ("cuda:1", None, "cuda:1"),
        ("cuda", Dim.of(1), "cuda:1"),
        ("cuda", UNKNOWN, "cuda"),
        ("auto", None, None),
        (Device("mps"), None, "mps"),
        (Device(None), None, None),
        (UNKNOWN, None, None),
    ],
)
def test_a_device_has_the_name_that_it_is_given(device, index, name):
    assert device_name(device, index) == name


def test_two_names_are_of_two_devices_only_where_they_cannot_be_of_one():
    assert are_two("cpu", "cuda")
    assert are_two("cuda:0", "cuda:1")
    assert not are_two("cuda", "cuda:1")
    assert not are_two("cuda", None)


def test_a_tensor_is_made_on_the_default_device_unless_that_is_not_known():
    assert call("torch.zeros", Dim.of(3)).device == "cpu"
    assert call("torch.zeros", Dim.of(3), device="cuda").device == "cuda"
    assert call("torch.zeros", Dim.of(3), device=UNKNOWN).device is None
    elsewhere = Context(settings=Settings(default_device=None))
    assert call("torch.zeros", Dim.of(3), context=elsewhere).device is None


def test_a_tensor_made_of_one_is_where_that_is():
    assert call("torch.zeros_like", on("cuda", 3)).device == "cuda"
    assert call("torch.zeros_like", on(None, 3)).device is None
    assert call("Tensor.new_zeros", on("cuda", 3), Dim.of(3)).device == "cuda"
    assert call("torch.as_tensor", UNKNOWN).device is None
    assert call("torch.as_tensor", (Dim.of(1), Dim.of(2))).device == "cpu"


def test_tensors_of_two_devices_do_not_meet():
    for name in ("torch.add", "torch.matmul", "torch.maximum", "torch.eq"):
        with pytest.raises(DeviceError, match="devices cuda and cpu differ"):
            call(name, on("cuda", 3), on("cpu", 3))
        call(name, on("cuda", 3), on(None, 3))
        call(name, on("cuda", 3), on("cuda:0", 3))


def test_one_number_on_the_cpu_goes_with_tensors_of_any_device():
    assert call("torch.add", on("cuda", 3), on("cpu")).device == "cuda"
    with pytest.raises(DeviceError):
        call("torch.add", on("cuda"), on("cpu", 3))


def test_what_is_copied_to_another_device_is_there():
    assert call("Tensor.to", on("cpu", 3), "cuda").device == "cuda"
    assert call("Tensor.to", on("cpu", 3), Device("cuda:1")).device == "cuda:1"
    assert call("Tensor.to", on("cpu", 3), UNKNOWN).device is None
    assert call("Tensor.cuda", on("cpu", 3), Dim.of(1)).device == "cuda:1"
    assert call("Tensor.copy_", on("cuda", 3), on("cpu", 3)).device == "cuda"
    with pytest.raises(DeviceError, match="no data"):
        call("Tensor.to", on("meta", 3), "cpu")
