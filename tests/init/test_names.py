"""The names that `shaped.init` gives."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

import shaped.init


@pytest.mark.parametrize("name", shaped.init.__all__)
def test_a_name_is_what_its_module_declares(name: str) -> None:
    """`fans` is the function, not the module of that name, in whatever order they are loaded."""
    value = getattr(shaped.init, name)
    assert not isinstance(value, ModuleType)
    assert getattr(sys.modules[shaped.init._HOMES[name]], name) is value


def test_the_specification_is_loaded_without_torch() -> None:
    program = (
        "import sys; from shaped.init import fans, rand01, sample_at, splitmix64; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
