"""Modules that take their first size from their first input."""

from __future__ import annotations

import pytest

from shaped.spec.context import Context
from shaped.spec.op import MODULES
from shaped.spec.ops.lazy import Lazy
from shaped.spec.values import TensorType
from tests.spec.ops.modules import B, C, H, W, check_module, make

LAZY = sorted(name for name, kind in MODULES.items() if issubclass(kind, Lazy))


def test_all_lazy_modules_of_torch_are_there():
    assert len(LAZY) == 13


@pytest.mark.parametrize("name", LAZY)
def test_a_lazy_module_takes_any_first_size(name):
    count = int(name[-2]) if name.endswith("d") else 1
    options = () if "Norm" in name else (4,) if "Linear" in name else (4, 3)
    for channels in (2, 5):
        check_module(name, *options, input=(2, channels, *(6,) * count))


def test_a_lazy_module_has_the_attributes_of_the_other():
    made = make("torch.nn.LazyConv2d", 16, 3)
    assert str(made.weight) == "(16, _, 3, 3)"
    assert made.out_channels == 16
    assert str(made.call(Context(), [TensorType.of(B, C, H, W)], {})) == "(b, 16, h-2, w-2)"
