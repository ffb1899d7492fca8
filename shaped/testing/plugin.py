"""The pytest plugin: one summary line for what `check_gradient` and `given_shapes` did, `--shaped-level`, and
`--shaped-packages`, the packages whose functions are checked.

Under pytest-xdist the workers run the tests and the controller prints, so what a test found travels in its report.
"""

from __future__ import annotations

import warnings
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from shaped.testing.record import ACCEPTED, LEVELS, PROPERTY_MARK, RECORD

if TYPE_CHECKING:
    from collections.abc import Generator

PROPERTY = "shaped"
"""The name of the property of a report: the levels of the test's gradients, and `property` for a property test."""
_PROPERTY_TEST = "property"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--shaped-level` and `--shaped-packages`."""
    group = parser.getgroup("shaped")
    group.addoption(
        "--shaped-packages",
        metavar="NAMES",
        default="",
        help="packages and modules, separated by commas, whose functions and dataclasses are checked "
        "(shaped.install_import_hook)",
    )
    group.addoption(
        "--shaped-level",
        choices=ACCEPTED,
        default=ACCEPTED[-1],
        help="the weakest level at which check_gradient passes: proved (for every size and value), exact (at every "
        "sample, with no tolerance) or enclosed (the default)",
    )


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Install the import hook before any conftest imports what is to be checked."""
    names = [name.strip() for name in early_config.known_args_namespace.shaped_packages.split(",") if name.strip()]
    if not names:
        return
    from shaped.runtime.checked.import_hook import UncheckedWarning, install_import_hook  # imports torch

    with warnings.catch_warnings():
        warnings.simplefilter("error", UncheckedWarning)
        try:
            install_import_hook(names)
        except (UncheckedWarning, ValueError) as problem:
            raise pytest.UsageError(f"--shaped-packages: {problem}") from None


def pytest_configure(config: pytest.Config) -> None:
    """Tell `check_gradient` what is asked for, and count what is found."""
    RECORD.required = config.getoption("--shaped-level")
    config.pluginmanager.register(Summary(), "shaped-summary")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Put what the test found into its report."""
    RECORD.start()
    try:
        return (yield)
    finally:
        found = list(RECORD.subjects.values())
        if hasattr(getattr(item, "obj", None), PROPERTY_MARK):
            found.append(_PROPERTY_TEST)
        if found:
            item.user_properties.append((PROPERTY, " ".join(found)))


class Summary:
    """What the reports of a run say."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count one test."""
        if report.when == "call":
            for name, value in report.user_properties:
                if name == PROPERTY:
                    self.counts.update(str(value).split())

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the line, if there is anything to say."""
        if self.counts:
            terminalreporter.write_line(self.line())

    def line(self) -> str:
        """The summary in one line.

        >>> summary = Summary()
        >>> summary.counts.update(["proved", "proved", "exact", "property"])
        >>> summary.line()
        'shaped: 3 gradients: 2 proved, 1 exact; 1 property test'
        """
        levels = [f"{self.counts[level]} {level}" for level in LEVELS if self.counts[level]]
        gradients = sum(self.counts[level] for level in LEVELS)
        parts = [f"{_counted(gradients, 'gradient')}: {', '.join(levels)}"] if gradients else []
        if self.counts[_PROPERTY_TEST]:
            parts.append(_counted(self.counts[_PROPERTY_TEST], "property test"))
        return f"shaped: {'; '.join(parts)}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
