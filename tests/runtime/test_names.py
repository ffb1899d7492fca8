"""The names of `shaped.runtime` are loaded when they are first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from shaped import runtime


@pytest.mark.parametrize("name", runtime.__all__)
def test_every_name_is_that_of_its_home(name: str) -> None:
    assert getattr(runtime, name) is getattr(sys.modules[runtime._HOMES[name]], name)
    assert name in dir(runtime)


def test_another_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'shaped\.runtime' has no attribute 'exports'"):
        runtime.exports  # type: ignore[attr-defined]  # noqa: B018  # on purpose


def test_nothing_is_loaded_before_it_is_used() -> None:
    code = "import sys, shaped.runtime; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
