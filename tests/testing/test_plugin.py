"""The pytest plugin prints one line, also under xdist, asks for a level, and costs nothing where it is not used."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

from shaped.testing.record import RECORD

pytest_plugins = ["pytester"]

PROGRAM = """
import pytest
from shaped.testing import record


@pytest.mark.parametrize("level", ["proved", "proved", "exact"])
def test_gradient(level):
    record.RECORD.note("softmax", level)


def test_two_gradients():
    record.RECORD.note("softmax", "proved")
    record.RECORD.note("relu", "enclosed")
    record.RECORD.note("relu", "exact")


def test_wrong_gradient():
    record.RECORD.note("square", "refuted")
    assert False


def holds():
    pass


setattr(holds, record.PROPERTY_MARK, True)


class TestInAClass:
    test_property = staticmethod(holds)


test_property = holds
"""
LINE = "shaped: 6 gradients: 3 proved, 1 exact, 1 enclosed, 1 refuted; 2 property tests"
IS_INSTALLED = any(one.value == "shaped.testing.plugin" for one in entry_points(group="pytest11"))
PLUGIN = () if IS_INSTALLED else ("-p", "shaped.testing.plugin")
"""The arguments that load the plugin where the package runs from its source."""


@pytest.fixture(autouse=True)
def own_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what the inner runs ask for and find out of this run."""
    monkeypatch.setattr(RECORD, "subjects", {})
    monkeypatch.setattr(RECORD, "required", RECORD.required)


@pytest.fixture
def program(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with tests, and the environment of this run."""
    pytester.makepyfile(PROGRAM)
    return pytester


def test_the_summary_counts_gradients_and_property_tests(program: pytest.Pytester) -> None:
    done = program.runpytest(*PLUGIN, "-p", "no:xdist")
    done.assert_outcomes(passed=6, failed=1)
    done.stdout.fnmatch_lines([LINE])


def test_workers_report_to_the_controller(program: pytest.Pytester) -> None:
    done = program.runpytest_subprocess(*PLUGIN, "-n", "2")
    done.assert_outcomes(passed=6, failed=1)
    done.stdout.fnmatch_lines([LINE])
    assert done.stdout.str().count("shaped: ") == 1


def test_nothing_is_printed_where_nothing_is_used(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing():\n    pass\n")
    done = pytester.runpytest(*PLUGIN)
    done.stdout.no_fnmatch_line("*shaped:*")


def test_torch_is_not_imported_where_nothing_is_used(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import sys\n\n\ndef test_nothing():\n    assert 'torch' not in sys.modules\n")
    pytester.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)


LEVEL_PROGRAM = """
from shaped.testing.record import RECORD


def test_required():
    assert RECORD.required == {level!r}
"""


@pytest.mark.parametrize(
    ("arguments", "level"),
    [([], "enclosed"), (["--shaped-level", "exact"], "exact"), (["--shaped-level=proved", "-n", "1"], "proved")],
    ids=["default", "one process", "xdist"],
)
def test_the_level_of_the_command_line_reaches_the_tests(
    pytester: pytest.Pytester, arguments: list[str], level: str
) -> None:
    pytester.makepyfile(LEVEL_PROGRAM.format(level=level))
    pytester.runpytest(*PLUGIN, *arguments).assert_outcomes(passed=1)


def test_an_unknown_level_is_refused(pytester: pytest.Pytester) -> None:
    done = pytester.runpytest(*PLUGIN, "--shaped-level=sure")
    done.stderr.fnmatch_lines(["*--shaped-level: invalid choice: 'sure'*"])


def test_a_property_test_made_by_given_shapes_is_counted(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from jaxtyping import Float
        from torch import Tensor
        from shaped.testing import given_shapes


        @given_shapes
        def test_function(x: Float[Tensor, "n"], tmp_path_factory):
            assert tmp_path_factory.getbasetemp().exists()


        class TestMethods:
            @given_shapes
            def test_method(self, x: Float[Tensor, "n"]):
                assert x.ndim == 1
        """
    )
    done = pytester.runpytest(*PLUGIN)
    done.assert_outcomes(passed=2)
    done.stdout.fnmatch_lines(["shaped: 2 property tests"])
