"""`pytest --shaped-packages=a,b` checks the functions of packages that the tests import."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

pytest_plugins = ["pytester"]

IS_INSTALLED = any(one.value == "shaped.testing.plugin" for one in entry_points(group="pytest11"))
PLUGIN = () if IS_INSTALLED else ("-p", "shaped.testing.plugin")
"""The arguments that load the plugin where the package runs from its source."""

MODULE = """
from jaxtyping import Float
from torch import Tensor


def add(x: Float[Tensor, "b"], y: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
    return x + y
"""
TESTS = """
import torch
from package.inner import add


def test_equal_sizes():
    add(torch.zeros(3), torch.zeros(3))


def test_other_sizes():
    add(torch.zeros(3), torch.zeros(1))


def test_asserts_say_their_values():
    assert add(torch.zeros(3), torch.zeros(3)).shape == (4,)
"""


@pytest.fixture
def program(pytester: pytest.Pytester) -> pytest.Pytester:
    """A package, and tests of it that import it in a conftest."""
    package = pytester.mkpydir("package")
    (package / "inner.py").write_text(MODULE, encoding="utf-8")
    pytester.makeconftest("import package.inner")
    pytester.makepyfile(TESTS)
    pytester.syspathinsert()
    return pytester


def test_without_the_option_nothing_is_checked(program: pytest.Pytester) -> None:
    program.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=2, failed=1)


@pytest.mark.parametrize("arguments", [["-p", "no:xdist"], ["-n", "1"]], ids=["one process", "xdist"])
def test_the_functions_of_the_packages_are_checked(program: pytest.Pytester, arguments: list[str]) -> None:
    done = program.runpytest_subprocess(*PLUGIN, "--shaped-packages=absent, package", *arguments)
    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines(['*argument y of add: (1,) does not match "b": axis 0 is 1, not b=3*'])
    done.stdout.fnmatch_lines(["*assert torch.Size([[]3]) == (4,)*"])


def test_a_package_that_is_imported_already_is_refused(program: pytest.Pytester) -> None:
    program.makepyfile(early="import package.inner")
    done = program.runpytest_subprocess("-p", "early", *PLUGIN, "--shaped-packages=package.inner")
    done.stderr.fnmatch_lines(["ERROR: --shaped-packages: *imported already*package.inner*"])


def test_what_is_no_package_is_refused(pytester: pytest.Pytester) -> None:
    done = pytester.runpytest_subprocess(*PLUGIN, "--shaped-packages=a-b")
    done.stderr.fnmatch_lines(["ERROR: --shaped-packages: *'a-b' is no name of a package*"])
