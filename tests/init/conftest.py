"""Tests of this folder draw by libtorch's operations, unless they ask for the kernel."""

from __future__ import annotations

import pytest

from shaped.init import compiled


@pytest.fixture(autouse=True)
def _without_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only tensors that are larger than those of most tests are the kernel's."""
    monkeypatch.setattr(compiled, "LEAST_ELEMENTS", 2**20)
