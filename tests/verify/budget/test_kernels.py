"""torch's own kernels on torch's own samples."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from benchmarks.kernels import DTYPES, KNOWN, measure, op_db, page

FEW = ("addmm", "nn.functional.gelu", "amax", "cumsum", "std", "cat", "gather", "where")


def entries(name: str) -> list[Any]:
    return [op for op in op_db if op.name == name]


@pytest.mark.parametrize("name", FEW)
def test_a_few_operations_keep_the_budget(name: str) -> None:
    row = measure(entries(name)[0], torch.float32, most=2, seconds=60)
    assert row.forward is not None, row.reasons
    assert row.gradient is not None, row.reasons
    assert not row.beyond


def test_a_kernel_with_a_constant_of_lower_precision_is_found() -> None:
    row = measure(entries("nn.functional.hardsigmoid")[0], torch.float64, most=2, seconds=60)
    assert row.gradient is not None
    assert row.gradient.rho > 1e6
    assert "1/6 in float32" in page([row], 2)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_operation_keeps_the_budget_but_for_the_known_ones(dtype: torch.dtype) -> None:
    warnings.simplefilter("ignore")
    beyond, compared = {}, 0
    for op in op_db:
        if dtype in op.supported_dtypes("cpu"):
            row = measure(op, dtype, most=3, seconds=30)
            compared += bool(row.compared)
            if row.beyond:
                beyond[row.name] = row.beyond
    assert set(beyond) <= set(KNOWN), beyond
    assert "expm1" in beyond
    assert compared > 300
