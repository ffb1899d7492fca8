"""Modules that hold another one."""

from __future__ import annotations

from shaped.spec.context import Context
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.modules import B, make


def test_a_parallel_module_is_called_as_its_module_is():
    made = make("torch.nn.parallel.DistributedDataParallel", make("torch.nn.Linear", 3, 4))
    assert str(made.call(Context(), [TensorType.of(B, 3)], {})) == "(b, 4)"
    assert make("torch.nn.DataParallel", UNKNOWN).call(Context(), [TensorType.of(B)], {}) is UNKNOWN
