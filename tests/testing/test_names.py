"""The public names are loaded when they are used, and say what to install where something is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import shaped.testing


def run(program: str) -> str:
    """What a program prints."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


def test_every_public_name_is_there() -> None:
    for name in shaped.testing.__all__:
        assert callable(getattr(shaped.testing, name))
        assert name in dir(shaped.testing)


def test_another_name_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"module 'shaped.testing' has no attribute 'tensor'"):
        shaped.testing.tensor  # noqa: B018  # the access is what is tested


def test_importing_the_package_and_the_plugin_imports_neither_torch_nor_hypothesis() -> None:
    assert run(
        "import sys, shaped.testing, shaped.testing.plugin; print({'torch', 'hypothesis'} & set(sys.modules))"
    ) == ("set()")


@pytest.mark.parametrize(("missing", "extra"), [("hypothesis", "test"), ("torch", "torch")])
def test_what_is_missing_is_named_with_what_to_install(missing: str, extra: str) -> None:
    text = run(
        f"import sys; sys.modules[{missing!r}] = None\n"
        "import shaped.testing\n"
        "try:\n    shaped.testing.given_shapes\n"
        "except ModuleNotFoundError as error:\n    print(error)"
    )
    assert text == f"shaped.testing.given_shapes needs {missing}: pip install 'shaped[{extra}]'"


def test_a_gradient_is_checked_without_hypothesis() -> None:
    assert run("import sys; sys.modules['hypothesis'] = None\nfrom shaped.testing import check_gradient") == ""
