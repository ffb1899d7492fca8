"""torch's own operations, with the samples that torch tests them with."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

from benchmarks.exact_op_db import FAULTS, judge

FEW = ("add", "nn.functional.layer_norm", "index_add", "nn.functional.avg_pool2d", "linalg.solve", "cdist")


def entry(name: str) -> Any:
    return next(op for op in op_db if op.name == name)


@pytest.mark.parametrize("name", FEW)
def test_an_operation_is_exact_at_its_samples(name: str) -> None:
    row = judge(entry(name), most=2, seconds=60, order=1, show=False)
    assert row.kind == "exact", (row.levels, row.reason)


@pytest.mark.slow
@pytest.mark.parametrize(
    "op",
    [op for op in op_db if op.supports_autograd and torch.float64 in op.supported_dtypes("cpu")],
    ids=lambda op: op.name + op.variant_test_name,
)
def test_no_right_gradient_is_refused(op: Any) -> None:
    row = judge(op, most=5, seconds=60, order=1, show=False)
    assert row.kind != "refuted" or row.name in FAULTS, (row.levels, row.reason)
